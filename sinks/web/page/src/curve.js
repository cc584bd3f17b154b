// The drift where one dimension moves: a curve over it with its standard error, and the latent on it.

import { LABEL } from "./canvas.js";
import { dimension, number } from "./format.js";
import { extent, roundStep } from "./range.js";
import { colours, fade } from "./theme.js";

export const EDGE = { left: 44, right: 12, top: 14, bottom: 24 };

/** Draws and returns what there is to say. ranges are those of the latent and of the drift. */
export function drawCurve({ ctx, width, height }, stream, trail, ranges) {
  const field = stream.field;
  const axis = field?.axes[0] ?? stream.shown()[0];
  const at = field?.z.map((p) => p[0]) ?? [];
  const low = field?.drift.map((d, k) => d[0] - 2 * field.drift_sd[k][0]) ?? [];
  const high = field?.drift.map((d, k) => d[0] + 2 * field.drift_sd[k][0]) ?? [];
  const visited = at.map((_, k) => k).filter((k) => !field.scarce[k]);
  const [x0, x1] = ranges[0].fit(...extent(trail.columns[0], at));
  const [y0, y1] = ranges[1].fit(...extent([0], visited.map((k) => low[k]), visited.map((k) => high[k])));
  const x = (v) => EDGE.left + ((v - x0) / (x1 - x0)) * (width - EDGE.left - EDGE.right);
  const y = (v) => height - EDGE.bottom - ((v - y0) / (y1 - y0)) * (height - EDGE.top - EDGE.bottom);
  drawScales(ctx, { x, y, x0, x1, y0, y1, width, height }, dimension(axis), "drift, latent/s");
  ctx.save();
  ctx.beginPath();
  ctx.rect(EDGE.left, EDGE.top, width - EDGE.left - EDGE.right, height - EDGE.top - EDGE.bottom);
  ctx.clip();
  if (field) drawBand(ctx, { xs: at.map(x), low: low.map(y), high: high.map(y), middle: field.drift.map((d) => y(d[0])), hollow: field.scarce });
  const z = trail.columns[0][trail.length - 1];
  ctx.fillStyle = fade(colours.series[0], 0.12);
  for (const past of trail.columns[0]) ctx.fillRect(x(past) - 1, y(0) - 5, 2, 10);
  ctx.fillStyle = colours.series[1];
  ctx.beginPath();
  ctx.arc(x(z), y(0), 5, 0, 2 * Math.PI);
  ctx.fill();
  ctx.restore();
  return field ? "The band is twice the standard error." : "The drift is drawn once it has been refined.";
}

/** A curve through its points, in a band; all are places on the canvas. Points that are hollow say little. */
export function drawBand(ctx, { xs, low, high, middle, hollow }, colour = colours.series[4]) {
  ctx.fillStyle = fade(colour, 0.22);
  ctx.beginPath();
  xs.forEach((x, k) => ctx.lineTo(x, low[k]));
  for (let k = xs.length - 1; k >= 0; k--) ctx.lineTo(xs[k], high[k]);
  ctx.fill();
  ctx.strokeStyle = colours.text;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  xs.forEach((x, k) => ctx.lineTo(x, middle[k]));
  ctx.stroke();
  xs.forEach((x, k) => {
    ctx.fillStyle = hollow[k] ? colours.panel : colours.text;
    ctx.beginPath();
    ctx.arc(x, middle[k], 2.5, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  });
}

/** Numbers and lines of both axes, whose names are across and up. */
export function drawScales(ctx, { x, y, x0, x1, y0, y1, width, height }, across, up) {
  ctx.font = LABEL;
  ctx.fillStyle = colours.dim;
  ctx.lineWidth = 1;
  const [xs, ys] = [roundStep((x1 - x0) / 5), roundStep((y1 - y0) / 5)];
  ctx.textAlign = "center";
  for (let v = Math.ceil(x0 / xs) * xs; v <= x1 + xs / 1e6; v += xs) ctx.fillText(number(Math.abs(v) < xs / 2 ? 0 : v, 2), x(v), height - 8);
  ctx.textAlign = "right";
  for (let v = Math.ceil(y0 / ys) * ys; v <= y1 + ys / 1e6; v += ys) {
    const zero = Math.abs(v) < ys / 2;
    ctx.strokeStyle = zero ? colours.faint : colours.line;
    ctx.beginPath();
    ctx.moveTo(EDGE.left, Math.round(y(v)) + 0.5);
    ctx.lineTo(width - EDGE.right, Math.round(y(v)) + 0.5);
    ctx.stroke();
    ctx.fillText(number(zero ? 0 : v, 2), EDGE.left - 6, y(v) + 4);
  }
  ctx.fillStyle = colours.text;
  ctx.fillText(across, width - EDGE.right, height - EDGE.bottom - 6);
  ctx.textAlign = "left";
  ctx.fillText(up, EDGE.left + 6, EDGE.top + 8);
}
