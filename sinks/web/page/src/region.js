// The whole picture with the region that the encoder sees: it stands where the stream says, and is sent elsewhere by dragging it.

import { say } from "./elements.js";
import { clear, paint, picture } from "./picture.js";
import { ZoneLayer } from "./zones.js";

const STEP = 1; // pixels an arrow key moves
const LEAP = 10; // with Shift
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The corner nearest to x, y at which the region lies in the whole picture, in whole pixels. */
export function within(region, x, y) {
  const fit = (v, most) => Math.min(Math.max(Math.round(v), 0), Math.max(most, 0));
  return { x: fit(x, region.whole_width_px - region.width_px), y: fit(y, region.whole_height_px - region.height_px) };
}

/** Where an arrow key takes the corner; null for any other key. */
export function stepped(region, corner, key, leap) {
  const way = ARROWS[key];
  if (!way) return null;
  const length = leap ? LEAP : STEP;
  return within(region, corner.x + length * way[0], corner.y + length * way[1]);
}

/** Where a region with its corner there lies in the picture, in percent of its sides. */
export function share(region, corner) {
  const [w, h] = [region.whole_width_px / 100, region.whole_height_px / 100];
  return { left: corner.x / w, top: corner.y / h, width: region.width_px / w, height: region.height_px / h };
}

const sides = (width, height) => `${width}\u00a0×\u00a0${height}`; // never broken over two lines

const corner = (region) => ({ x: region.x_px, y: region.y_px });

export class RegionPanel {
  /** send takes the corner {x, y} that was chosen, and resolves once the stream has answered. */
  constructor({ pictures, canvas, region, wish, note }, send) {
    Object.assign(this, { pictures, canvas, handle: region, outline: wish, note, send, whole: "", grip: null, at: null, asked: null });
    this.zones = new ZoneLayer(canvas.parentElement);
    this.handle.addEventListener("pointerdown", (event) => this.grasp(event));
    this.handle.addEventListener("pointermove", (event) => this.drag(event));
    this.handle.addEventListener("pointerup", () => this.release());
    this.handle.addEventListener("pointercancel", () => this.forget());
    this.handle.addEventListener("keydown", (event) => this.key(event));
    this.handle.addEventListener("blur", () => this.forget());
  }

  /** usable says that commands are taken now. */
  draw(stream, usable) {
    const region = stream.view?.region;
    const cut = Boolean(region);
    this.pictures.classList.toggle("cut", cut);
    if (!cut || this.stream !== stream) this.forget();
    this.stream = stream;
    if (!cut) return;
    if (this.whole !== stream.whole) this.show(stream.whole);
    this.canvas.style.aspectRatio = `${region.whole_width_px} / ${region.whole_height_px}`;
    this.zones.draw(stream, region.whole_width_px, region.whole_height_px);
    const room = within(region, Infinity, Infinity);
    const still = room.x === 0 && room.y === 0;
    this.handle.disabled = still || !(usable || this.asked); // while it waits for an answer it keeps the focus
    if (this.handle.disabled) this.forget();
    put(this.handle, share(region, corner(region)));
    this.outline.hidden = !this.at;
    if (this.at) put(this.outline, share(region, this.at));
    this.describe(region);
  }

  /** Without a picture, as where somebody looks after the end, the region still has its place. */
  async show(whole) {
    this.whole = whole;
    if (!whole) clear(this.canvas);
    paint(this.canvas, await picture(whole));
  }

  describe(region) {
    const size = `${sides(region.width_px, region.height_px)} of ${sides(region.whole_width_px, region.whole_height_px)}\u00a0px`;
    this.handle.setAttribute("aria-label", `Region at x ${region.x_px}, y ${region.y_px}, ${size}. Arrow keys move it, Enter sends.`);
    if (!this.at) return say(this.note, `region at ${region.x_px}, ${region.y_px} · ${size}`);
    say(this.note, `to ${this.at.x}, ${this.at.y}${this.grip ? "" : this.asked ? " …" : " · Enter sends, Escape leaves it"}`);
  }

  grasp(event) {
    if (this.handle.disabled || this.asked || event.button !== 0) return;
    this.handle.setPointerCapture(event.pointerId);
    this.grip = { x: event.clientX, y: event.clientY, from: corner(this.stream.view.region) };
  }

  drag(event) {
    const region = this.stream?.view?.region;
    if (!this.grip || !region) return;
    const pixels = region.whole_width_px / this.canvas.clientWidth;
    this.at = within(region, this.grip.from.x + pixels * (event.clientX - this.grip.x), this.grip.from.y + pixels * (event.clientY - this.grip.y));
  }

  release() {
    const moved = this.grip && this.at;
    this.grip = null;
    if (moved) this.ask();
  }

  key(event) {
    const region = this.stream?.view?.region;
    if (!region || this.handle.disabled || this.asked) return;
    const next = stepped(region, this.at ?? corner(region), event.key, event.shiftKey);
    if (next) this.at = next;
    else if (event.key === "Enter" && this.at) this.ask();
    else if (event.key === "Escape" && this.at) this.forget();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Sends the region there; the outline stays until the stream has answered. */
  async ask() {
    const wish = this.at;
    this.asked = wish;
    await this.send(wish);
    if (this.asked === wish) this.asked = null;
    if (this.at === wish) this.at = null;
  }

  forget() {
    this.grip = null;
    if (!this.asked) this.at = null;
  }
}

function put(element, { left, top, width, height }) {
  Object.assign(element.style, { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%` });
}
