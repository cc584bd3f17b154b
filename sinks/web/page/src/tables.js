// Finished results, read in the browser: a table of places as csv, or the messages of a run as JSON Lines. Each gives the messages of a frame. Whoever
// opens a file may have got it from anybody: sizes are bounded, and what is no message is left out and counted.

import { read } from "./message.js";

const MOST_BYTES = 256 << 20;
const MOST_ROWS = 2e6;
const MOST_LINE = 16 << 20; // bytes
const EPOCH = Date.UTC(1970, 0, 1);
const PACE = 25; // frames a second of a table without times
const HEAD = 200; // bytes of a line that name its kind
const FRAMES = ["objects", "latent"]; // one of each is a frame; a field has both of the object that is followed
const KINDS = ["objects", "population", "latent", "sde", "event", "trigger", "track", "health"];
const KNOWN = ["health", "sde", "population"]; // of which the last one holds until the next
const EVENTS = 500;

/** Reads a file that a person has chosen; throws what is wrong with it. */
export async function table(file) {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} has ${Math.round(file.size / 2 ** 20)} MiB, this page reads ${MOST_BYTES >> 20}: open it with driftscope view`);
  return /\.csv$/i.test(file.name) ? new Places(await file.text()) : new Lines(new Uint8Array(await file.arrayBuffer()));
}

/** A csv with the columns frame, particle (or trajectory), x and y, in pixels; and diffusion_px2_s, marks and time, if there are any. */
export class Places {
  constructor(text) {
    const end = text.indexOf("\n");
    const header = text.slice(0, end < 0 ? text.length : Math.min(end, 1e5)).trim().split(",").map((name) => name.trim().replaceAll('"', ""));
    const at = ["frame", "particle", "x", "y", "diffusion_px2_s", "marks", "time"].map((name) => header.indexOf(name));
    if (at[1] < 0) at[1] = header.indexOf("trajectory");
    if (at.slice(0, 4).some((i) => i < 0)) throw new Error(`found the columns ${header.join(", ").slice(0, 200)}, expected frame, particle, x and y`);
    this.assumed = at[6] < 0 ? PACE : 0; // frames a second; 0 where times are known
    this.rows = parseRows(text, end, at);
    this.group();
  }

  /** Where each frame begins among the rows, which are sorted by frame; and the box of all places. */
  group() {
    const { rows } = this;
    rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    if (!rows.length) throw new Error("no row in it");
    this.begins = [];
    this.size = { width: 1, height: 1 };
    rows.forEach((row, i) => {
      if (!i || row[0] !== rows[i - 1][0]) this.begins.push(i);
      else if (row[1] === rows[i - 1][1]) throw new Error(`particle ${row[1]} is twice in frame ${row[0]}: give every object a number of its own`);
      this.size.width = Math.max(this.size.width, Math.floor(row[2]) + 1);
      this.size.height = Math.max(this.size.height, Math.floor(row[3]) + 1);
    });
    this.length = this.begins.length;
    this.before = 64; // frames that a view of one needs: the trails'
    this.unreadable = 0;
  }

  /** The number of the i-th frame in the film. */
  number(i) {
    return this.rows[this.begins[i]][0];
  }

  known() {
    return [];
  }

  /** The messages of the i-th frame. */
  messages(i) {
    const rows = this.rows.slice(this.begins[i], this.begins[i + 1]);
    const column = (c) => rows.map((row) => row[c]);
    const [frame, , , , , , time] = rows[0];
    const { width, height } = this.size;
    return [{
      kind: "objects", seq: frame, time: new Date(Number.isFinite(time) ? time : EPOCH + (1000 * frame) / PACE).toISOString(), latency_ms: NaN, width_px: width, height_px: height, pixel_um: 0, left_out: 0,
      id: column(1), x_px: column(2), y_px: column(3), diffusion_px2_s: column(4), marks: rows.map((row) => row[5] || 0),
    }];
  }
}

/** The rows as [frame, particle, x, y, D, marks, time in ms]; what is not there is NaN. */
function parseRows(text, end, at) {
  const rows = [];
  for (let from = end + 1, line = 2; end >= 0 && from < text.length; line++) {
    const to = text.indexOf("\n", from);
    const cells = text.slice(from, to < 0 ? text.length : to).trim().split(",");
    from = to < 0 ? text.length : to + 1;
    if (cells.length === 1 && !cells[0]) continue;
    const row = at.map((c, i) => (c < 0 || !cells[c] ? NaN : i === 6 ? Date.parse(cells[c]) : Number(cells[c])));
    if (!row.slice(0, 4).every((v) => Math.abs(v) <= 2 ** 31) || row[0] < 0 || row[0] % 1 || row[1] < 0 || row[1] % 1) throw new Error(`line ${line}: found ${cells.join(",").slice(0, 100)}, expected whole numbers of a frame and a particle, x and y`);
    if (rows.push(row) > MOST_ROWS) throw new Error(`more than ${MOST_ROWS} rows: open it with driftscope view`);
  }
  return rows;
}

/** The messages that a run has written with --out NAME.jsonl: where each line lies, and which of them are frames. */
export class Lines {
  constructor(bytes) {
    Object.assign(this, { bytes, from: [], to: [], kinds: [], unreadable: 0, size: null });
    this.lines = Object.fromEntries(KINDS.map((kind) => [kind, []])); // of each kind
    const decoder = new TextDecoder();
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.indexOf(10, from);
      const to = end < 0 ? bytes.length : end;
      const kind = /"kind":\s*"(\w+)"/.exec(decoder.decode(bytes.subarray(from, Math.min(to, from + HEAD))))?.[1];
      if (KINDS.includes(kind) && to - from <= MOST_LINE) this.add(kind, from, to);
      else if (to > from && kind !== "view") this.unreadable++;
      from = to + 1;
    }
    const frame = FRAMES.find((kind) => this.lines[kind].length);
    if (!frame) throw new Error("no message of a frame in it: give a file of run --out");
    this.frames = this.lines[frame];
    this.length = this.frames.length;
    this.before = frame === "objects" ? 64 : 900; // frames that a view of one needs: trails, or the path
  }

  add(kind, from, to) {
    this.lines[kind].push(this.kinds.length);
    this.kinds.push(kind);
    this.from.push(from);
    this.to.push(to);
  }

  number(i) {
    return this.message(this.frames[i])?.seq ?? NaN;
  }

  message(line) {
    const { kinds, bytes, from, to } = this;
    const m = read(kinds[line], bytes.subarray(from[line], to[line]));
    if (!m) this.unreadable++;
    return m;
  }

  /** What was known when the i-th frame came: the last message of each kind, and the events. */
  known(i) {
    const first = this.begin(i);
    const earlier = (kind, most) => {
      const n = below(this.lines[kind], first);
      return this.lines[kind].slice(Math.max(0, n - most), n);
    };
    return [...earlier("event", EVENTS), ...KNOWN.flatMap((kind) => earlier(kind, 1))].map((line) => this.message(line)).filter(Boolean);
  }

  /** The messages of the i-th frame: those from behind the frame before to its own, and behind the last frame what is left. */
  messages(i) {
    const end = i === this.length - 1 ? this.kinds.length : this.frames[i] + 1;
    return Array.from({ length: end - this.begin(i) }, (_, k) => this.message(this.begin(i) + k)).filter(Boolean);
  }

  begin(i) {
    return i ? this.frames[i - 1] + 1 : 0;
  }
}

/** How many of a rising list are below a number. */
function below(list, most) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < most) low = middle + 1;
    else high = middle;
  }
  return low;
}
