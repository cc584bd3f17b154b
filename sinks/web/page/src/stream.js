// What is known of one stream, kept within bounds: the newest message of each kind, a bounded past, and what follows from the two.

import { experimentState } from "./experiment.js";
import { clock, count, duration, number, words } from "./format.js";
import { History } from "./history.js";
import { Objects } from "./objects.js";

const EVENTS = 500;
const POINTS = 3600; // two minutes at 30 a second
const LAWS = 1800;
const LEASED = 3000; // ms without a word of the worker that has the stream, before one counts who has no lease
const LISTENING = 2; // seconds without health before a stream counts as silent, over its period of one

/** How many dimensions the charts show; the table of dimensions shows all. */
export const SHOWN = 6;

export class Stream {
  constructor(site, name) {
    Object.assign(this, { site, name, key: `${site}.${name}`, dim: 0, latents: null, laws: null, latent: null, law: null, field: null });
    Object.assign(this, { view: null, whole: "", health: null, heard: 0, events: [], objects: null, population: null, paused: false, frozen: false, sourceLost: "" });
    Object.assign(this, { epoch: 0, leased: -Infinity, late: 0 }); // the newest lease that was heard of, when it last was, and how many messages were passed over
    Object.assign(this, { ended: null, stale: false, zones: [] }); // when it ended; whether it should be asked again for what it is
    this.inside = new Map(); // rule -> how often its condition holds now
    this.alarms = new Map(); // code -> the event that began it
    this.changed = { latent: 0, sde: 0, view: 0, health: 0, event: 0, trigger: 0, objects: 0, population: 0, track: 0, inserted: 0 };
    this.listed = 0; // events so far
    this.nis = { mean: NaN, weight: 0 };
  }

  /**
   * Whether a message counts that was made under a lease of this epoch; 0 is none. A worker that was frozen or cut off may come back and speak on
   * while another has the stream. Who speaks without a lease is a run of the same name: it counts while no worker is heard.
   */
  counts(epoch, now) {
    const fine = epoch === 0 ? now - this.leased > LEASED : epoch >= this.epoch;
    if (!fine) this.late++;
    else if (epoch > 0) Object.assign(this, { epoch, leased: now });
    return fine;
  }

  /** Takes a message that was read; now is in milliseconds. */
  take(kind, m, now) {
    this[`take_${kind}`](m, now);
    this.changed[kind]++;
  }

  /** Takes what was said before somebody looked, unless later ones are known. */
  catchUp({ last, events }, now) {
    const first = !this.events.length;
    for (const m of events) {
      if (first) this.take("event", m, now);
      else this.insert(m);
    }
    for (const m of last) {
      const held = { latent: this.latent, sde: this.law, view: this.view, objects: this.objects, population: this.population }[m.kind];
      if (!(held?.seq >= m.seq)) this.take(m.kind, m, now);
    }
  }

  take_latent(m) {
    if (m.z.length !== this.dim) this.resize(m.z.length);
    m.seconds = seconds(m.time);
    if (this.latent && m.seq < this.latent.seq) this.begin();
    this.latent = m;
    const z = m.z_filtered?.length ? m.z_filtered : m.z;
    const sd = m.z_filtered_sd?.length ? m.z_filtered_sd : (m.z_sd ?? []);
    this.latents.push(m.seconds, [...z, ...sd, ...m.z, m.latency_ms]);
    if (m.nis > 0) {
      this.nis.weight = Math.min(this.nis.weight + 1, 300);
      const step = 1 / this.nis.weight;
      this.nis.mean = (1 - step) * (Number.isFinite(this.nis.mean) ? this.nis.mean : 0) + (step * m.nis) / m.z.length;
    }
  }

  /** Where the columns of a kept latent begin. */
  column(what, i = 0) {
    return { z: 0, sd: this.dim, raw: 2 * this.dim, latency: 3 * this.dim }[what] + i;
  }

  take_sde(m) {
    this.law = m;
    if (m.drift_field) this.field = m.drift_field;
    const d = m.sigma.length;
    if (!this.laws || this.laws.width !== 3 * d) this.laws = new History(3 * d, LAWS);
    this.laws.push(seconds(m.time), [...m.sigma, ...m.sigma_low, ...m.sigma_high]);
  }

  /** Not every view has the whole picture: the last one stays. */
  take_view(m) {
    this.view = m;
    this.whole = m.region ? m.whole_jpeg || this.whole : "";
  }

  /** Objects make the stream one of a field. Latents and law are those of the object that is followed. */
  take_objects(m) {
    this.objects ??= new Objects();
    const before = this.objects.followed;
    this.objects.take(m, seconds(m.time));
    if (this.objects.followed === before) return;
    this.begin();
    Object.assign(this, { latent: null, law: null, field: null });
  }

  take_population(m) {
    this.population = m;
    this.objects?.takePopulation(m, seconds(m.time));
  }

  take_track(m) {
    this.objects?.takeTrack(m);
  }

  /** The time of the newest frame that is known; NaN where none is. */
  last() {
    return (this.objects ? this.objects.history : this.latents)?.last() ?? NaN;
  }

  /** The newest frames' latencies, ms, n at most. */
  latencies(n) {
    const [past, column] = this.objects ? [this.objects.history, 1] : [this.latents, this.column("latency")];
    return Float64Array.from({ length: Math.min(past?.length ?? 0, n) }, (_, k) => past.at(k, column));
  }

  take_health(m, now) {
    const paused = (h) => h?.frames_dropped?.paused ?? 0;
    const another = (m.epoch ?? 0) !== (this.health?.epoch ?? 0);
    if (this.health && (another || m.uptime_s < this.health.uptime_s)) this.restarted();
    else if (this.health && paused(m) > paused(this.health)) this.paused = true; // it was paused before this page looked
    if (this.health && m.frames_tracked > this.health.frames_tracked && paused(m) === paused(this.health)) this.paused = false;
    if (m.state !== "stopped") this.ended = null;
    else if (this.health && this.health.state !== "stopped") this.ended ??= new Date(m.time);
    for (const state of ["paused", "frozen"]) {
      if (m.state === state) this[state] = true;
      else if (this.health?.state === state) this[state] = false;
    }
    this.health = m;
    this.heard = now;
  }

  take_event(m) {
    const event = { ...m, date: new Date(m.time), at: this.last(), alarm: ALARMS.has(m.code) };
    const before = this.events[0];
    if (before && same(before, m)) this.replace(event);
    this.list(event);
    const applied = { command_pause: ["paused", true], command_freeze: ["frozen", true], command_unfreeze: ["frozen", false] }[m.code];
    if (applied) this[applied[0]] = applied[1];
    if (m.code === "command_resume" || m.code === "command_start") this.paused = this.frozen = false;
    if (m.code === "command_model") this.remodelled();
    if (ENDS.has(m.code)) this.ended = event.date;
    if (m.code === "source_lost") this.sourceLost = m.text;
    if (m.code === "source_back") this.sourceLost = "";
    if (event.alarm) {
      if (m.level === "info") this.alarms.delete(m.code);
      else this.alarms.set(m.code, event);
    }
  }

  /** Triggers stand among the events; one that goes on and off takes one line. */
  take_trigger(m) {
    const measured = `${number(m.value)} of ${number(m.threshold)} ${m.unit ?? ""}`.trim();
    const line = { code: m.name, level: "info", text: `trigger, ${words(m.rule)}, ${m.on ? "begins" : "ends"}: ${measured}`, count: m.on ? 1 : 0, date: new Date(m.time), at: NaN, trigger: m.name };
    const [before] = this.events;
    if (before?.trigger === m.name) this.replace(line);
    this.list(line);
    this.changed.event++;
    if (this.inside.size < RULES || this.inside.has(m.name)) this.inside.set(m.name, Math.max(0, (this.inside.get(m.name) ?? 0) + (m.on ? 1 : -1)));
  }

  /** Has the newest line's place taken by the same again, which keeps the number and the date of the first of them. */
  replace(event) {
    const before = this.events.shift();
    Object.assign(event, { count: event.count + before.count, since: before.since, from: before.from });
  }

  /** Lists what happened last. Lines are numbered as they come. */
  list(event) {
    const number = ++this.listed;
    this.events.unshift({ since: number, from: event.date, ...event, number });
    this.events.length = Math.min(this.events.length, EVENTS);
  }

  /** Lists what happened while nobody heard, where it belongs, unless it is there. */
  insert(m) {
    const date = new Date(m.time);
    if (this.events.some((e) => same(e, m) && e.from <= date && date <= e.date)) return;
    const later = this.events.findIndex((e) => !e.trigger && e.date <= date);
    const at = later < 0 ? this.events.length : later;
    this.events.splice(at, 0, { ...m, date, from: date, at: NaN, since: -1, number: -1 });
    this.events.length = Math.min(this.events.length, EVENTS);
    this.changed.inserted++;
  }

  /** Whether it is several cameras' law, without frames of its own. */
  get experiment() {
    return Boolean(this.health?.cameras?.length);
  }

  /** The state in a word, and why. now is in milliseconds; away says that the server cannot be reached. */
  state(now, away) {
    const stopped = this.health?.state === "stopped";
    if (away && !stopped) return { word: "server away", tone: "bad", why: "The NATS server does not answer; the page keeps trying. What is shown is the last that came." };
    if (!this.health) return { word: "waiting", tone: "idle", why: "No health message yet; one comes every second." };
    const silent = (now - this.heard) / 1000;
    if (stopped && this.health.problem) return { word: "failed", tone: "bad", why: `The run has failed: ${this.health.problem.slice(0, 500)}` };
    if (stopped) return { word: "ended", tone: "idle", why: "The run has ended; what is shown is its last." };
    if (silent > 1 + LISTENING) return { word: `silent ${Math.floor(silent)} s`, tone: "bad", why: "Nothing is heard of this stream. It was stopped, or cannot reach the server." };
    if (this.experiment) return experimentState(this.health);
    if (this.sourceLost || this.health.state === "source_lost") return { word: "source lost", tone: "bad", why: this.sourceLost || "The source does not answer; it is tried again." };
    if (this.paused) return { word: "paused", tone: "warn", why: "Frames are read but not tracked. Resume goes on." };
    if (this.frozen) return { word: "law frozen", tone: "warn", why: "Latents go on; the law of motion is not learnt from them." };
    if (this.health.state === "starting") return { word: "starting", tone: "idle", why: "Waiting for the first frame." };
    return { word: words(this.health.state).slice(0, 24), tone: this.health.state === "tracking" ? "good" : "warn", why: "Frames are tracked as they come." };
  }

  /** When and why what is shown is no longer of now, and what to do; empty while the stream runs. */
  ending(now, away) {
    if (!this.health) return "";
    const { state, problem, frames_tracked: frames, uptime_s: ran } = this.health;
    if (state !== "stopped") return away || now - this.heard > 1000 * (1 + LISTENING) ? `Last heard at ${clock(new Date(this.health.time))}. What is shown is the last that came.` : "";
    const asked = this.events.find((e) => e.code === "command_stop" || e.code === "command_start")?.code === "command_stop";
    const when = this.ended ? `at ${clock(this.ended)}` : "before this page was opened";
    const why = problem ? `: ${problem.slice(0, 500)}` : asked ? ", because somebody stopped it" : ", without an error";
    const next = away ? "The program has ended too: run --stay keeps it." : this.replayed ? "" : "With run --stay, Start runs it again.";
    return `The run ended ${when}${why}. It had tracked ${count(frames)} frames in ${duration(ran)}. What is shown is its last. ${next}`.trim();
  }

  /** The dimensions that charts show: those that move, or the first ones while none is known to. */
  shown() {
    const all = Array.from({ length: this.dim }, (_, i) => i);
    const moving = all.filter((i) => this.law?.activity[i] === "active");
    return (moving.length ? moving : all).slice(0, SHOWN);
  }

  resize(dim) {
    this.dim = dim;
    this.latents = new History(3 * dim + 1, POINTS);
    this.begin();
  }

  /** Forgets the path: what comes does not follow what came. */
  begin() {
    this.latents?.clear();
    this.laws?.clear();
    this.nis = { mean: NaN, weight: 0 };
  }

  restarted() {
    this.remodelled();
    this.inside.clear();
    Object.assign(this, { paused: false, sourceLost: "", stale: true });
  }

  /** Forgets what was known of other latents and their law. */
  remodelled() {
    this.begin();
    this.alarms.clear();
    Object.assign(this, { frozen: false, law: null, field: null, view: null, whole: "", objects: null, population: null });
  }
}

/** The alarms that begin as a warning and end as an info of the same code. */
const ALARMS = new Set(["drift_changed", "diffusion_changed", "unlike_training", "object_lost", "bleached", "too_few_dimensions", "population_diffusion_changed", "population_mixture_changed"]);

const ENDS = new Set(["stream_ended", "stream_failed"]);
const RULES = 64; // of which it is known whether their conditions hold

const same = (a, b) => a.code === b.code && a.level === b.level && a.text === b.text;

/** Frames that a health message counts as lost. */
export function lost(health) {
  return Object.entries(health?.frames_dropped ?? {}).reduce((sum, [cause, n]) => sum + (cause.startsWith("sink_") ? 0 : n), 0);
}

/** A time in seconds, with the nanoseconds that Date leaves out. */
function seconds(time) {
  const digits = /\.\d{3}(\d+)/.exec(time)?.[1];
  return Date.parse(time) / 1000 + (digits ? Number(`0.000${digits}`) : 0);
}
