// How many steps are those of objects that diffuse so fast: the spectrum of D on a logarithmic axis, with the mean D and its interval, and over it the
// states of the law: each at its D in its interval, with its share.

import { LABEL, sheet } from "./canvas.js";
import { number, percent } from "./format.js";
import { SteadyRange, roundStep } from "./range.js";
import { STATE_COLOURS, lawStates, stateColours } from "./states.js";
import { colours, fade } from "./theme.js";

const EDGE = { left: 40, right: 16, top: 18, bottom: 22 };
const LANE = 14; // px, the height of a state's mark;
const LANES = 3; // states that are near one another stand below one another

export class SpectrumPanel {
  constructor(canvas) {
    this.canvas = canvas;
    this.ranges = [new SteadyRange(8), new SteadyRange()];
  }

  /** unit is what px²/s are multiplied by, and what they are called then. */
  draw(population, unit) {
    const paper = population && sheet(this.canvas);
    const bars = population ? bins(population, unit.factor) : [];
    if (!paper || !bars.length) return;
    const { ctx, width, height } = paper;
    const states = lawStates(population, unit.factor).filter((s) => s.d > 0);
    say(this.canvas, states, unit);
    const logs = states.map((s) => Math.log10(s.d));
    const [x0, x1] = this.ranges[0].fit(Math.min(bars[0].from, ...logs), Math.max(bars.at(-1).to, ...logs));
    const top = EDGE.top + LANE * Math.min(states.length, LANES);
    const y1 = this.ranges[1].fit(0, Math.max(...bars.map((b) => b.share)))[1];
    const x = (log) => EDGE.left + ((log - x0) / (x1 - x0)) * (width - EDGE.left - EDGE.right);
    const y = (share) => height - EDGE.bottom - (share / y1) * (height - top - EDGE.bottom);
    ctx.font = LABEL;
    levels(ctx, y, y1, width);
    decades(ctx, x, [x0, x1], height);
    ctx.fillStyle = fade(colours.accent, states.length ? 0.4 : 0.75); // states stand out
    for (const { from, to, share } of bars) ctx.fillRect(x(from) + 0.5, y(share), Math.max(x(to) - x(from) - 1, 1), y(0) - y(share));
    mean(ctx, ["diffusion_px2_s", "diffusion_px2_s_low", "diffusion_px2_s_high"].map((name) => x(Math.log10(population[name] * unit.factor))), { top, bottom: y(0), colour: states.length ? colours.text : colours.series[1] });
    states.forEach((state, i) => mark(ctx, { x, low: EDGE.left, high: width - EDGE.right, lane: EDGE.top + (i % LANES + 0.5) * LANE, bottom: y(0) }, state, stateColours[i % STATE_COLOURS]));
    ctx.fillStyle = colours.text;
    ctx.textAlign = "right";
    ctx.fillText(`D, ${unit.name}`, width - EDGE.right, EDGE.top - 6);
    ctx.textAlign = "left";
    ctx.fillText("share of steps", EDGE.left, EDGE.top - 6);
  }
}

/** The bins but for a hundredth of the steps at either end: {from, to} as log10 of D, {share}. */
export function bins({ spectrum_px2_s: edges, spectrum: shares }, factor) {
  const all = edges.map((edge, i) => {
    const [from, next] = [edge, edges[i + 1] ?? edge ** 2 / edges[i - 1]].map((d) => Math.log10(d * factor));
    return { from, to: next, share: shares[i] };
  });
  if (!all.every((b) => b.from < b.to && b.share >= 0)) return [];
  let sum = 0;
  const below = all.map((b) => (sum += b.share));
  return all.slice(below.findIndex((s) => s > 0.01 * sum), below.findIndex((s) => s >= 0.99 * sum) + 1);
}

function levels(ctx, y, most, width) {
  const step = roundStep(most / 3);
  ctx.lineWidth = 1;
  ctx.fillStyle = colours.dim;
  ctx.textAlign = "right";
  for (let share = 0; share <= most * 1.0001; share += step) {
    ctx.strokeStyle = share ? colours.line : colours.faint;
    ctx.beginPath();
    ctx.moveTo(EDGE.left, Math.round(y(share)) + 0.5);
    ctx.lineTo(width - EDGE.right, Math.round(y(share)) + 0.5);
    ctx.stroke();
    ctx.fillText(share ? percent(share) : "0", EDGE.left - 6, y(share) + 4);
  }
}

/** A number at every decade; at every other one and so on where there are many. */
function decades(ctx, x, [low, high], height) {
  const step = Math.max(1, Math.ceil((high - low) / 6));
  ctx.fillStyle = colours.dim;
  ctx.textAlign = "center";
  for (let log = Math.ceil(low); log <= high; log += step) ctx.fillText(number(10 ** log, 1), x(log), height - 6);
}

/** The mean as a line in a band of its interval. */
function mean(ctx, [at, low, high], { top, bottom, colour }) {
  if (!Number.isFinite(at + low + high)) return;
  ctx.fillStyle = fade(colour, 0.25);
  ctx.fillRect(low, top, Math.max(high - low, 1), bottom - top);
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(at, top);
  ctx.lineTo(at, bottom);
  ctx.stroke();
}

/** A state: a dot at its D in its interval, a line down to the axis, and its share beside it. */
function mark(ctx, { x, low, high, lane, bottom }, state, colour) {
  const within = (d) => Math.min(Math.max(d > 0 ? x(Math.log10(d)) : low, low), high);
  const at = within(state.d);
  const [from, to] = Number.isFinite(state.low + state.high) ? [within(state.low), within(state.high)] : [at, at];
  const line = (x0, y0, x1, y1, width) => {
    for (const [stroke, wide] of [[colours.panel, width + 2], [colour, width]]) {
      ctx.strokeStyle = stroke;
      ctx.lineWidth = wide;
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.lineTo(x1, y1);
      ctx.stroke();
    }
  };
  line(at, lane, at, bottom, 2);
  line(from, lane, to, lane, 3);
  ctx.fillStyle = colour;
  ctx.strokeStyle = colours.panel;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.arc(at, lane, 5, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
  if (!Number.isFinite(state.share)) return;
  const text = percent(state.share);
  const right = Math.max(to, at + 5) + 5;
  const fits = right + ctx.measureText(text).width < high;
  ctx.textAlign = fits ? "left" : "right";
  ctx.fillStyle = colours.text;
  ctx.fillText(text, fits ? right : Math.min(from, at - 5) - 5, lane + 4);
}

/** The states in words, for those who do not see them. */
function say(canvas, states, { name }) {
  const words = states.map((s, i) => `; state ${i + 1} at ${number(s.d)} ${name}, ${percent(s.share)} of the time`).join("");
  canvas.setAttribute("aria-label", `Spectrum of the coefficient of diffusion${words}`);
}
