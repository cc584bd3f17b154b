// The force between two objects by their distance: a curve in its 95 % interval, and whether there is a force at all.

import { EDGE, drawBand, drawScales } from "./curve.js";
import { sheet } from "./canvas.js";
import { say } from "./elements.js";
import { number } from "./format.js";
import { lengthOf } from "./objects.js";
import { SteadyRange, extent } from "./range.js";
import { colours } from "./theme.js";

const TOLD = 3; // nats from which on the evidence decides
const WIDEST = 2; // intervals so many times as far from zero as half of all reach beyond the axis: those of the few pairs that come very near

export class PairsPanel {
  constructor(canvas, note) {
    this.canvas = canvas;
    this.note = note;
    this.ranges = [new SteadyRange(), new SteadyRange()];
  }

  draw(objects) {
    const pairs = objects.population?.pairs;
    const paper = pairs?.distance_px.length ? sheet(this.canvas) : null;
    if (!paper) return;
    say(this.note, evidence(pairs.nats));
    const { ctx, width, height } = paper;
    const { factor, name } = lengthOf(objects);
    const [at, force, low, high] = ["distance_px", "force_px_s", "force_px_s_low", "force_px_s_high"].map((column) => pairs[column].map((v) => (v ?? NaN) * factor));
    const known = at.map((_, k) => k).filter((k) => Number.isFinite(at[k] + force[k] + low[k] + high[k]));
    const x1 = this.ranges[0].fit(...extent([0], at))[1];
    const most = reach(known.map((k) => [force[k], low[k], high[k]]));
    const [y0, y1] = this.ranges[1].fit(...extent([0], ...[force, low, high].map((list) => known.map((k) => Math.min(Math.max(list[k], -most), most)))));
    const x = (v) => EDGE.left + (v / x1) * (width - EDGE.left - EDGE.right);
    const y = (v) => height - EDGE.bottom - ((v - y0) / (y1 - y0)) * (height - EDGE.top - EDGE.bottom);
    drawScales(ctx, { x, y, x0: 0, x1, y0, y1, width, height }, `distance, ${name}`, `force, as velocity, ${name}/s`);
    ctx.save();
    ctx.beginPath();
    ctx.rect(EDGE.left, EDGE.top, width - EDGE.left - EDGE.right, height - EDGE.top - EDGE.bottom);
    ctx.clip();
    const of = (list, to) => known.map((k) => to(list[k]));
    drawBand(ctx, { xs: of(at, x), low: of(low, y), high: of(high, y), middle: of(force, y), hollow: known.map((k) => low[k] <= 0 && high[k] >= 0) }, colours.series[0]);
    ctx.restore();
  }
}

/** Whether there is a force, by the evidence for one. */
export function evidence(nats) {
  if (!Number.isFinite(nats)) return "Not yet told whether there is a force.";
  const size = `${number(Math.abs(nats), 2)} nats`;
  if (nats > TOLD) return `A force: the evidence for it is ${size}.`;
  if (nats < -TOLD) return `No force: the evidence against one is ${size}.`;
  return `Not yet told: the evidence for a force is ${number(nats, 2)} nats, ${TOLD} decide.`;
}

/** How far from zero the axis goes: to every value, and to where most intervals end. */
function reach(rows) {
  const ends = rows.map(([, low, high]) => Math.max(Math.abs(low), Math.abs(high))).sort((a, b) => a - b);
  return Math.max(WIDEST * (ends[ends.length >> 1] ?? 0), ...rows.map(([value]) => Math.abs(value)));
}
