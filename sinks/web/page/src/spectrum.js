// How many steps are those of objects that diffuse so fast: the spectrum of D on a logarithmic axis, with the mean D and its interval.

import { LABEL, sheet } from "./canvas.js";
import { number, percent } from "./format.js";
import { SteadyRange, roundStep } from "./range.js";
import { colours, fade } from "./theme.js";

const EDGE = { left: 40, right: 16, top: 18, bottom: 22 };

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
    const [x0, x1] = this.ranges[0].fit(bars[0].from, bars.at(-1).to);
    const y1 = this.ranges[1].fit(0, Math.max(...bars.map((b) => b.share)))[1];
    const x = (log) => EDGE.left + ((log - x0) / (x1 - x0)) * (width - EDGE.left - EDGE.right);
    const y = (share) => height - EDGE.bottom - (share / y1) * (height - EDGE.top - EDGE.bottom);
    ctx.font = LABEL;
    levels(ctx, y, y1, width);
    decades(ctx, x, [x0, x1], height);
    ctx.fillStyle = fade(colours.accent, 0.75);
    for (const { from, to, share } of bars) ctx.fillRect(x(from) + 0.5, y(share), Math.max(x(to) - x(from) - 1, 1), y(0) - y(share));
    mean(ctx, ["diffusion_px2_s", "diffusion_px2_s_low", "diffusion_px2_s_high"].map((name) => x(Math.log10(population[name] * unit.factor))), { top: EDGE.top, bottom: y(0) });
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
function mean(ctx, [at, low, high], { top, bottom }) {
  if (!Number.isFinite(at + low + high)) return;
  ctx.fillStyle = fade(colours.series[1], 0.25);
  ctx.fillRect(low, top, Math.max(high - low, 1), bottom - top);
  ctx.strokeStyle = colours.series[1];
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(at, top);
  ctx.lineTo(at, bottom);
  ctx.stroke();
}
