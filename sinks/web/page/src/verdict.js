// What moves, how, and whether to trust it: three sentences that a person reads first.

import { MOTION } from "./dimensions.js";
import { make, repeat, say } from "./elements.js";
import { count, dimension, duration, number } from "./format.js";
import { trust } from "./trust.js";

const MARKS = { good: "●", warn: "▲", bad: "■", idle: "○" };

const UNCALIBRATED = {
  too_few_frames: "physical units after more frames",
  no_motion: "no physical units: nothing is known to move",
  not_explained: "no physical units: the latents do not explain where the object is",
};

export class Verdict {
  /** parts are the elements of the three cards: {what, whatMore, how, howMore, trust, checks}. */
  constructor(parts) {
    this.parts = parts;
  }

  draw(stream, state) {
    this.what(stream);
    this.how(stream);
    drawTrust(this.parts, trust(stream, state.tone));
  }

  what(stream) {
    const { what, whatMore } = this.parts;
    const activity = stream.law?.activity ?? [];
    const [active, undecided] = ["active", "undecided"].map((kind) => activity.filter((a) => a === kind).length);
    say(what, !activity.length ? "Listening" : !active && undecided ? "Not decided yet" : `${active} of ${activity.length} dimensions`);
    const chips = repeat(whatMore, Math.min(activity.length, 16), () => make("span", "chip", make("span", "mark"), make("span")));
    Array.from(chips).forEach((chip, i) => {
      const { mark, tone } = MOTION[activity[i]] ?? MOTION.undecided;
      chip.dataset.tone = tone;
      say(chip.firstElementChild, mark);
      say(chip.lastElementChild, ` ${dimension(i)}`);
      chip.title = `${dimension(i)}: ${activity[i]}`;
    });
  }

  how(stream) {
    const { how, howMore } = this.parts;
    const law = stream.law;
    if (!law) return say(how, "–"), say(howMore, "the law of motion comes with the first frames");
    const physical = physicalDiffusion(law);
    const fastest = law.sigma.reduce((best, s, i) => (s > (law.sigma[best] ?? -1) ? i : best), 0);
    const sigma = `σ ${number(law.sigma[fastest])} [${number(law.sigma_low[fastest])}, ${number(law.sigma_high[fastest])}] latent/√s`;
    amount(how, physical ?? { name: "σ", value: law.sigma[fastest], low: law.sigma_low[fastest], high: law.sigma_high[fastest], unit: "latent/√s" });
    const changes = law.drift_changes ? `, changed ${count(law.drift_changes)}×` : "";
    const basis = [`${duration(law.observed_s)} observed`, law.drift_revision ? `drift refined ${count(law.drift_revision)}×${changes}` : "drift not refined yet"];
    say(howMore, [physical ? sigma : (UNCALIBRATED[law.calibration] ?? "latent units"), ...basis].join(" · "));
  }

}

/** The word and the checks of trust.js, into the card with these elements. */
export function drawTrust({ trust, checks: list }, { tone, word, checks }) {
  trust.dataset.tone = tone;
  say(trust.firstElementChild, MARKS[tone]);
  say(trust.lastElementChild, ` ${word}`);
  const items = repeat(list, checks.length, () => make("li", "check", make("span", "mark"), make("span", "check-name"), make("span", "check-text")));
  checks.forEach((check, i) => {
    const [mark, name, text] = items[i].children;
    items[i].dataset.tone = check.tone;
    items[i].dataset.tip = check.tip;
    items[i].tabIndex = 0;
    say(mark, MARKS[check.tone]);
    say(name, check.name);
    say(text, check.text);
  });
}

/** D in the plane of the picture, in the best unit that is known; null where none is. */
function physicalDiffusion(law) {
  for (const [field, unit] of [["um2", "µm²/s"], ["px2", "px²/s"]]) {
    const value = law[`diffusion_${field}_s`];
    if (Number.isFinite(value)) return { name: "D", value, low: law[`diffusion_${field}_s_low`], high: law[`diffusion_${field}_s_high`], unit };
  }
  return null;
}

/** "D 188 px²/s [158, 221]", with the weight on the number. */
export function amount(element, { name, value, low, high, unit }) {
  if (element.children.length !== 4) element.replaceChildren(make("span", "quiet"), make("span"), make("span", "unit"), make("span", "interval-text"));
  const [symbol, figure, unitOf, interval] = element.children;
  say(symbol, `${name} `);
  say(figure, number(value));
  say(unitOf, ` ${unit} `);
  say(interval, `[${number(low)}, ${number(high)}]`);
}
