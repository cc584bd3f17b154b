// Whether to trust what is shown: a few checks, each with what it found and what it means, and a word for all of them.

import { lost } from "./stream.js";
import { number, percent, words } from "./format.js";

const ORDER = ["bad", "warn", "idle", "good"]; // the worst decides
const WORDS = {
  bad: "Not now",
  warn: "With care",
  idle: "Too early to say",
  good: "Yes",
};

/** {tone, word, checks: [{name, tone, text, tip}]} of a stream whose state has this tone. */
export function trust(stream, stateTone) {
  return judge([frames(stream), picture(stream), forecasts(stream), sigma(stream), drift(stream)], stateTone);
}

/** The checks with the worst of them in a word. */
export function judge(checks, stateTone) {
  const tones = [...checks.map((c) => c.tone), stateTone === "bad" ? "bad" : "good"];
  const tone = ORDER.find((t) => tones.includes(t));
  return { tone, word: WORDS[tone], checks };
}

export function frames(stream) {
  const tip = "Share of frames lost before tracking. Lost frames make longer steps, not wrong ones; many lost frames hide fast motion.";
  const health = stream.health;
  if (!health?.frames_in) return { name: "Frames", tone: "idle", text: "none yet", tip };
  const share = lost(health) / health.frames_in;
  return { name: "Frames", tone: share < 0.01 ? "good" : share < 0.5 ? "warn" : "bad", text: share ? `${percent(share)} lost` : "none lost", tip };
}

function picture(stream) {
  const tip = "Whether frames resemble the training. If not, the latents mean nothing: train a model on recordings like these.";
  const severe = ["unlike_training", "object_lost"].find((code) => stream.alarms.has(code));
  if (severe) return { name: "Picture", tone: "bad", text: words(severe), tip };
  if (stream.alarms.has("too_few_dimensions")) return { name: "Picture", tone: "warn", text: "hidden variable", tip };
  if (stream.alarms.has("bleached")) return { name: "Picture", tone: "warn", text: "bleached", tip };
  const law = stream.law;
  if (!law) return { name: "Picture", tone: "idle", text: "not known", tip };
  const held = law.frames_held / (law.frames_held + law.transitions || 1);
  return held > 0.05 ? { name: "Picture", tone: "warn", text: `${percent(held)} odd frames`, tip } : { name: "Picture", tone: "good", text: "as in training", tip };
}

function forecasts(stream) {
  const tip =
    "Squared forecast error relative to its expected variance (NIS per dimension). Near 1 the error bars are right; far above they are too small, far below too large.";
  const { mean, weight } = stream.nis;
  if (weight < 60) return { name: "Forecasts", tone: "idle", text: "not known", tip };
  const off = Math.max(mean, 1 / mean);
  const text = off < 2 ? `fit (${number(mean, 2)})` : mean > 1 ? `miss (${number(mean, 2)})` : `too cautious (${number(mean, 2)})`;
  return { name: "Forecasts", tone: off < 2 ? "good" : off < 4 ? "warn" : "bad", text, tip };
}

function sigma(stream) {
  const tip = "Half the width of the widest 95 % interval of σ among active dimensions. It narrows with the number of frames.";
  const law = stream.law;
  if (!law) return { name: "σ", tone: "idle", text: "not known", tip };
  const widths = law.sigma.map((s, i) => (law.activity[i] === "active" ? (law.sigma_high[i] - law.sigma_low[i]) / (2 * s) : NaN)).filter(Number.isFinite);
  if (!widths.length) return { name: "σ", tone: "idle", text: law.activity.includes("undecided") ? "not decided" : "nothing moves", tip };
  const widest = Math.max(...widths);
  return { name: "σ", tone: widest <= 0.15 ? "good" : widest <= 0.4 ? "warn" : "bad", text: `± ${percent(widest)}`, tip };
}

function drift(stream) {
  const tip =
    "Standard error of the drift relative to its size, over visited points. Above 100 % there may be no drift at all; a drift needs long recordings.";
  if (stream.alarms.has("drift_changed")) return { name: "Drift", tone: "warn", text: "changed just now", tip };
  const share = driftError(stream.field);
  if (!Number.isFinite(share)) return { name: "Drift", tone: "idle", text: "not known", tip };
  return { name: "Drift", tone: share <= 0.35 ? "good" : "warn", text: share > 1 ? "within its error" : `± ${percent(share)}`, tip };
}

/** √(Σ sd² / Σ μ²) over the points of the field that were not scarcely visited. */
export function driftError(field) {
  if (!field) return NaN;
  let [size, error] = [0, 0];
  field.z.forEach((_, k) => {
    if (field.scarce[k]) return;
    size += field.drift[k].reduce((sum, v) => sum + v * v, 0);
    error += field.drift_sd[k].reduce((sum, v) => sum + v * v, 0);
  });
  return Math.sqrt(error / size);
}
