// Where the latent is and was, over the drift that acts there: what pulls it, and how well that is known.

import { LABEL, sheet } from "./canvas.js";
import { drawCurve } from "./curve.js";
import { arrowScale, drawArrows } from "./arrows.js";
import { dimension, fixed } from "./format.js";
import { SteadyRange, extent, roundStep } from "./range.js";
import { colours, fade } from "./theme.js";
import { limits, round } from "./zones.js";

const TRAIL = 900; // latents that are drawn
const EDGE = { left: 34, right: 10, top: 10, bottom: 22 };

export class PathPanel {
  constructor(canvas, note) {
    this.canvas = canvas;
    this.note = note;
    this.ranges = fresh();
  }

  draw(stream, span) {
    const paper = sheet(this.canvas);
    if (!paper) return;
    const axes = stream.field?.axes ?? stream.shown().slice(0, 2);
    if (!stream.latents?.length || !axes.length) return;
    if (this.stream !== stream || this.axes !== String(axes)) this.ranges = fresh();
    this.stream = stream;
    this.axes = String(axes);
    const trail = new Trail(stream, axes, span);
    const told = axes.length === 1 ? drawCurve(paper, stream, trail, this.ranges) : this.plane(paper, stream, trail, axes);
    if (this.note.textContent !== told) this.note.textContent = told;
  }

  plane(paper, stream, trail, axes) {
    const { ctx } = paper;
    const field = stream.field;
    const points = field?.z ?? [];
    const [x, y] = [0, 1].map((k) => this.ranges[k].fit(...extent(trail.columns[k], points.map((p) => p[k]))));
    const scale = equalScale(paper, x, y);
    drawAxes(ctx, scale, axes);
    ctx.save();
    ctx.beginPath();
    ctx.rect(scale.left, scale.top, scale.width, scale.height);
    ctx.clip();
    drawTrail(ctx, trail, scale);
    const reference = field ? drawArrows(ctx, field, scale) : 0;
    for (const zone of stream.zones) if (!zone.px || stream.objects) drawZone(ctx, scale, axes, zone, stream.inside.get(zone.name) > 0);
    drawNow(ctx, trail, scale);
    ctx.restore();
    if (!field) return "The drift is drawn once it has been refined.";
    return `The longest arrows are ${arrowScale(reference)}.`;
  }
}

const fresh = () => [new SteadyRange(12), new SteadyRange(12)];

/** The newest latents along the axes, oldest first, in memory that is used again. */
class Trail {
  constructor(stream, axes, span) {
    const { latents } = stream;
    this.sd = axes.map((a) => latents.at(0, stream.column("sd", a)));
    let n = 0;
    while (n < latents.length && n < TRAIL && latents.last() - latents.times[latents.slot(n)] <= span) n++;
    this.columns = axes.map((a) => {
      const column = new Float64Array(n);
      for (let k = 0; k < n; k++) column[k] = latents.at(n - 1 - k, stream.column("z", a));
      return column;
    });
    this.length = n;
  }
}

/** One latent is as long along both axes. */
function equalScale({ width, height }, [x0, x1], [y0, y1]) {
  const box = { left: EDGE.left, top: EDGE.top, width: width - EDGE.left - EDGE.right, height: height - EDGE.top - EDGE.bottom };
  const unit = Math.min(box.width / (x1 - x0), box.height / (y1 - y0));
  const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
  return {
    ...box,
    unit,
    x: (v) => box.left + box.width / 2 + (v - cx) * unit,
    y: (v) => box.top + box.height / 2 - (v - cy) * unit,
    spans: [
      [cx - box.width / 2 / unit, cx + box.width / 2 / unit],
      [cy - box.height / 2 / unit, cy + box.height / 2 / unit],
    ],
  };
}

function drawAxes(ctx, scale, axes) {
  const step = roundStep(70 / scale.unit);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  ctx.font = LABEL;
  ctx.lineWidth = 1;
  ctx.fillStyle = colours.dim;
  const [[x0, x1], [y0, y1]] = scale.spans;
  ctx.textAlign = "center";
  for (let v = Math.ceil(x0 / step) * step; v <= x1; v += step) {
    line(ctx, scale.x(v), scale.top, scale.x(v), scale.top + scale.height, Math.abs(v) < step / 2);
    ctx.fillText(fixed(v + 0, decimals).replace("−0", Math.abs(v) < step / 2 ? "0" : "−0"), scale.x(v), scale.top + scale.height + 14);
  }
  ctx.textAlign = "right";
  for (let v = Math.ceil(y0 / step) * step; v <= y1; v += step) {
    line(ctx, scale.left, scale.y(v), scale.left + scale.width, scale.y(v), Math.abs(v) < step / 2);
    ctx.fillText(fixed(v + 0, decimals).replace("−0", Math.abs(v) < step / 2 ? "0" : "−0"), scale.left - 6, scale.y(v) + 4);
  }
  ctx.fillStyle = colours.text;
  ctx.fillText(dimension(axes[0]), scale.left + scale.width - 4, scale.top + scale.height - 6);
  ctx.textAlign = "left";
  ctx.fillText(dimension(axes[1]), scale.left + 5, scale.top + 12);
}

/** The outline of a zone in the plane, with its name; solid while its condition holds. */
function drawZone(ctx, scale, axes, zone, on) {
  const [[x0, x1], [y0, y1]] = axes.map((axis, i) => limits(zone, axis).map((v) => Math.min(Math.max(v, scale.spans[i][0]), scale.spans[i][1])));
  if (axes.every((axis) => !limits(zone, axis).some(Number.isFinite))) return;
  ctx.strokeStyle = ctx.fillStyle = colours.zone;
  ctx.lineWidth = 2;
  ctx.setLineDash(on ? [] : [5, 4]);
  ctx.beginPath();
  if (round(zone, ...axes)) ctx.arc(scale.x(zone.centre[axes[0]]), scale.y(zone.centre[axes[1]]), zone.radius * scale.unit, 0, 2 * Math.PI);
  else ctx.rect(scale.x(x0), scale.y(y1), scale.x(x1) - scale.x(x0), scale.y(y0) - scale.y(y1));
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.textAlign = "left";
  ctx.fillText(zone.name, scale.x(x0) + 4, Math.max(scale.y(y1) + 13, scale.top + 27)); // below the name of the axis
}

function line(ctx, x0, y0, x1, y1, zero) {
  ctx.strokeStyle = zero ? colours.faint : colours.line;
  ctx.beginPath();
  ctx.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
  ctx.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  ctx.stroke();
}

/** Older parts are fainter, in a few steps so that the whole trail is a few strokes. */
function drawTrail(ctx, trail, scale) {
  const [xs, ys] = trail.columns;
  const pieces = 12;
  ctx.lineWidth = 1.25;
  for (let piece = 0; piece < pieces; piece++) {
    const from = Math.floor((piece * trail.length) / pieces);
    const to = Math.min(trail.length - 1, Math.floor(((piece + 1) * trail.length) / pieces));
    if (to <= from) continue;
    ctx.strokeStyle = fade(colours.series[0], 0.08 + 0.8 * ((piece + 1) / pieces) ** 1.5);
    ctx.beginPath();
    ctx.moveTo(scale.x(xs[from]), scale.y(ys[from]));
    for (let k = from + 1; k <= to; k++) ctx.lineTo(scale.x(xs[k]), scale.y(ys[k]));
    ctx.stroke();
  }
}

/** The newest latent with its 95 % ellipse. */
function drawNow(ctx, trail, scale) {
  const at = trail.length - 1;
  if (at < 0) return;
  const x = scale.x(trail.columns[0][at]);
  const y = scale.y(trail.columns[1][at]);
  const [rx, ry] = trail.sd.map((sd) => Math.min(2.45 * (sd || 0) * scale.unit, 400)); // √χ²(2; 0.95)
  ctx.fillStyle = fade(colours.series[1], 0.18);
  ctx.strokeStyle = colours.series[1];
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.ellipse(x, y, rx, ry, 0, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
  ctx.fillStyle = colours.series[1];
  ctx.strokeStyle = colours.panel;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.arc(x, y, 5, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
}
