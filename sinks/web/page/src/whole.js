// The whole picture of a field with a mark on every object. A mark that is clicked is followed, where the page may command.

import { find, make, repeat, say } from "./elements.js";
import { count, duration, fixed, milliseconds, number } from "./format.js";
import { Marks } from "./marks.js";
import { unitOf } from "./objects.js";
import { paint, picture } from "./picture.js";
import { CLASSES, LATENT_TIP, Tint, describe, drawRamp, modes } from "./tint.js";

const TOLD = 15; // s that the end of an object is told

/** The frame pixels along one side that a picture of so many pixels shows: of large frames each is the mean of a block, and what is over is left out. */
export const covered = (frame, side) => side * Math.floor(frame / side) || frame;

export class WholePanel {
  /** choose takes the id that was clicked, or null for a place without an object. */
  constructor(choose) {
    Object.assign(this, { version: "", view: "", shape: null, hovered: null, asked: null, busy: false });
    this.canvas = find("#marks");
    this.picture = find("#field");
    this.marks = new Marks(this.canvas);
    this.canvas.addEventListener("pointermove", (event) => (this.hovered = this.marks.at(event.offsetX, event.offsetY)));
    this.canvas.addEventListener("pointerleave", () => (this.hovered = null));
    this.canvas.addEventListener("click", (event) => choose(this.marks.at(event.offsetX, event.offsetY)));
    drawRamp(find("#ramp"));
    repeat(find("#classes"), CLASSES.length, (i) => {
      const key = make("span", "key", make("i", `key-ring${CLASSES[i].name === "predicted" ? " dashed" : ""}`), CLASSES[i].name);
      key.firstElementChild.style.borderColor = CLASSES[i].colour;
      return key;
    });
    this.offer(0);
    this.colour("d");
  }

  /** Offers the colours that there are while objects have so many latents. */
  offer(latents) {
    this.modes = modes(latents);
    repeat(find("#tints"), this.modes.length, (i) => {
      const mode = this.modes[i];
      const button = make("button", "", mode === "d" ? "D" : mode);
      button.type = "button";
      button.setAttribute("aria-pressed", false);
      if (i >= modes(0).length) button.dataset.tip = LATENT_TIP;
      button.addEventListener("click", () => this.colour(mode));
      return button;
    });
    if (this.tint && !this.modes.includes(this.tint.mode)) this.colour("d");
  }

  colour(mode) {
    this.tint = new Tint(mode);
    this.version = "";
    this.modes.forEach((name, i) => find("#tints").children[i].setAttribute("aria-pressed", name === mode));
    find("#ramp-key").hidden = mode === "class";
    find("#classes").hidden = mode !== "class";
  }

  /** Draws what has changed since the last time; usable says that commands are taken now. */
  draw(stream, usable) {
    const { objects } = stream;
    this.show(stream);
    const size = `${this.canvas.clientWidth} ${this.canvas.clientHeight} ${devicePixelRatio}`;
    const { seq = Infinity, width = objects.width, height = objects.height } = this.shape ?? {};
    const version = `${stream.key} ${objects.turnOf(seq)} ${this.hovered} ${this.asked} ${objects.followed} ${width} ${size}`;
    if (version === this.version) return;
    if (this.stream !== stream) this.shape = null; // the picture there is another stream's
    if (!this.version.startsWith(`${stream.key} `)) this.settle(objects);
    this.stream = stream;
    this.version = version;
    this.canvas.style.cursor = usable && this.hovered !== null ? "pointer" : "";
    this.marks.draw(objects, this.tint, { seq, width: covered(objects.width, width), height: covered(objects.height, height) }, this);
  }

  /** The picture of the newest view; one at a time is read. */
  async show(stream) {
    const version = `${stream.key} ${stream.changed.view}`;
    const { view } = stream;
    if (this.view === version || this.busy || !view) return;
    this.view = version;
    this.busy = true;
    const shown = await picture(view.preview_jpeg);
    this.busy = false;
    if (!shown) return;
    this.shape = { seq: view.seq, width: shown.width, height: shown.height };
    this.picture.style.aspectRatio = `${shown.width} / ${shown.height}`;
    paint(this.picture, shown);
  }

  /** Fits the colours to the objects, and says what they mean. */
  settle(objects) {
    this.tint.fit(objects);
    const { factor, name } = unitOf(objects);
    const { mode, low, high } = this.tint;
    const text = { d: (v) => number(factor * 10 ** v, 2), age: duration }[mode] ?? ((v) => number(v, 2));
    say(find("#ramp-low"), text(low));
    say(find("#ramp-high"), mode === "d" ? `${text(high)} ${name}` : text(high));
  }

  /** The words around the picture, a few times a second. usable says that commands are taken now. */
  figures(objects, law, usable) {
    this.offer(objects.latents);
    this.settle(objects);
    this.version = ""; // the colours may be others now
    this.canvas.setAttribute("aria-label", `${objects.count} objects on the whole picture; the table beside it lists them`);
    const k = objects.slots.get(this.hovered);
    const latency = objects.history.length ? objects.history.at(0, 1) : NaN;
    say(find("#field-facts"), k === undefined ? `frame ${count(objects.seq)} · latency ${milliseconds(latency)} ms${objects.left ? ` · ${count(objects.left)} spots left out` : ""}` : sentence(objects, k));
    find("#unfollow").hidden = objects.followed === null;
    find("#unfollow").disabled = !usable;
    say(find("#followed-text"), objects.followed !== null ? following(objects, law) : ended(objects) || (usable ? "Click an object to follow it." : ""));
  }
}

/** What is known of the object that is followed. */
function following(objects, law) {
  const { factor, name } = unitOf(objects);
  const [d, low, high] = ["", "_low", "_high"].map((end) => (law?.[`diffusion_px2_s${end}`] ?? NaN) * factor);
  const diffusion = Number.isFinite(d) ? ` · D ${number(d)} [${number(low)}, ${number(high)}] ${name}` : "";
  return `Following ${objects.followed}${diffusion}`;
}

/** Why the object that was followed is not any more, for a while. */
function ended(objects) {
  return objects.fate && objects.seconds - objects.fatal < TOLD ? `Object ${objects.chosen} has ended: ${objects.fate.slice(0, 80)}` : "";
}

/** An object in a line. */
function sentence(objects, k) {
  const { id, x, y, d, marks } = objects.columns;
  const { factor, name } = unitOf(objects);
  return `object ${id[k]} at ${fixed(x[k], 1)}, ${fixed(y[k], 1)} px · D ${number(d[k] * factor, 2)} ${name} · ${describe(marks[k])} · known for ${duration(objects.age(k))}`;
}
