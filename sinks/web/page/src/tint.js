// What the colour of a mark says: how fast its object diffuses, how old it is, how it moves, which state of the law it is in, or what it looks like. Marks lie on grey pictures, in dark and light pages alike,
// so their colours do not change with the theme. The ramp is viridis without its dark third: brighter is more, for colour-blind people too.

import { SteadyRange } from "./range.js";
import { LATENTS, MARK } from "./objects.js";
import { stateColours, stateShade } from "./states.js";

const STOPS = ["#2f7fb5", "#21a08c", "#5cc863", "#b9de28", "#fde725"];
const STEPS = 24; // colours of the ramp
const UNKNOWN = STEPS;
export const NOT_YET = "#d0d4da";

/** How an object moves, as colour and word: that of a mark that is predicted is not seen now. */
export const CLASSES = [
  { name: "diffusing", colour: "#56b4e9" },
  { name: "directed", colour: "#e69f00" },
  { name: "predicted", colour: "#cc79a7" },
];

/** Every colour that a mark may have, by its number. */
export const TINTS = [...Array.from({ length: STEPS }, (_, i) => ramp(i / (STEPS - 1))), NOT_YET, ...stateColours, ...CLASSES.map((c) => c.colour)];
const FIRST_CLASS = TINTS.length - CLASSES.length;

/** The place in CLASSES of an object with these marks. */
export const classOf = (marks) => (marks & MARK.predicted ? 2 : marks & MARK.directed ? 1 : 0);

/** How an object moves and is seen, in words. */
export function describe(marks) {
  const also = ["merged", "doubtful"].filter((name) => marks & MARK[name]);
  return [CLASSES[classOf(marks)].name, ...also].join(", ");
}

/** The name of the l-th latent, counted from 0. */
export const latentName = (l) => `latent ${l + 1}`;

export const LATENT_TIP = "What an object looks like, such as how far out of focus, how bright or how large it is: a number that the model of objects has learnt. An object that is not detected keeps its last one.";

/** What colours may say while objects have so many latents, and the law so many states. One state is everybody's. */
export const modes = (latents, states = 0) => ["d", "age", "class", ...(states > 1 ? ["state"] : []), ...Array.from({ length: latents }, (_, l) => latentName(l))];

const SCALES = {
  d: { value: (objects, k) => Math.log10(objects.columns.d[k]), parts: 8 },
  age: { value: (objects, k) => objects.age(k), parts: 4 },
};
for (let l = 0; l < LATENTS; l++) SCALES[latentName(l)] = { value: (objects, k) => objects.latent(k, l), parts: 8 };

export class Tint {
  /** mode is one of modes(). */
  constructor(mode) {
    this.mode = mode;
    this.scale = SCALES[mode];
    this.range = new SteadyRange(this.scale?.parts);
    this.low = 0;
    this.high = 1;
  }

  /** Fits the ramp to the objects there: all but a tenth at either end. */
  fit(objects) {
    if (!this.scale) return;
    const values = new Float64Array(objects.count);
    let n = 0;
    for (let k = 0; k < objects.count; k++) {
      const v = this.scale.value(objects, k);
      if (Number.isFinite(v)) values[n++] = v;
    }
    this.known = n > 0;
    if (!n) return;
    const sorted = values.subarray(0, n).sort();
    const [low, high] = [sorted[Math.floor(0.1 * (n - 1))], sorted[Math.ceil(0.9 * (n - 1))]];
    [this.low, this.high] = this.mode === "age" ? [0, this.range.fit(0, high || 1)[1]] : this.range.fit(low, high);
  }

  /** The number of the k-th object's colour. */
  of(objects, k) {
    if (this.mode === "class") return FIRST_CLASS + classOf(objects.columns.marks[k]);
    if (this.mode === "state") return objects.columns.state[k] < 0 ? UNKNOWN : UNKNOWN + 1 + stateShade(objects.columns.state[k], objects.columns.likely[k]);
    const v = this.scale.value(objects, k);
    if (Number.isNaN(v)) return UNKNOWN;
    return rampStep((v - this.low) / (this.high - this.low));
  }
}

/** The number of the ramp's colour at a share of it. */
export const rampStep = (share) => Math.floor(Math.min(Math.max(share, 0), 0.999) * STEPS);

/** The ramp's colour at a share of it. */
function ramp(share) {
  const at = share * (STOPS.length - 1);
  const from = Math.min(Math.floor(at), STOPS.length - 2);
  const [a, b] = [STOPS[from], STOPS[from + 1]].map((hex) => parseInt(hex.slice(1), 16));
  const mix = (shift) => Math.round(((a >> shift) & 255) * (1 - (at - from)) + ((b >> shift) & 255) * (at - from));
  return `rgb(${mix(16)}, ${mix(8)}, ${mix(0)})`;
}

/** Draws the ramp from low to high into a canvas. */
export function drawRamp(canvas) {
  const ctx = canvas.getContext("2d");
  for (let i = 0; i < STEPS; i++) {
    ctx.fillStyle = TINTS[i];
    ctx.fillRect((i * canvas.width) / STEPS, 0, canvas.width / STEPS + 1, canvas.height);
  }
}
