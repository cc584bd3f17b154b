// A mark on every object of a field, and where each was: one canvas, drawn at most once for a message. A ring is drawn once for each colour and copied,
// trails are one line for each colour, so thousands of objects take milliseconds. Marks stand where objects were in the frame of the picture beneath:
// pictures come later than places, and less often.

import { LABEL, sheet } from "./canvas.js";
import { MARK } from "./objects.js";
import { TINTS } from "./tint.js";

const MOST_SEGMENTS = 12000; // of all trails together: with more objects, each has fewer
const FEW = 30; // objects that have their numbers beside them
const REACH = 14; // px from the pointer to an object that it means
const LARGEST = 7; // px, a ring's radius,
const SMALLEST = 2.5;
const CROWDED = 0.3; // and its share of the mean distance between objects

export class Marks {
  constructor(canvas) {
    this.canvas = canvas;
    this.sprites = new Sprites();
    this.order = new Uint32Array(0); // slots, those of one colour together
    this.tints = new Uint8Array(0); // the number of each slot's colour
    this.starts = new Uint32Array(TINTS.length + 1);
  }

  /** Draws all. frame is the picture's: its seq, and the frame pixels that it covers {width, height}; hovered and asked are ids, or null. */
  draw(objects, tint, frame, { hovered, asked }) {
    const paper = sheet(this.canvas);
    if (!paper || !frame.width) return;
    const { ctx, width, height } = paper;
    this.objects = objects;
    this.turn = objects.turnOf(frame.seq);
    this.scale = { x: width / frame.width, y: height / frame.height };
    this.radius = Math.min(Math.max(CROWDED * Math.sqrt((width * height) / (objects.count || 1)), SMALLEST), LARGEST);
    this.sort(tint);
    this.trails(ctx);
    this.rings(ctx);
    if (objects.count <= FEW) for (let k = 0; k < objects.count; k++) this.label(ctx, k, String(objects.columns.id[k]));
    for (const [id, dashed] of [[objects.followed, false], [asked, true]]) {
      if (objects.slots.has(id)) this.emphasise(ctx, objects.slots.get(id), dashed);
    }
    if (objects.slots.has(hovered)) this.hover(ctx, objects.slots.get(hovered));
  }

  /** Where the k-th object is on the canvas. Whole numbers are the centres of pixels. */
  x(k) {
    const at = this.objects.placeOf(k, this.turn);
    return at < 0 ? NaN : (this.objects.columns.places[at] + 0.5) * this.scale.x;
  }

  y(k) {
    const at = this.objects.placeOf(k, this.turn);
    return at < 0 ? NaN : (this.objects.columns.places[at + 1] + 0.5) * this.scale.y;
  }

  /** The id of the object nearest to a point of the canvas, null where none is near. */
  at(x, y) {
    let [best, least] = [null, REACH ** 2];
    for (let k = 0; this.objects && k < this.objects.count; k++) {
      const far = (this.x(k) - x) ** 2 + (this.y(k) - y) ** 2;
      if (far < least) [best, least] = [this.objects.columns.id[k], far];
    }
    return best;
  }

  /** Brings slots of one colour together: order from starts[t] on to starts[t+1] has colour t. */
  sort(tint) {
    const { objects, starts } = this;
    if (this.order.length < objects.count) {
      this.order = new Uint32Array(objects.columns.id.length);
      this.tints = new Uint8Array(objects.columns.id.length);
    }
    starts.fill(0);
    for (let k = 0; k < objects.count; k++) starts[(this.tints[k] = tint.of(objects, k)) + 1]++;
    for (let t = 1; t < starts.length; t++) starts[t] += starts[t - 1];
    for (let k = 0; k < objects.count; k++) this.order[starts[this.tints[k]]++] = k;
    starts.copyWithin(1, 0);
    starts[0] = 0;
  }

  trails(ctx) {
    const from = this.objects.trailFrom(this.turn);
    const stride = Math.ceil(((this.turn - from) * this.objects.count) / MOST_SEGMENTS) || 1;
    const first = Math.ceil(from / stride) * stride; // so that a trail's points are the same ones in the next frame
    ctx.lineWidth = 1.25;
    ctx.globalAlpha = 0.6;
    ctx.lineJoin = "bevel";
    ctx.lineCap = "butt";
    for (let t = 0; t < TINTS.length; t++) {
      if (this.starts[t] === this.starts[t + 1]) continue;
      ctx.strokeStyle = TINTS[t];
      ctx.beginPath();
      for (let i = this.starts[t]; i < this.starts[t + 1]; i++) this.trail(ctx, this.order[i], first, stride);
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }

  /** Through every stride-th message's place to where the object is. */
  trail(ctx, k, first, stride) {
    const { places } = this.objects.columns;
    let started = false;
    for (let turn = first; turn < this.turn; turn += stride) {
      const at = this.objects.placeOf(k, turn);
      if (at < 0 || Number.isNaN(places[at] + places[at + 1])) continue;
      const x = (places[at] + 0.5) * this.scale.x;
      const y = (places[at + 1] + 0.5) * this.scale.y;
      if (started) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
      started = true;
    }
    if (started) ctx.lineTo(this.x(k), this.y(k));
  }

  rings(ctx) {
    const ratio = ctx.getTransform().a;
    const { image, side } = this.sprites.of(this.radius, ratio);
    const drawn = side / ratio; // CSS px
    for (let i = 0; i < this.objects.count; i++) {
      const k = this.order[i];
      const dashed = this.objects.columns.marks[k] & MARK.predicted ? 1 : 0;
      ctx.drawImage(image, this.tints[k] * side, dashed * side, side, side, this.x(k) - drawn / 2, this.y(k) - drawn / 2, drawn, drawn);
    }
  }

  /** The object that is followed, in a ring that no other has; dashed while it is only asked for. */
  emphasise(ctx, k, dashed) {
    ctx.setLineDash(dashed ? [4, 4] : []);
    this.circle(ctx, k, this.radius + 6, 2.5);
    ctx.setLineDash([]);
    if (!dashed) this.label(ctx, k, String(this.objects.columns.id[k]), this.radius + 10);
  }

  hover(ctx, k) {
    this.circle(ctx, k, this.radius + 3, 1.5);
    if (this.objects.count > FEW && this.objects.columns.id[k] !== this.objects.followed) this.label(ctx, k, String(this.objects.columns.id[k]));
  }

  /** A white ring that shows on light and dark. */
  circle(ctx, k, radius, width) {
    for (const [colour, line] of [["rgb(0 0 0 / 70%)", width + 2], ["#fff", width]]) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = line;
      ctx.beginPath();
      ctx.arc(this.x(k), this.y(k), radius, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }

  /** A number beside an object, inside the canvas. */
  label(ctx, k, text, away = this.radius + 3) {
    ctx.font = LABEL;
    const left = this.x(k) + away + ctx.measureText(text).width > this.canvas.clientWidth;
    ctx.textAlign = left ? "right" : "left";
    ctx.textBaseline = "middle";
    ctx.strokeStyle = "rgb(0 0 0 / 75%)";
    ctx.lineWidth = 3;
    ctx.fillStyle = "#fff";
    for (const write of ["strokeText", "fillText"]) ctx[write](text, this.x(k) + (left ? -away : away), this.y(k));
  }
}

/** Rings in every colour, whole in the first row and dashed in the second, drawn again when their size changes. */
class Sprites {
  /** {image, side}: a ring's square is side device pixels. */
  of(radius, ratio) {
    const size = `${radius.toFixed(1)} ${ratio}`;
    if (size === this.size) return this;
    this.size = size;
    this.side = Math.ceil(2 * (radius + 2) * ratio);
    this.image = document.createElement("canvas");
    this.image.width = this.side * TINTS.length;
    this.image.height = 2 * this.side;
    const ctx = this.image.getContext("2d");
    TINTS.forEach((colour, t) => [0, 1].forEach((dashed) => ring(ctx, (t + 0.5) * this.side, (dashed + 0.5) * this.side, { radius: radius * ratio, ratio, colour, dashed })));
    return this;
  }
}

function ring(ctx, x, y, { radius, ratio, colour, dashed }) {
  const dash = (2 * Math.PI * radius) / 12;
  ctx.setLineDash(dashed ? [dash, dash] : []);
  for (const [stroke, width] of [["rgb(0 0 0 / 45%)", 3.5], [colour, 2]]) {
    ctx.strokeStyle = stroke;
    ctx.lineWidth = width * ratio;
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
    ctx.stroke();
  }
}
