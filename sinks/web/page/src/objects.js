// The objects of a field as the newest message has them, in columns whose memory is used again, each with its last places.

import { History } from "./history.js";

export const MARK = { predicted: 1, merged: 2, directed: 4, doubtful: 8, followed: 16 };
export const LATENTS = 4; // of an object, that are kept at most: more colours than that nobody compares
export const KEPT = 64; // messages of which every place is kept: two seconds at 30 a second
const TRAIL = 2; // s that a trail goes back,
const SLOW = 16; // or so many messages where fewer come in that time
const POINTS = 3600; // two minutes at 30 a second
const POPULATIONS = 1800;
const FIRST_ROOM = 256;

export class Objects {
  constructor() {
    this.history = new History(2, POINTS); // count, latency ms
    this.turnover = new History(2, POPULATIONS); // born and ended a second
    this.slots = new Map(); // id -> its place in the columns
    this.times = new Float64Array(KEPT); // s, of the last messages; as places, that of message number turn at turn % KEPT
    this.seqs = new Float64Array(KEPT);
    this.columns = {};
    this.clear();
    this.room(0);
  }

  clear() {
    this.slots.clear();
    this.history.clear();
    this.turnover.clear();
    Object.assign(this, { count: 0, turn: 0, begun: 1, seconds: NaN, seq: -1, latents: 0, states: 0, left: 0, width: 0, height: 0, pixel: 0, followed: null, chosen: null, fate: "", population: null });
  }

  /** Takes a message that was read; seconds is its time. */
  take(m, seconds) {
    if (m.seq < this.seq || seconds < this.seconds) this.clear();
    const first = this.seq < 0;
    Object.assign(this, { seq: m.seq, seconds, width: m.width_px, height: m.height_px, pixel: m.pixel_um, left: m.left_out, followed: null });
    this.turn++;
    this.times[this.turn % KEPT] = seconds;
    this.seqs[this.turn % KEPT] = m.seq;
    this.room(m.id.length);
    this.look(Math.min(m.z?.length ?? 0, LATENTS));
    this.states = m.state?.length ?? 0;
    for (let i = 0; i < m.id.length; i++) this.put(this.slot(m.id[i], first), m, i);
    this.sweep();
    if (this.followed !== null && this.followed !== this.chosen) [this.chosen, this.fate] = [this.followed, ""];
    this.history.push(seconds, [this.count, m.latency_ms]);
  }

  takePopulation(m, seconds) {
    const before = this.population;
    if (before && m.seq > before.seq && seconds > this.counted) {
      const rate = (name) => (m[name] - before[name]) / (seconds - this.counted);
      this.turnover.push(seconds, [rate("births"), rate("deaths")]);
    }
    // a map that was told before is not told again
    if (!m.map && before?.map && Number.isFinite(m.map_seq) && m.map_seq === before.map_seq) m.map = before.map;
    this.population = m;
    this.counted = seconds;
  }

  /** Keeps why the object that was followed last has ended. */
  takeTrack(m) {
    if (m.id === this.chosen && m.change === "ended") [this.fate, this.fatal] = [m.why || "its end", this.seconds];
  }

  /** What comes does not go on from the places that are kept: nobody looked meanwhile. */
  cut() {
    this.begun = this.turn + 1;
  }

  /** Messages have so many latents from now on. What others said was of another model. */
  look(latents) {
    if (latents !== this.latents) this.columns.z.fill(NaN);
    this.latents = latents;
  }

  /** The slot of an id, a new one at the end if it has none. */
  slot(id, first) {
    const known = this.slots.get(id);
    if (known !== undefined) return known;
    const k = this.count++;
    this.slots.set(id, k);
    this.columns.id[k] = id;
    this.columns.since[k] = this.seconds;
    this.columns.older[k] = first ? 1 : 0; // it was there before this page looked
    this.columns.from[k] = this.turn;
    this.columns.z.fill(NaN, k * LATENTS, (k + 1) * LATENTS);
    return k;
  }

  put(k, m, i) {
    const c = this.columns;
    const at = 2 * (k * KEPT + (this.turn % KEPT));
    c.places[at] = c.x[k] = m.x_px[i] ?? NaN;
    c.places[at + 1] = c.y[k] = m.y_px[i] ?? NaN;
    c.d[k] = m.diffusion_px2_s[i] ?? NaN;
    c.marks[k] = m.marks[i];
    c.seen[k] = this.turn;
    for (let l = 0; l < this.latents; l++) c.z[k * LATENTS + l] = m.z[l][i] ?? c.z[k * LATENTS + l]; // the last known where it is not detected
    this.likeliest(k, m.state, i);
    if (m.marks[i] & MARK.followed) this.followed = m.id[i];
  }

  /** Keeps the state of the population's law that is likeliest, and its probability; -1 where none is known. */
  likeliest(k, probabilities, i) {
    let [state, most] = [-1, 0];
    for (let s = 0; s < this.states; s++) if (probabilities[s][i] > most) [state, most] = [s, probabilities[s][i]];
    this.columns.state[k] = state;
    this.columns.likely[k] = most;
  }

  /** Those that the newest message does not name leave; the last takes the slot. */
  sweep() {
    const c = this.columns;
    for (let k = this.count - 1; k >= 0; k--) {
      if (c.seen[k] === this.turn) continue;
      this.slots.delete(c.id[k]);
      const last = --this.count;
      if (k === last) continue;
      for (const [name, width] of COLUMNS) c[name].copyWithin(k * width, last * width, (last + 1) * width);
      this.slots.set(c.id[k], k);
    }
  }

  /** The oldest message of which places are known. */
  get oldest() {
    return Math.max(this.begun, this.turn - KEPT + 1);
  }

  /** The message of frame seq or the last one before it; the newest where none is kept. */
  turnOf(seq) {
    for (let turn = this.turn; turn >= this.oldest; turn--) if (this.seqs[turn % KEPT] <= seq) return turn;
    return this.turn;
  }

  /** The message at which the trails begin that end at another. */
  trailFrom(turn) {
    let from = turn;
    while (from > this.oldest && (turn - from < SLOW || this.times[turn % KEPT] - this.times[(from - 1) % KEPT] <= TRAIL)) from--;
    return from;
  }

  /** Where in places the k-th object's x of a message lies, y after it; -1 where it was not there yet. */
  placeOf(k, turn) {
    return turn < this.columns.from[k] ? -1 : 2 * (k * KEPT + (turn % KEPT));
  }

  /** Has room for n more objects than there are: those that end meanwhile leave last. */
  room(n) {
    const { id } = this.columns;
    if (id && id.length >= this.count + n) return;
    const size = Math.max(FIRST_ROOM, 2 ** Math.ceil(Math.log2(this.count + n)));
    for (const [name, width, Type] of COLUMNS) {
      const grown = new Type(size * width);
      if (id) grown.set(this.columns[name].subarray(0, this.count * width));
      this.columns[name] = grown;
    }
  }

  /** A latent of the k-th object, counted from 0; NaN where it is not known. */
  latent(k, l) {
    return this.columns.z[k * LATENTS + l];
  }

  /** How long an object is known, s. */
  age(k) {
    return this.seconds - this.columns.since[k];
  }
}

/** D in µm²/s where the side of a pixel is known: what px²/s are multiplied by, and the unit's name. */
export const unitOf = (objects) => (objects.pixel > 0 ? { factor: objects.pixel ** 2, name: "µm²/s" } : { factor: 1, name: "px²/s" });

/** The same of a length. */
export const lengthOf = (objects) => (objects.pixel > 0 ? { factor: objects.pixel, name: "µm" } : { factor: 1, name: "px" });

/**
 * The columns: name, numbers an object, type. x and y are frame pixels, d is px²/s, since is s; from is the message that named it first, z is latents;
 * state is the likeliest one, likely its probability.
 */
const COLUMNS = [
  ["id", 1, Float64Array],
  ["x", 1, Float32Array],
  ["y", 1, Float32Array],
  ["d", 1, Float32Array],
  ["marks", 1, Uint16Array],
  ["state", 1, Int8Array],
  ["likely", 1, Float32Array],
  ["since", 1, Float64Array],
  ["older", 1, Uint8Array],
  ["seen", 1, Float64Array],
  ["from", 1, Float64Array],
  ["z", LATENTS, Float64Array],
  ["places", 2 * KEPT, Float32Array],
];
