// Reads messages as docs/reference/messages.md has them. What does not look like one is left out and counted: whoever can publish can send anything.

const VERSION = 1;
const MAX_DIM = 64;
const MAX_POINTS = 4096;
const MAX_TEXT = 4096;
const MAX_ENTRIES = 256;
const MAX_SIDE = 16384;

const decoder = new TextDecoder();

/** The message in data, of the kind that its subject names; null where it is none. */
export function read(kind, data) {
  let message;
  try {
    message = JSON.parse(decoder.decode(data));
  } catch {
    return null;
  }
  const sound = message && message.v === VERSION && message.kind === kind && checks[kind]?.(message);
  return sound ? message : null;
}

const numbers = (list, most) => Array.isArray(list) && list.length <= most && list.every((v) => v === null || typeof v === "number");
const optional = (list, length) => list === undefined || list === null || (numbers(list, MAX_DIM) && (list.length === length || list.length === 0));
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

  health: (m) => typeof m.state === "string" && (m.problem === undefined || typeof m.problem === "string") && entries(m.frames_dropped) && entries(m.alarms) && Array.isArray(m.stages) && m.stages.length <= MAX_ENTRIES,

  view: (m) => typeof m.preview_jpeg === "string" && (!m.region || region(m.region)) && (m.whole_jpeg === undefined || typeof m.whole_jpeg === "string"),

  trigger: (m) => [m.name, m.rule, m.unit ?? ""].every((text) => typeof text === "string" && text.length <= MAX_TEXT),
};

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
