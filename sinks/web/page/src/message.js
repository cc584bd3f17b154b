// Reads messages as docs/reference/messages.md has them. What does not look like one is left out and counted: whoever can publish can send anything.

const VERSION = 1;
const MAX_DIM = 64;
const MAX_POINTS = 4096;
const MAX_TEXT = 4096;
const MAX_ENTRIES = 256;
const MAX_SIDE = 16384;
const MAX_OBJECTS = 1 << 16;
const MAX_RUNNING = 1000; // streams of a worker, as it is held to itself
const MAX_WAITING = 10_000;

const decoder = new TextDecoder();

/** The message in data, of the kind, or one of the kinds, that its subject carries; null where it is none. */
export function read(kinds, data) {
  const message = parsed(data);
  return sound(kinds, message) ? message : null;
}

function parsed(data) {
  try {
    return JSON.parse(decoder.decode(data));
  } catch {
    return null;
  }
}

const sound = (kinds, m) => Boolean(m && m.v === VERSION && (missing(m.epoch) || whole(m.epoch)) && [kinds].flat().includes(m.kind) && checks[m.kind]?.(m));

const LAST = ["objects", "population", "latent", "sde", "view"]; // of a snapshot, in the order that a stream takes them

/** The last messages of a stream that are in a snapshot, and its last events, oldest first. */
export function snapshot(data) {
  const all = parsed(data);
  const events = Array.isArray(all?.events) ? all.events.slice(-MAX_ENTRIES) : [];
  return { last: LAST.map((kind) => all?.[kind]).filter((m) => sound(LAST, m)), events: events.filter((m) => sound("event", m)) };
}

/** The rules of a stream as its answer to info has them, each {kind: options}. */
export function rulesOf(data) {
  const { rules } = parsed(data) ?? {};
  return Array.isArray(rules) ? rules.slice(0, MAX_DIM).filter((rule) => rule && typeof rule === "object") : [];
}

const numbers = (list, most) => Array.isArray(list) && list.length <= most && list.every((v) => v === null || typeof v === "number");
const optional = (list, length) => list === undefined || list === null || (numbers(list, MAX_DIM) && (list.length === length || list.length === 0));
const known = (values) => values.every((v) => v === undefined || v === null || typeof v === "number");
const missing = (v) => v === undefined || v === null;
const whole = (v) => Number.isSafeInteger(v) && v >= 0;
const text = (v) => typeof v === "string" && v.length <= MAX_TEXT;
const entries = (map) => map === undefined || map === null || (typeof map === "object" && Object.keys(map).length <= MAX_ENTRIES);

const checks = {
  latent: (m) =>
    numbers(m.z, MAX_DIM) && m.z.length > 0 && [m.z_sd, m.drift, m.z_filtered, m.z_filtered_sd].every((list) => optional(list, m.z.length)),

  sde: (m) => {
    if (!numbers(m.sigma, MAX_DIM) || ![m.sigma_low, m.sigma_high, m.diffusion, m.noise_sd].every((list) => optional(list, m.sigma.length))) return false;
    if (!Array.isArray(m.activity) || m.activity.length > MAX_DIM) return false;
    return !m.drift_field || field(m.drift_field);
  },

  event: (m) => typeof m.code === "string" && typeof m.text === "string" && m.text.length <= MAX_TEXT && m.code.length <= MAX_TEXT,

  health: (m) => typeof m.state === "string" && (m.problem === undefined || typeof m.problem === "string") && entries(m.frames_dropped) && entries(m.alarms) && Array.isArray(m.stages) && m.stages.length <= MAX_ENTRIES && (missing(m.cameras) || cameras(m)),

  view: (m) => typeof m.preview_jpeg === "string" && (!m.region || region(m.region)) && (m.whole_jpeg === undefined || typeof m.whole_jpeg === "string"),

  trigger: (m) => [m.name, m.rule, m.unit ?? ""].every(text),

  objects: (m) =>
    Array.isArray(m.id) && m.id.length <= MAX_OBJECTS && m.id.every(whole) && columns(m) && dated(m) &&
    [m.width_px, m.height_px].every((side) => whole(side) && side > 0 && side <= MAX_SIDE) && [m.pixel_um, m.latency_ms, m.left_out].every(Number.isFinite),

  population: (m) =>
    dated(m) && [m.count, m.births, m.deaths, m.directed].every(whole) && (missing(m.map_seq) || whole(m.map_seq)) && known(POPULATION.map((name) => m[name])) && numbers(m.common_velocity_px_s, 2) &&
    numbers(m.spectrum, MAX_DIM) && numbers(m.spectrum_px2_s, MAX_DIM) && m.spectrum.length === m.spectrum_px2_s.length && [[m.law, law], [m.pairs, pairs], [m.map, map]].every(([part, sound]) => missing(part) || sound(part)),

  worker: (m) =>
    [m.time, m.since].every(when) && [m.id, m.version].every(text) && known([m.cores, m.cores_taken, m.cores_used]) && typeof m.draining === "boolean" &&
    list(m.streams, MAX_RUNNING, running) && (missing(m.labels) || list(m.labels, MAX_ENTRIES, text)) && (missing(m.waiting) || list(m.waiting, MAX_WAITING, (w) => token(w.name) && typeof w.why === "string")),

  track: (m) =>
    whole(m.id) && text(m.change) && text(m.why ?? "") && known(["", "_low", "_high"].map((end) => m[`diffusion_shrunk_px2_s${end}`])) &&
    (missing(m.state) || numbers(m.state, MAX_DIM)) && (missing(m.motion) || motion(m.motion)),
};

const POPULATION = ["density_px", "density_um", "detected", "tracks", "noise_px", "common_velocity_sd_px_s", "diffusion_px2_s", "diffusion_px2_s_low", "diffusion_px2_s_high"];

const when = (time) => text(time) && Number.isFinite(Date.parse(time));
const dated = (m) => whole(m.seq) && when(m.time);

/** One entry an object in each column. */
function columns(m) {
  const n = m.id.length;
  const column = (list) => numbers(list, n) && list.length === n;
  const latents = (table) => table === undefined || table === null || (Array.isArray(table) && table.length <= MAX_DIM && table.every(column));
  return Array.isArray(m.marks) && m.marks.length === n && m.marks.every(whole) && [m.x_px, m.y_px, m.diffusion_px2_s].every(column) && [m.z, m.z_sd, m.state].every(latents);
}

/** States by rising D, and the sentence that says them. */
function law(l) {
  if (!numbers(l.state_px2_s, MAX_DIM)) return false;
  const k = l.state_px2_s.length;
  return LAW.every((name) => optional(l[name], k)) && (missing(l.switching_s) || numbers(l.switching_s, k * k)) &&
    known([l.spread, l.spread_low, l.spread_high, l.switching_nats]) && text(l.says ?? "");
}

const LAW = ["state_px2_s_low", "state_px2_s_high", "state_um2_s", "state_um2_s_low", "state_um2_s_high", "share", "share_low", "share_high"];

const pairs = (p) => table(p, PAIRS) && known([p.nats]);
const PAIRS = ["distance_px", "force_px_s", "force_px_s_low", "force_px_s_high", "pairs"];

const map = (m) => table(m, MAP) && (missing(m.says) || (Array.isArray(m.says) && m.says.length <= MAX_ENTRIES && m.says.every(text)));
const MAP = ["x_px", "y_px", "width_px", "drift_x_px_s", "drift_y_px_s", "drift_sd_px_s", "diffusion_px2_s", "diffusion_sd_px2_s", "steps"];

const motion = (m) => text(m.class) && known(MOTION.map((name) => m[name]));
const MOTION = ["stuck", "free", "confined", "directed", "anomalous", "alpha", "alpha_low", "alpha_high", "radius_px", "speed_px_s"];

/** Who an experiment hears, and when it was heard. */
const cameras = (m) => when(m.time) && Array.isArray(m.cameras) && m.cameras.length <= MAX_DIM && m.cameras.every((c) => c && text(c.stream) && text(c.left_out ?? "") && whole(c.silences) && (missing(c.heard) || when(c.heard)));

/** A list of so many at most, each of which is sound. */
const list = (l, most, sound) => Array.isArray(l) && l.length <= most && l.every((v) => !missing(v) && sound(v));

/** The name of a stream: a part of subjects. */
const token = (v) => typeof v === "string" && /^[\w-]{1,64}$/.test(v);

const running = (r) => token(r.name) && whole(r.epoch) && when(r.since) && text(r.state) && (missing(r.problem) || typeof r.problem === "string");

/** Columns of one length. */
const table = (t, names) => names.every((name) => numbers(t[name], MAX_POINTS) && t[name].length === t[names[0]].length);

/** A rectangle of whole pixels inside a picture. */
function region(r) {
  const inside = (at, length, whole) => [at, length, whole].every(Number.isInteger) && at >= 0 && length > 0 && at + length <= whole && whole <= MAX_SIDE;
  return inside(r.x_px, r.width_px, r.whole_width_px) && inside(r.y_px, r.height_px, r.whole_height_px);
}

function field(f) {
  const axes = Array.isArray(f.axes) ? f.axes.length : 0;
  const points = (list) => Array.isArray(list) && list.length === f.z.length && list.every((p) => numbers(p, 2) && p.length === axes);
  return (axes === 1 || axes === 2) && Array.isArray(f.z) && f.z.length <= MAX_POINTS && [f.z, f.drift, f.drift_sd].every(points) && Array.isArray(f.scarce);
}
