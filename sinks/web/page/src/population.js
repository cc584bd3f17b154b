// All objects of a field in three sentences: how many there are, how they move, and whether to trust it; and the law and the map in words.

import { find, make, repeat, say } from "./elements.js";
import { count, fixed, number, percent } from "./format.js";
import { MARK, unitOf } from "./objects.js";
import { frames, judge } from "./trust.js";
import { amount, drawTrust } from "./verdict.js";

export function drawPopulation(stream, state) {
  const { objects } = stream;
  const { population } = objects;
  say(find("#many"), `${count(objects.count)} ${objects.count === 1 ? "object" : "objects"}`);
  say(find("#many-more"), population ? [density(population), `${count(population.directed)} directed`, `${count(population.births)} so far`].join(" · ") : "–");
  drawMotion(population, unitOf(objects));
  drawSays([population?.law?.says, ...(population?.map?.says ?? [])].filter(Boolean));
  drawTrust({ trust: find("#field-trust"), checks: find("#field-checks") }, judge(checks(stream), state.tone));
}

function density({ density_px: px, density_um: um }) {
  return um > 0 ? `${number(um, 2)} /µm²` : `${number(px * 1e4, 2)} / 100×100 px`;
}

function drawMotion(population, { factor, name }) {
  if (!Number.isFinite(population?.diffusion_px2_s)) return say(find("#motion"), "–"), say(find("#motion-more"), "the mean D comes with the first hundreds of steps");
  const [value, low, high] = ["", "_low", "_high"].map((end) => population[`diffusion_px2_s${end}`] * factor);
  amount(find("#motion"), { name: "D", value, low, high, unit: name });
  const [vx, vy] = population.common_velocity_px_s;
  const together = `together ${fixed(vx, 1)}, ${fixed(vy, 1)} ± ${fixed(population.common_velocity_sd_px_s, 1)} px/s`;
  say(find("#motion-more"), [together, `a place ± ${number(population.noise_px, 2)} px`, `${count(population.tracks)} tracks`].join(" · "));
}

/** Sentences, as they came. */
function drawSays(sentences) {
  const list = find("#says");
  list.hidden = !sentences.length;
  const items = repeat(list, sentences.length, () => make("li"));
  sentences.forEach((sentence, i) => say(items[i], sentence));
}

/** What decides whether a field is to be trusted. */
export function checks(stream) {
  return [frames(stream), looked(stream.objects), detected(stream.objects), identities(stream.objects), interval(stream.objects)];
}

function looked({ left }) {
  const tip = "Spots beyond objects.max are left out, so objects are missing.";
  return { name: "Left out", tone: left ? "warn" : "good", text: left ? `${count(left)} spots` : "none", tip };
}

function detected({ population }) {
  const tip = "Share of an object's frames with a detection. Objects that are often missed are lost or confused; more light or larger objects help.";
  const share = population?.detected;
  if (!Number.isFinite(share)) return { name: "Detected", tone: "idle", text: "not known", tip };
  return { name: "Detected", tone: share >= 0.8 ? "good" : share >= 0.5 ? "warn" : "bad", text: percent(share), tip };
}

function identities({ count: n, columns }) {
  const tip = "Objects that may have exchanged their identities, because they came near each other. D suffers little.";
  let doubtful = 0;
  for (let k = 0; k < n; k++) doubtful += columns.marks[k] & MARK.doubtful ? 1 : 0;
  const share = doubtful / (n || 1);
  return { name: "Identity", tone: share < 0.1 ? "good" : share < 0.5 ? "warn" : "bad", text: doubtful ? `${percent(share)} doubtful` : "sure", tip };
}

function interval({ population }) {
  const tip = "Half the width of the 95 % interval of the mean D. It narrows with the number of steps.";
  const half = (population?.diffusion_px2_s_high - population?.diffusion_px2_s_low) / (2 * population?.diffusion_px2_s);
  if (!(half >= 0)) return { name: "D", tone: "idle", text: "not known", tip };
  return { name: "D", tone: half <= 0.15 ? "good" : half <= 0.4 ? "warn" : "bad", text: `± ${percent(half)}`, tip };
}
