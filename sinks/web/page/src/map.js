// The map over the whole picture: in each cell the diffusion as a tint, and the drift as an arrow. An arrow whose drift is not told from zero is pale.
// It lies on a grey picture, so its colours do not change with the theme.

import { shaft } from "./arrows.js";
import { sheet } from "./canvas.js";
import { find, say } from "./elements.js";
import { ends, number } from "./format.js";
import { keep, kept } from "./kept.js";
import { lengthOf, unitOf } from "./objects.js";
import { TINTS, drawRamp, rampStep } from "./tint.js";

const KEY = "driftscope-map";
const TOLD = 2; // standard errors from which on a drift is told from zero
const REACH = 0.8; // the longest arrows, in sides of a cell
const PALE = 0.5; // the longest pale one, likewise

export class MapLayer {
  constructor() {
    Object.assign(this, { canvas: find("#map"), button: find("#map-button"), on: kept(KEY) === "on", version: "" });
    this.button.addEventListener("click", () => this.toggle());
    drawRamp(find("#map-ramp"));
  }

  toggle() {
    if (this.button.hidden) return;
    this.on = !this.on;
    this.version = "";
    keep(KEY, this.on ? "on" : "off");
  }

  /** frame is what the picture shows of the frame, {width, height} in its pixels. */
  draw(objects, frame, stream) {
    const map = objects.population?.map;
    const there = Boolean(map?.x_px.length);
    const shown = there && this.on;
    const size = `${this.canvas.clientWidth} ${this.canvas.clientHeight} ${devicePixelRatio}`;
    const version = `${stream.key} ${objects.population?.seq} ${there} ${shown} ${frame.width} ${frame.height} ${size}`;
    if (version === this.version) return;
    this.version = version;
    this.button.hidden = !there;
    this.button.setAttribute("aria-pressed", shown);
    find("#map-key").hidden = find("#map-arrows").hidden = this.canvas.hidden = !shown;
    const paper = shown && sheet(this.canvas);
    if (paper) this.legend(drawMap(paper, map, frame), objects);
  }

  legend({ low, high, reference }, objects) {
    const { factor, name } = unitOf(objects);
    const length = lengthOf(objects);
    const [from, to] = ends(low * factor, high * factor);
    say(find("#map-low"), `map: D ${from}`);
    say(find("#map-high"), `${to} ${name}`);
    say(find("#map-arrows"), `longest arrows ${number(reference * length.factor, 2)} ${length.name}/s`);
  }
}

/** Draws and returns the D at the ends of the ramp, px²/s, and the drift that the longest arrows stand for, px/s. */
export function drawMap({ ctx, width, height }, map, frame) {
  const scale = { x: width / frame.width, y: height / frame.height };
  const cells = map.x_px.map((_, k) => k).filter((k) => map.width_px[k] > 0 && [map.x_px[k], map.y_px[k]].every(Number.isFinite));
  const [low, high] = between(cells.map((k) => map.diffusion_px2_s[k]));
  const reference = strongest(map, cells);
  const sides = cells.map((k) => map.width_px[k]).sort((a, b) => a - b);
  const pixels = (REACH * (sides[sides.length >> 1] ?? 0)) / (reference || 1); // frame pixels a px/s
  const at = (k) => ({ x: (map.x_px[k] + 0.5) * scale.x, y: (map.y_px[k] + 0.5) * scale.y, width: map.width_px[k] * scale.x, height: map.width_px[k] * scale.y });
  for (const k of cells) tint(ctx, at(k), Math.log((map.diffusion_px2_s[k] || NaN) / low) / (Math.log(high / low) || 1)); // below zero has no logarithm either
  for (const k of cells) {
    const drift = [map.drift_x_px_s[k], map.drift_y_px_s[k]].map((v) => (v ?? NaN) * pixels);
    const known = told(map, k);
    const shrink = known ? 1 : Math.min(1, (PALE * map.width_px[k]) / (Math.hypot(...drift) || 1));
    arrow(ctx, at(k), drift[0] * shrink * scale.x, drift[1] * shrink * scale.y, known);
  }
  return { low, high, reference };
}

/** Whether a cell's drift is told from zero. */
export const told = (map, k) => Math.hypot(map.drift_x_px_s[k], map.drift_y_px_s[k]) > TOLD * (map.drift_sd_px_s[k] ?? Infinity);

/** The least and the largest D but for a twentieth at either end, those above zero alone. */
function between(values) {
  const sorted = values.filter((d) => d > 0).sort((a, b) => a - b);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))] ?? NaN;
  return [at(0.05), at(0.95)];
}

/** The drift that nine in ten cells stay below, of those that are told from zero; of all where none is. */
function strongest(map, cells) {
  const known = cells.filter((k) => told(map, k));
  const sizes = (known.length ? known : cells).map((k) => Math.hypot(map.drift_x_px_s[k], map.drift_y_px_s[k])).sort((a, b) => a - b);
  return sizes[Math.floor(0.9 * (sizes.length - 1))] ?? 0;
}

function tint(ctx, { x, y, width, height }, share) {
  if (Number.isNaN(share)) return;
  ctx.globalAlpha = 0.3;
  ctx.fillStyle = TINTS[rampStep(share)];
  ctx.fillRect(x - width / 2 + 0.5, y - height / 2 + 0.5, width - 1, height - 1); // a line of the picture between cells
  ctx.globalAlpha = 1;
}

/** From the cell's middle, white on a dark edge, which show on light and dark. */
function arrow(ctx, { x, y }, dx, dy, known) {
  if (!Number.isFinite(dx + dy)) return;
  ctx.globalAlpha = known ? 1 : 0.55;
  for (const [colour, width] of known ? [["rgb(0 0 0 / 70%)", 4], ["#fff", 2]] : [["rgb(0 0 0 / 50%)", 3], ["#fff", 1.25]]) {
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = width;
    shaft(ctx, x, y, dx, dy);
    ctx.beginPath();
    ctx.arc(x, y, width / 2 + 0.5, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}
