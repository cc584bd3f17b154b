// Subscribes: to the health, events and triggers of every stream and to what workers say of themselves, and to the latents, law and pictures of the one that is looked at, of a field its
// objects, while somebody looks. Of latents and objects it takes what is published for the eye, thirty a second at most.

import { read, rulesOf, snapshot } from "./message.js";
import { Site } from "./site.js";
import { Stream } from "./stream.js";
import { zonesOf } from "./zones.js";

const MOST_STREAMS = 1024;
const MOST_SITES = 16;
const PATIENCE = 3000; // ms for an answer
const EVERYWHERE = ["health", "event", "trigger", "worker"]; // kinds, which end their subjects
const WATCHED = { glance: ["latent", "objects"], sde: "sde", view: "view", population: "population", track: "track" }; // the end of a subject -> what it carries

export class Feed {
  /** changed is called when a stream, or a site with workers, was found. */
  constructor(changed) {
    this.streams = new Map();
    this.sites = new Map(); // those with workers
    this.changed = changed;
    this.watching = null; // the stream whose latents are wanted
    this.subscriptions = [];
    this.unreadable = 0; // messages left out because they were none
  }

  join(nats, config) {
    this.nats = nats;
    this.prefix = config.prefix;
    this.joined = performance.now();
    for (const site of this.sites.values()) site.listen(this.joined);
    for (const kind of EVERYWHERE) this.subscribe(`${this.prefix}.*.*.${kind}`, kind);
    this.watch(this.watching);
  }

  leave() {
    this.nats = null;
    this.subscriptions = [];
  }

  /** Wants what is to be seen of one stream, or of none while nobody looks. */
  watch(stream) {
    this.watching = stream;
    stream?.objects?.cut();
    for (const subscription of this.subscriptions) subscription.unsubscribe();
    this.subscriptions = [];
    if (!stream || !this.nats) return;
    for (const [token, kinds] of Object.entries(WATCHED)) {
      this.subscriptions.push(this.subscribe(`${this.prefix}.${stream.key}.${token}`, kinds));
    }
    this.catchUp(stream);
  }

  /** Asks what came before somebody looked, and where the zones are. Who may not ask, or asks a stream that is gone, sees what comes next. */
  async catchUp(stream) {
    stream.stale = false;
    const [all, info] = await Promise.all(["snapshot", "info"].map((name) => this.ask(stream, name)));
    if (all) stream.catchUp(snapshot(all), performance.now());
    if (info) stream.zones = zonesOf(rulesOf(info));
  }

  /** The answer to a question that changes nothing; null where there is none. */
  async ask(stream, name) {
    try {
      const answer = await this.nats.request(`${this.prefix}.${stream.key}.cmd.${name}`, "", { timeout: PATIENCE });
      return answer.headers?.get("Nats-Service-Error") ? null : answer.data;
    } catch {
      return null;
    }
  }

  subscribe(subject, kinds) {
    return this.nats.subscribe(subject, { callback: (error, m) => error || this.take(kinds, m) });
  }

  take(kinds, m) {
    const [, site, name] = m.subject.split(".");
    const now = performance.now();
    const taker = kinds === "worker" ? this : this.stream(site, name, kinds);
    if (!taker) return;
    const message = read(kinds, m.data);
    if (!message) this.unreadable++;
    else if (kinds === "worker") this.worker(site, name, message, now);
    else if (taker.counts(message.epoch ?? 0, now)) taker.take(message.kind, message, now);
    if (taker.stale && taker === this.watching && this.nats) this.catchUp(taker);
  }

  /** What a worker says; the first one makes its site known. */
  worker(name, worker, message, now) {
    let site = this.sites.get(name);
    if (!site && this.sites.size >= MOST_SITES) return;
    if (site) return site.take(worker, message, now);
    site = new Site(name, this.streams);
    site.take(worker, message, now);
    this.sites.set(name, site);
    this.changed();
  }

  /** The stream of that name; health makes it known. */
  stream(site, name, kind) {
    const key = `${site}.${name}`;
    let stream = this.streams.get(key);
    if (!stream && kind === "health" && this.streams.size < MOST_STREAMS) {
      stream = new Stream(site, name);
      this.streams.set(key, stream);
      this.changed();
    }
    return stream;
  }
}
