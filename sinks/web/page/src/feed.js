// Subscribes: to the health, events and triggers of every stream, and to the latents, law and pictures of the one that is looked at, of a field its
// objects, while somebody looks. Of latents and objects it takes what is published for the eye, thirty a second at most.

import { read } from "./message.js";
import { Stream } from "./stream.js";

const MOST_STREAMS = 64;
const EVERYWHERE = ["health", "event", "trigger"]; // kinds, which end their subjects
const WATCHED = { glance: ["latent", "objects"], sde: "sde", view: "view", population: "population", track: "track" }; // the end of a subject -> what it carries

export class Feed {
  /** changed is called when a stream was found. */
  constructor(changed) {
    this.streams = new Map();
    this.changed = changed;
    this.watching = null; // the stream whose latents are wanted
    this.subscriptions = [];
    this.unreadable = 0; // messages left out because they were none
  }

  join(nats, config) {
    this.nats = nats;
    this.prefix = config.prefix;
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
  }

  subscribe(subject, kinds) {
    return this.nats.subscribe(subject, { callback: (error, m) => error || this.take(kinds, m) });
  }

  take(kinds, m) {
    const [, site, name] = m.subject.split(".");
    const stream = this.stream(site, name, kinds);
    if (!stream) return;
    const message = read(kinds, m.data);
    if (message) stream.take(message.kind, message, performance.now());
    else this.unreadable++;
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
