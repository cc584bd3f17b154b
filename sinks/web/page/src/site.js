// What the workers of a site say of themselves, and what follows: where every stream runs, which nobody can run, and which worker is silent.

const SILENT = 3000; // ms: three messages are missing
const GONE = 10_000; // ms: two of the usual TTLs, by then another worker has its streams
const FORGOTTEN = 60; // s without a word of a stream that no worker speaks of: it was removed
const MOST_WORKERS = 1024;
const MOST_DEAD = 50;

/** A site as one of the things that the page can show. */
export class Site {
  /** streams has those of all sites that were heard, by any key. */
  constructor(site, streams) {
    Object.assign(this, { site, name: "all streams", overview: true, heardOf: streams, workers: new Map(), dead: new Map(), waiting: [], seen: null });
  }

  /** Takes what a worker says; now is in milliseconds. */
  take(name, m, now) {
    const before = this.workers.get(name);
    if (before && before.record.id !== m.id && now - before.heard < SILENT && Date.parse(m.since) < Date.parse(before.record.since)) return; // an older process of that name was frozen, and returns
    m.waiting = this.shared(m.waiting ?? []);
    this.dead.delete(name);
    if (m.draining && !m.streams.length) this.bury(name, m, "it was told to end, and has handed over its streams"); // its last word
    else if (before || this.workers.size < MOST_WORKERS) this.workers.set(name, { record: m, heard: now });
  }

  /** Keeps of a worker that is gone what it was and why; of those that went first nothing is kept. */
  bury(name, record, why) {
    this.workers.delete(name);
    this.dead.set(name, { name, record, why });
    if (this.dead.size > MOST_DEAD) this.dead.delete(this.dead.keys().next().value);
  }

  /** What nobody can run, as the last worker said it where this one says the same: a thousand workers have one list. */
  shared(waiting) {
    const same = waiting.length === this.waiting.length && waiting.every(({ name, why }, i) => name === this.waiting[i].name && why === this.waiting[i].why);
    if (!same) this.waiting = waiting;
    return this.waiting;
  }

  /** What there is to be seen now, {crew, rows, state}: found once however many ask in one drawing, whose time is now. */
  look(now, away) {
    if (this.seen?.now === now && this.seen.away === away) return this.seen;
    const crew = this.crew(now, away);
    const rows = this.rows(crew, now, away);
    return (this.seen = { now, away, crew, rows, state: siteState(crew, rows, away) });
  }

  /** The state in a word, and why, as of a stream. */
  state(now, away) {
    return this.look(now, away).state;
  }

  /** The server is there again: nobody could be heard without it. */
  listen(now) {
    for (const worker of this.workers.values()) worker.heard = now;
  }

  /** Forgets the workers that are gone. One that was draining is as soon as it is silent. */
  prune(now) {
    for (const [name, { record, heard }] of this.workers) if (now - heard > (record.draining ? SILENT : GONE)) this.bury(name, record, record.draining ? "it was not heard any more while it handed over its streams" : "it was killed, frozen or cut off");
  }

  /** The workers by name. While the server is away nobody counts as silent. */
  crew(now, away) {
    if (!away) this.prune(now);
    const odd = oddVersions(Array.from(this.workers.values(), ({ record }) => record.version));
    return Array.from(this.workers, ([name, { record, heard }]) => {
      const silent = !away && now - heard > SILENT ? Math.floor((now - heard) / 1000) : 0;
      const [tone, word] = silent ? ["bad", `silent ${silent} s`] : record.draining ? ["warn", "hands over"] : ["good", "works"];
      return { name, record, silent, tone, word, odd: odd.has(record.version), up: passed(record.since, record.time) };
    }).sort(byName);
  }

  /** All streams of the site by name, with where each runs and how it is. */
  rows(crew, now, away) {
    const [known, placed, waiting] = [new Map(), placesOf(crew), waitingOf(crew)];
    for (const stream of this.heardOf.values()) if (stream.site === this.site) known.set(stream.name, stream);
    const rows = [];
    for (const name of new Set([...placed.keys(), ...waiting.keys(), ...known.keys()])) {
      const stream = known.get(name) ?? null;
      let place = placed.get(name) ?? null;
      if (place && stream && place.running.epoch < stream.epoch) place = null; // another worker has it, and has not yet told
      if (!away && !place && !waiting.has(name) && (now - stream.heard) / 1000 > FORGOTTEN) continue;
      const state = stateOf(stream, place, waiting.get(name), now, away);
      rows.push({ name, stream, place, state, epoch: Math.max(place?.running.epoch ?? 0, stream?.epoch ?? 0), fps: state.runs ? (stream?.health?.fps ?? NaN) : NaN });
    }
    return rows.sort(byName);
  }

  /** How many messages were passed over because a later worker has the stream. */
  late() {
    let sum = 0;
    for (const stream of this.heardOf.values()) if (stream.site === this.site) sum += stream.late;
    return sum;
  }
}

/** The worst that there is of a site. */
function siteState(crew, rows, away) {
  if (away) return { word: "server away", tone: "bad", why: "The NATS server does not answer; the page keeps trying. What is shown is the last that came." };
  if (!crew.length) return { word: "no worker", tone: "bad", why: "No worker of this site is heard any more." };
  const bad = rows.filter((row) => row.state.tone === "bad");
  if (bad.length) return { word: `${bad.length} of ${rows.length} streams in trouble`, tone: "bad", why: bad.map((row) => `${row.name}: ${row.state.word}`).join("; ").slice(0, 500) };
  const silent = crew.filter((worker) => worker.silent);
  if (silent.length) return { word: `${silent.length} of ${crew.length} workers silent`, tone: "warn", why: `Not heard: ${silent.map((worker) => worker.name).join(", ").slice(0, 500)}` };
  return { word: rows.length === 1 ? "1 stream" : `${rows.length} streams`, tone: "good", why: "No stream is in trouble, and every worker is heard." };
}

const byName = (a, b) => (a.name < b.name ? -1 : 1);

/** Seconds from one time of a worker's clock to another. */
const passed = (from, to) => Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000);

/** Who runs which stream: of two who say so, the one with the later lease. */
function placesOf(crew) {
  const placed = new Map();
  for (const worker of crew) {
    for (const running of worker.record.streams) {
      if (running.epoch > (placed.get(running.name)?.running.epoch ?? -1)) placed.set(running.name, { worker, running, seconds: passed(running.since, worker.record.time) });
    }
  }
  return placed;
}

/** Why nobody can run a stream. Who hands over no longer looks. */
function waitingOf(crew) {
  const heard = crew.filter((worker) => !worker.silent && !worker.record.draining);
  const lists = new Set(heard.map((worker) => worker.record.waiting));
  return new Map(Array.from(lists).flat().map(({ name, why }) => [name, why]));
}

/** How a stream is, with why where something is wrong; runs says whether its rate is one of now. */
function stateOf(stream, place, waits, now, away) {
  if (!place && waits !== undefined) return { word: "nobody can run it", tone: "bad", why: waits };
  if (!place) return ofStream(stream, now, away);
  const { worker, running } = place;
  if (worker.silent) return { word: worker.word, tone: "bad", why: `${worker.name} is not heard; another worker takes the stream once its lease is over` };
  if (running.state === "failed") return { word: "failed", tone: "bad", why: running.problem ?? "" };
  if (running.state !== "running") return { word: running.state.slice(0, 24), tone: "idle", why: running.problem ?? "" };
  if (!stream) return { word: "running", tone: "good", why: "" };
  return stream.epoch < running.epoch ? { word: "starting", tone: "idle", why: "" } : ofStream(stream, now, away);
}

function ofStream(stream, now, away) {
  const { word, tone, why } = stream.state(now, away);
  return { word, tone, why: tone === "good" || tone === "idle" ? "" : why, runs: !away && (tone === "good" || tone === "warn") };
}

/** The versions beside the commonest one; of several that are as common all of them. */
export function oddVersions(versions) {
  const counts = new Map();
  for (const version of versions) counts.set(version, (counts.get(version) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const commonest = Array.from(counts.keys()).filter((version) => counts.get(version) === most);
  return new Set(Array.from(counts.keys()).filter((version) => commonest.length > 1 || version !== commonest[0]));
}

/** So many rows at most, in their order: those in trouble before others. */
export function foremost(rows, most) {
  if (rows.length <= most) return rows;
  const kept = new Set([...rows.filter((row) => row.state.tone === "bad"), ...rows.filter((row) => row.state.tone !== "bad")].slice(0, most));
  return rows.filter((row) => kept.has(row));
}
