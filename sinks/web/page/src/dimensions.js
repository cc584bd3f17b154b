// The diagonal of the diffusion, a row a latent dimension: whether it moves, where it is, and σ with its interval on one scale.

import { make, repeat, say } from "./elements.js";
import { dimension, fixed, number } from "./format.js";
import { SteadyRange } from "./range.js";

/** What each answer means, and its mark: shape as well as colour. */
export const MOTION = {
  active: { mark: "●", tone: "good" },
  inactive: { mark: "○", tone: "idle" },
  undecided: { mark: "◐", tone: "warn" },
};

export class DimensionTable {
  constructor(body, chartColour) {
    this.body = body;
    this.chartColour = chartColour;
    this.range = new SteadyRange();
  }

  draw(stream) {
    const law = stream.law;
    const dim = stream.dim || law?.sigma.length || 0;
    if (!dim) return;
    const most = Math.max(0, ...(law?.sigma ?? []).map((s, i) => Math.min(law.sigma_high[i] ?? s, 3 * s)));
    const [, top] = this.range.fit(0, most || 1);
    const shown = stream.shown();
    const rows = repeat(this.body, dim, row);
    for (let i = 0; i < dim; i++) this.fill(rows[i], i, stream, top, shown.indexOf(i));
  }

  fill(tr, i, stream, top, place) {
    const { law, latent } = stream;
    const [name, motion, z, bar, sigma] = tr.cells;
    const kind = law?.activity[i];
    const { mark, tone } = MOTION[kind] ?? { mark: "–", tone: "idle" };
    say(name.lastElementChild, dimension(i));
    name.firstElementChild.style.background = place < 0 ? "transparent" : this.chartColour(place);
    motion.dataset.tone = tone;
    say(motion.firstElementChild, mark);
    say(motion.lastElementChild, ` ${kind ?? "not known"}`);
    const value = latent?.z_filtered?.[i] ?? latent?.z[i];
    say(z, `${fixed(value, 2)} ± ${fixed(latent?.z_filtered_sd?.[i] ?? latent?.z_sd?.[i], 2)}`);
    const [s, low, high] = [law?.sigma[i], law?.sigma_low[i], law?.sigma_high[i]];
    placeBar(bar.firstElementChild, low, high, s, top);
    say(sigma, number(s));
    tr.title = Number.isFinite(s) ? `σ ${number(s)} [${number(low)}, ${number(high)}] latent/√s · σ²/2 ${number(law.diffusion[i])} latent²/s · localisation noise ${number(law.noise_sd[i])} latent` : "";
  }
}

/** The interval as a bar with a tick at σ. */
function placeBar(track, low, high, at, top) {
  const share = (v) => `${(100 * Math.min(Math.max(v / top, 0), 1)).toFixed(2)}%`;
  const [interval, tick] = track.children;
  track.hidden = !Number.isFinite(at);
  if (track.hidden) return;
  interval.style.left = share(low ?? 0);
  interval.style.right = `calc(100% - ${share(high ?? top)})`;
  tick.style.left = share(at);
}

function row() {
  const cell = (className, ...children) => make("td", className, ...children);
  return make(
    "tr",
    "",
    cell("name", make("i", "swatch"), make("span")),
    cell("motion", make("span", "mark"), make("span")),
    cell("number z"),
    cell("bar", make("div", "track", make("span", "interval"), make("span", "tick"))),
    cell("number sigma"),
  );
}
