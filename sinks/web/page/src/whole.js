// The whole picture of a field with a mark on every object. A mark that is clicked is followed, where the page may command.

import { find, make, repeat, say } from "./elements.js";
import { count, duration, ends, fixed, milliseconds, number, percent } from "./format.js";
import { MapLayer } from "./map.js";
import { Marks } from "./marks.js";
import { unitOf } from "./objects.js";
import { clear, paint, pictureOf } from "./picture.js";
import { STATE_COLOURS, STATE_TIP, lawStates, stateColours } from "./states.js";
import { CLASSES, LATENT_TIP, NOT_YET, Tint, describe, drawRamp, modes } from "./tint.js";
import { ZoneLayer } from "./zones.js";

const TOLD = 15; // s that the end of an object is told

/** The frame pixels along one side that a picture of so many pixels shows: of large frames each is the mean of a block, and what is over is left out. */
export const covered = (frame, side) => side * Math.floor(frame / side) || frame;

export class WholePanel {
  /** choose takes the id that was clicked, or null for a place without an object. */
  constructor(choose) {
    Object.assign(this, { version: "", view: "", shape: null, hovered: null, asked: null, busy: false, modes: [], chosen: "" });
    this.canvas = find("#marks");
    this.picture = find("#field");
    this.marks = new Marks(this.canvas);
    this.map = new MapLayer();
    this.zones = new ZoneLayer(this.canvas.parentElement);
    this.canvas.addEventListener("pointermove", (event) => (this.hovered = this.marks.at(event.offsetX, event.offsetY)));
    this.canvas.addEventListener("pointerleave", () => (this.hovered = null));
    this.canvas.addEventListener("click", (event) => choose(this.marks.at(event.offsetX, event.offsetY)));
    drawRamp(find("#ramp"));
    repeat(find("#classes"), CLASSES.length, (i) => {
      const key = make("span", "key", make("i", `key-ring${CLASSES[i].name === "predicted" ? " dashed" : ""}`), CLASSES[i].name);
      key.firstElementChild.style.borderColor = CLASSES[i].colour;
      return key;
    });
    this.offer(0, 0);
  }

  /** Offers the colours that there are while objects have so many latents, and the law so many states. Until somebody chooses, states are shown where there are some. */
  offer(latents, states) {
    const offered = modes(latents, states);
    if (offered.join() === this.modes.join()) return;
    this.modes = offered;
    find("#tints").replaceChildren(...offered.map((mode) => this.button(mode)));
    if (!offered.includes(this.chosen)) this.chosen = "";
    this.colour(this.chosen || (states > 1 ? "state" : "d"));
  }

  button(mode) {
    const button = make("button", "", mode === "d" ? "D" : mode);
    button.type = "button";
    if (mode === "state") button.dataset.tip = STATE_TIP;
    else if (!modes(0).includes(mode)) button.dataset.tip = LATENT_TIP;
    button.addEventListener("click", () => this.colour((this.chosen = mode)));
    return button;
  }

  colour(mode) {
    if (this.tint?.mode !== mode) this.tint = new Tint(mode);
    this.version = "";
    this.modes.forEach((name, i) => find("#tints").children[i].setAttribute("aria-pressed", name === mode));
    find("#ramp-key").hidden = mode === "class" || mode === "state";
    find("#classes").hidden = mode !== "class";
    find("#states").hidden = mode !== "state";
  }

  /** Draws what has changed since the last time; usable says that commands are taken now. */
  draw(stream, usable) {
    const { objects } = stream;
    this.show(stream);
    const size = `${this.canvas.clientWidth} ${this.canvas.clientHeight} ${devicePixelRatio}`;
    const { seq = Infinity, width = objects.width, height = objects.height } = this.shape ?? {};
    const frame = { seq, width: covered(objects.width, width), height: covered(objects.height, height) };
    this.map.draw(objects, frame, stream);
    this.zones.draw(stream, frame.width, frame.height);
    const version = `${stream.key} ${objects.turnOf(seq)} ${this.hovered} ${this.asked} ${objects.followed} ${width} ${size}`;
    if (version === this.version) return;
    if (this.stream !== stream) {
      this.shape = null; // the picture there is another stream's
      clear(this.picture);
    }
    if (!this.shape) this.picture.style.aspectRatio = `${objects.width} / ${objects.height}`; // places come without pictures
    if (!this.version.startsWith(`${stream.key} `)) this.settle(objects);
    this.stream = stream;
    this.version = version;
    this.canvas.style.cursor = usable && this.hovered !== null ? "pointer" : "";
    this.marks.draw(objects, this.tint, frame, this);
  }

  /** The picture of the newest view; one at a time is read. */
  async show(stream) {
    const version = `${stream.key} ${stream.changed.view}`;
    const { view } = stream;
    if (this.view === version || this.busy || !view) return;
    this.view = version;
    this.busy = true;
    const shown = await pictureOf(view);
    this.busy = false;
    if (!shown || this.stream !== stream) return; // somebody looks at another by now
    this.shape = { seq: view.seq, width: shown.width, height: shown.height };
    this.picture.style.aspectRatio = `${shown.width} / ${shown.height}`;
    paint(this.picture, shown);
  }

  /** Fits the colours to the objects, and says what they mean. */
  settle(objects) {
    this.tint.fit(objects);
    const { factor, name } = unitOf(objects);
    const { mode, low, high } = this.tint;
    const text = { d: (v, digits) => number(factor * 10 ** v, digits), age: duration }[mode] ?? number;
    const [from, to] = this.tint.known ? ends(low, high, text) : ["–", "–"];
    say(find("#ramp-low"), from);
    say(find("#ramp-high"), mode === "d" ? `${to} ${name}` : to);
  }

  /** The words around the picture, a few times a second. usable says that commands are taken now. */
  figures(objects, law, usable) {
    this.offer(objects.latents, objects.states);
    this.settle(objects);
    drawStates(find("#states"), objects);
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

/** What the colours of states mean: each state's D where the law has come, and what is grey. */
function drawStates(legend, objects) {
  const { factor, name } = unitOf(objects);
  const law = lawStates(objects.population, factor);
  const keys = repeat(legend, objects.states + 1, () => make("span", "key", make("i", "key-ring"), make("span")));
  for (let s = 0; s <= objects.states; s++) {
    const [ring, text] = keys[s].children;
    const told = s < objects.states;
    ring.style.borderColor = told ? stateColours[s % STATE_COLOURS] : NOT_YET;
    const d = law.length === objects.states ? `: D ${number(law[s]?.d, 2)} ${name}` : "";
    say(text, told ? `state ${s + 1}${d}` : "not told");
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
  const { id, x, y, d, marks, state, likely } = objects.columns;
  const { factor, name } = unitOf(objects);
  return `object ${id[k]} at ${fixed(x[k], 1)}, ${fixed(y[k], 1)} px · D ${number(d[k] * factor, 2)} ${name} · ${describe(marks[k])}${objects.states > 1 && state[k] >= 0 ? ` · state ${state[k] + 1}, ${percent(likely[k])}` : ""} · known for ${duration(objects.age(k))}`;
}
