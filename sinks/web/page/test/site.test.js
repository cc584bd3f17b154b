// Who runs what: workers that come, fall silent, freeze and return, and messages of a lease that is over.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Feed } from "../src/feed.js";
import { read } from "../src/message.js";
import { foremost, oddVersions } from "../src/site.js";

const encode = (value) => new TextEncoder().encode(JSON.stringify(value));
const begun = "2026-05-06T10:00:00Z";
const running = (name, epoch, more = {}) => ({ name, epoch, since: "2026-05-06T10:00:30Z", state: "running", ...more });
const worker = (streams, more = {}) => ({ v: 1, kind: "worker", stream: "hall-1", time: "2026-05-06T10:01:00.5Z", id: "a", version: "1.2", since: begun, cores: 8, cores_taken: 2, cores_used: 1.5, labels: ["camera-2"], draining: false, streams, ...more });
const health = (more = {}) => ({ v: 1, kind: "health", stream: "bead", state: "tracking", uptime_s: 10, frames_in: 100, frames_tracked: 100, frames_dropped: {}, alarms: {}, stages: [], fps: 50, ...more });
const event = (code, epoch) => ({ v: 1, kind: "event", stream: "bead", seq: 1, time: begun, code, level: "warning", text: code, count: 1, epoch });

/** A feed, and the clock that it takes messages by. */
function listening(t) {
  const clock = { now: 0 };
  t.mock.method(performance, "now", () => clock.now);
  const found = [];
  const feed = new Feed(() => found.push(feed.sites.size));
  const send = (name, m, kinds = m.kind) => feed.take(kinds, { subject: `driftscope.local.${name}.${m.kind}`, data: encode(m) });
  const look = (away = false) => feed.sites.get("local").look((clock.now += 1e-6), away); // every look is another drawing
  const rows = () => look().rows.map((r) => [r.name, r.place?.worker.name ?? null, r.epoch, r.state.word]);
  const crew = (away) => look(away).crew.map((w) => [w.name, w.word]);
  return { feed, clock, found, send, rows, crew, look };
}

test("what a worker does not say is left out", () => {
  const sound = (more) => read("worker", encode(worker([running("bead", 17)], more))) !== null;
  for (const fit of [{}, { labels: null }, { waiting: null }, { cores_used: null }, { waiting: [{ name: "far", why: "y".repeat(9000) }] }, { streams: [running("bead", 17, { problem: "z".repeat(9000) })] }]) assert.ok(sound(fit), JSON.stringify(fit).slice(0, 99));
  const bad = [
    { streams: null }, { streams: [null] }, { streams: [running("a.b", 1)] }, { streams: [running("", 1)] }, { streams: [running("bead", -1)] }, { streams: [running("bead", 2 ** 54)] }, { streams: [running("bead", "1")] }, { streams: [running("bead", 1, { since: "now" })] },
    { streams: [running("bead", 1, { problem: 5 })] }, { streams: new Array(1001).fill(running("bead", 1)) }, { waiting: new Array(10001).fill({ name: "far", why: "" }) }, { waiting: [{ name: "far" }] }, { waiting: [5] },
    { labels: "x" }, { labels: [5] }, { draining: "no" }, { cores: "8" }, { time: "x" }, { since: undefined }, { version: 5 }, { id: null }, { epoch: -1 }, { epoch: "x" },
  ];
  for (const more of bad) assert.ok(!sound(more), JSON.stringify(more).slice(0, 99));
});

test("a site is known by its workers, and no stream by them", (t) => {
  const { feed, found, send, rows, look } = listening(t);
  send("bead", health());
  assert.deepEqual([feed.sites.size, found], [0, [0]], "without workers there is no site");
  send("hall-1", worker([running("bead", 17), running("plate", 18)], { waiting: [{ name: "far", why: "no worker has label camera-7" }] }));
  assert.deepEqual([feed.streams.size, found], [1, [0, 1]]);
  assert.deepEqual(rows(), [["bead", "hall-1", 17, "starting"], ["far", null, 0, "nobody can run it"], ["plate", "hall-1", 18, "running"]]);
  send("bead", health({ epoch: 17 }));
  assert.deepEqual(rows()[0], ["bead", "hall-1", 17, "tracking"]);
  const [bead, far] = look().rows;
  assert.deepEqual([bead.place.seconds, bead.fps, far.state.why, far.fps], [30.5, 50, "no worker has label camera-7", NaN]);
  send("hall-1", worker([running("bead", 17, { state: "failed", problem: "no camera" })]));
  const [failed] = look().rows;
  assert.deepEqual([failed.state.word, failed.state.tone, failed.state.why, failed.fps], ["failed", "bad", "no camera", NaN]);
});

test("a worker that is silent is greyed, then gone; one that has handed over is gone at once", (t) => {
  const { feed, clock, send, rows, crew, look } = listening(t);
  send("hall-1", worker([running("bead", 17)]));
  send("hall-2", worker([running("plate", 18)], { draining: true }));
  assert.deepEqual(crew(), [["hall-1", "works"], ["hall-2", "hands over"]]);
  send("hall-2", worker([], { draining: true }));
  assert.deepEqual(crew(), [["hall-1", "works"]]);
  clock.now = 3500;
  assert.deepEqual([crew(), rows(), look().state.tone], [[["hall-1", "silent 3 s"]], [["bead", "hall-1", 17, "silent 3 s"]], "bad"]);
  clock.now = 10_500;
  assert.deepEqual([crew(), rows(), look().state.word], [[], [], "no worker"]);
  const dead = () => Array.from(feed.sites.get("local").dead.values(), (w) => [w.name, w.record.time, w.why.split(" ").slice(0, 3).join(" ")]);
  const at = "2026-05-06T10:01:00.5Z";
  assert.deepEqual(dead(), [["hall-2", at, "it was told"], ["hall-1", at, "it was killed,"]], "with when and why");
  send("hall-2", worker([running("plate", 18)], { draining: true }));
  clock.now += 3500;
  assert.deepEqual(crew(), [], "killed while it handed over");
  assert.deepEqual(dead(), [["hall-1", at, "it was killed,"], ["hall-2", at, "it was not"]]);
  send("hall-1", worker([running("bead", 17)]));
  assert.deepEqual(dead().map(([name]) => name), ["hall-2"], "who comes back is not dead");
  clock.now += 60_000;
  assert.deepEqual(crew(true), [["hall-1", "works"]], "while the server is away nobody can be heard");
  feed.join({ subscribe: () => ({ unsubscribe: () => {} }) }, { prefix: "driftscope" });
  assert.deepEqual(crew(), [["hall-1", "works"]], "and has a moment to speak afterwards");
});

test("what comes under an older lease is passed over, of every kind", (t) => {
  const { feed, clock, send, rows } = listening(t);
  const of = (epoch, more) => health({ epoch, ...more });
  send("hall-1", worker([running("bead", 17)]));
  send("hall-2", worker([]));
  send("bead", of(17));
  send("bead", of(20, { uptime_s: 10, fps: 7 }));
  const bead = feed.streams.get("local.bead");
  assert.deepEqual(rows(), [["bead", null, 20, "tracking"]], "the new worker has not yet told, and the old one has lost it");
  send("hall-2", worker([running("bead", 20)]));
  send("bead", event("taken_over", 20));
  clock.now = 1000;
  const frozen = { seq: 5, time: begun };
  const old = [of(17, { state: "stopped", problem: "woken" }), event("queue_full", 17), { v: 1, kind: "latent", ...frozen, z: [1], epoch: 17 }, { v: 1, kind: "sde", ...frozen, sigma: [1], activity: [], epoch: 17 },
    { v: 1, kind: "view", preview_jpeg: "AA==", epoch: 17 }, { v: 1, kind: "trigger", ...frozen, name: "well", rule: "zone", on: true, value: 1, threshold: 0, epoch: 17 }];
  for (const m of old) {
    assert.ok(read(m.kind, encode(m)), m.kind);
    send("bead", m);
  }
  send("bead", health({ fps: 1 }));
  assert.deepEqual([bead.late, feed.sites.get("local").late(), bead.latents, bead.law, bead.view, bead.health.fps, bead.events.map((e) => e.code)], [7, 7, null, null, null, 7, ["taken_over"]]);
  assert.deepEqual(rows(), [["bead", "hall-2", 20, "tracking"]], "though both workers say that they run it");
  clock.now = 5000;
  send("bead", of(17));
  assert.equal(bead.late, 8, "however long the later one is silent");
  send("bead", health({ fps: 2, uptime_s: 99 }));
  assert.equal(bead.health.fps, 2, "a run without a lease counts once no worker is heard");
});

test("another worker's stream is another run, whatever its uptime", (t) => {
  const { feed, send } = listening(t);
  send("bead", health({ epoch: 17, uptime_s: 1 }));
  const bead = feed.streams.get("local.bead");
  bead.take("event", event("unlike_training", 17), 0);
  bead.law = {};
  send("bead", health({ epoch: 17, uptime_s: 2 }));
  assert.deepEqual([bead.alarms.size, bead.law], [1, {}]);
  send("bead", health({ epoch: 20, uptime_s: 2 }));
  assert.deepEqual([bead.alarms.size, bead.law], [0, null]);
});

test("an older process of a worker's name is passed over while the newer one speaks", (t) => {
  const { clock, send, rows } = listening(t);
  send("hall-1", worker([running("bead", 20)], { id: "b", since: "2026-05-06T10:00:59Z" }));
  send("hall-1", worker([running("other", 17)]));
  assert.deepEqual(rows().map((r) => r[0]), ["bead"]);
  clock.now = 3500;
  send("hall-1", worker([running("other", 17)]));
  assert.deepEqual(rows().map((r) => r[0]), ["other"], "a clock that went back");
});

test("workers that say the same of what nobody can run share a list, and one that says otherwise adds to it", (t) => {
  const { feed, send, rows, look } = listening(t);
  const waiting = () => [{ name: "far", why: "no worker has label camera-7" }];
  for (let i = 0; i < 3; i++) send(`w${i}`, worker([], { waiting: waiting() }));
  assert.equal(new Set(Array.from(feed.sites.get("local").workers.values(), (w) => w.record.waiting)).size, 1);
  send("w3", worker([running("bead", 17)], { waiting: [...waiting(), { name: "large", why: "needs 64 cores" }, { name: "bead", why: "taken since" }] }));
  send("w4", worker([], { waiting: [{ name: "old", why: "it no longer looks" }], draining: true, streams: [running("cell", 18)] }));
  assert.deepEqual(rows().map((r) => [r[0], r[3]]), [["bead", "running"], ["cell", "running"], ["far", "nobody can run it"], ["large", "nobody can run it"]]);
  assert.equal(look().state.word, "2 of 4 streams in trouble");
});

test("a stream that was removed is forgotten after a minute of silence", (t) => {
  const { clock, send, rows, look } = listening(t);
  send("hall-1", worker([running("bead", 17)]));
  send("bead", health({ epoch: 17 }));
  send("hall-1", worker([]));
  assert.deepEqual(rows(), [["bead", null, 17, "tracking"]]);
  clock.now = 61_000;
  assert.equal(look(true).rows.length, 1, "while the server is away nothing is forgotten");
  assert.deepEqual(rows(), []);
});

test("versions that are not the commonest are marked, and rows in trouble are kept", () => {
  assert.deepEqual([[], ["1", "1"], ["1", "2", "1"], ["1", "2"]].map((versions) => [...oddVersions(versions)]), [[], [], ["2"], ["1", "2"]]);
  const rows = ["good", "bad", "idle", "bad"].map((tone, name) => ({ name, state: { tone } }));
  assert.deepEqual([4, 3, 2].map((most) => foremost(rows, most).map((r) => r.name)), [[0, 1, 2, 3], [0, 1, 3], [1, 3]]);
});

test("streams and workers are bounded", (t) => {
  const { feed, send } = listening(t);
  for (let i = 0; i < 1100; i++) send(`s${i}`, health());
  for (let i = 0; i < 1100; i++) send(`w${i}`, worker([]));
  const site = feed.sites.get("local");
  assert.deepEqual([feed.streams.size, site.workers.size], [1024, 1024]);
  for (let i = 0; i < 1024; i++) send(`w${i}`, worker([], { draining: true }));
  assert.deepEqual([site.workers.size, site.dead.size, site.dead.has("w1023"), site.dead.has("w973")], [0, 50, true, false]);
});
