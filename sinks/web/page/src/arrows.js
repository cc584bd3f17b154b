// The drift over a plane: an arrow a point, its standard error as an ellipse at the tip, points that were scarcely visited hollow.

import { number } from "./format.js";
import { colours, fade } from "./theme.js";

const REACH = 0.8; // the longest arrows, in distances between points

/** Draws the field and returns the drift that the longest arrows stand for, latent/s. */
export function drawArrows(ctx, field, scale) {
  const cell = spacing(field) * scale.unit;
  const reference = strongest(field);
  const pixels = (REACH * cell) / (reference || 1); // a latent/s
  const order = field.z.map((_, k) => k).sort((a, b) => field.scarce[b] - field.scarce[a]); // what is known lies on top
  for (const k of order) {
    const [x, y] = [scale.x(field.z[k][0]), scale.y(field.z[k][1])];
    const [dx, dy] = [field.drift[k][0] * pixels, -field.drift[k][1] * pixels];
    if (!Number.isFinite(dx + dy)) continue;
    if (field.scarce[k]) hollow(ctx, x, y, dx, dy, cell);
    else arrow(ctx, x, y, dx, dy, field.drift_sd[k].map((sd) => Math.min(sd * pixels, cell)), significant(field, k));
  }
  return reference;
}

/** The legend's words for the longest arrows. */
export function arrowScale(reference) {
  return `${number(reference, 2)} latent/s`;
}

/** Whether the drift at point k differs from nothing beyond its standard error, at 95 %: √χ² with one degree of freedom an axis. */
export function significant(field, k) {
  const [d, sd] = [field.drift[k], field.drift_sd[k]];
  return Math.hypot(...d.map((v, i) => v / (sd[i] || Infinity))) > (d.length === 1 ? 1.96 : 2.45);
}

/** The drift that nine in ten points that were visited stay below. */
function strongest(field) {
  const visited = field.z.map((_, k) => k).filter((k) => !field.scarce[k]);
  const sizes = (visited.length ? visited : field.z.map((_, k) => k)).map((k) => Math.hypot(...field.drift[k])).filter(Number.isFinite);
  sizes.sort((a, b) => a - b);
  return sizes[Math.floor(0.9 * (sizes.length - 1))] ?? 0;
}

function spacing(field) {
  let least = Infinity;
  for (const axis of [0, 1]) {
    const at = [...new Set(field.z.map((p) => p[axis]))].sort((a, b) => a - b);
    for (let i = 1; i < at.length; i++) least = Math.min(least, at[i] - at[i - 1]);
  }
  return Number.isFinite(least) ? least : 1;
}

function arrow(ctx, x, y, dx, dy, [ex, ey], known) {
  const colour = known ? colours.text : colours.dim;
  ctx.fillStyle = fade(colours.series[4], known ? 0.22 : 0.12);
  ctx.beginPath();
  ctx.ellipse(x + dx, y + dy, ex, ey, 0, 0, 2 * Math.PI);
  ctx.fill();
  ctx.strokeStyle = ctx.fillStyle = fade(colour, known ? 0.85 : 0.5);
  ctx.lineWidth = 1.25;
  shaft(ctx, x, y, dx, dy);
  ctx.beginPath();
  ctx.arc(x, y, 1.6, 0, 2 * Math.PI);
  ctx.fill();
}

/** What is drawn where hardly anything was seen is expectation: short, faint, from a hollow point. */
function hollow(ctx, x, y, dx, dy, cell) {
  const shrink = Math.min(1, (0.6 * cell) / Math.hypot(dx, dy));
  ctx.strokeStyle = fade(colours.dim, 0.4);
  ctx.lineWidth = 1;
  shaft(ctx, x, y, dx * shrink, dy * shrink);
  ctx.fillStyle = colours.panel;
  ctx.beginPath();
  ctx.arc(x, y, 2, 0, 2 * Math.PI);
  ctx.fill();
  ctx.stroke();
}

export function shaft(ctx, x, y, dx, dy) {
  const length = Math.hypot(dx, dy);
  if (length < 2) return;
  const head = Math.min(5, 0.45 * length);
  const angle = Math.atan2(dy, dx);
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x + dx, y + dy);
  for (const side of [-0.5, 0.5]) {
    ctx.moveTo(x + dx, y + dy);
    ctx.lineTo(x + dx - head * Math.cos(angle + side), y + dy - head * Math.sin(angle + side));
  }
  ctx.stroke();
}
