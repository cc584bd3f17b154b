// What can be told without a browser: reading messages, keeping the past, judging a stream, writing numbers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { arrowScale, significant } from "../src/arrows.js";
import { command } from "../src/commands.js";
import { silence, unused } from "../src/experiment.js";
import { count, duration, ends, fixed, milliseconds, number, percent } from "../src/format.js";
import { History } from "../src/history.js";
import { read } from "../src/message.js";
import { KEPT, LATENTS, MARK } from "../src/objects.js";
import { columns, first } from "../src/objecttable.js";
import { told } from "../src/map.js";
import { evidence } from "../src/pairs.js";
import { SteadyRange, extent, roundStep } from "../src/range.js";
import { share, stepped, within } from "../src/region.js";
import { bins } from "../src/spectrum.js";
import { lawStates, stateColours, stateShade } from "../src/states.js";
import { Stream } from "../src/stream.js";
import { Tint, TINTS, describe, modes } from "../src/tint.js";
import { driftError, trust } from "../src/trust.js";
import { encode, event, health, latent, law } from "./messages.js";

test("numbers have three digits that mean something, and a true minus", () => {
  const cases = [[0, "0.00"], [1, "1.00"], [-0.0412, "−0.0412"], [99.96, "100"], [0.00012, "0.000120"], [187.9, "188"], [12345, "12345"], [1234567, "1.23e+6"], [0.00001, "1.00e−5"], [0.5, "0.500"], [NaN, "–"], [null, "–"], [Infinity, "–"]];
  for (const [value, text] of cases) assert.equal(number(value), text);
  assert.equal(fixed(-1.005, 1), "−1.0");
  assert.equal(count(1234567), "1\u2009234\u2009567");
  assert.equal(milliseconds(0.667), "0.67");
  assert.equal(percent(0.0004), "< 0.1 %");
  assert.equal(percent(0.263), "26 %");
  assert.equal(duration(3725), "1 h 02 min");
});

test("two ends of a scale read differently", () => {
  assert.deepEqual([ends(0.4, 3.2), ends(0.401, 0.404), ends(1, 1)], [["0.40", "3.2"], ["0.401", "0.404"], ["1.0000", "1.0000"]]);
});

test("what is no message is left out", () => {
  assert.equal(read("latent", encode(latent(1))).seq, 1);
  for (const bad of ["", "null", "[]", "{", latent(1, { v: 2 }), latent(1, { kind: "sde" }), latent(1, { z: [] }), latent(1, { z: "1" }), latent(1, { z: new Array(65).fill(0) }), latent(1, { z_sd: [1] }), latent(1, { z: [{}] })]) {
    assert.equal(read("latent", encode(bad)), null);
  }
  const points = { axes: [0, 1], z: [[0, 0]], drift: [[1, 1]], drift_sd: [[1, 1]], scarce: [false] };
  assert.ok(read("sde", encode(law({ drift_field: points }))));
  for (const bad of [{ ...points, axes: [] }, { ...points, drift: [] }, { ...points, z: new Array(5000).fill([0, 0]) }, { ...points, drift: [[1]] }]) {
    assert.equal(read("sde", encode(law({ drift_field: bad }))), null);
  }
  assert.equal(read("event", encode(event("x", "info", { text: "y".repeat(5000) }))), null);
  assert.equal(read("health", encode(health({ stages: new Array(300).fill({}) }))), null);
  assert.equal(read("cmd", encode({ v: 1, kind: "cmd" })), null);
});

test("the past is bounded and begins anew when time goes back", () => {
  const history = new History(1, 4);
  for (let i = 0; i < 10; i++) history.push(i, [i * i]);
  assert.equal(history.length, 4);
  assert.deepEqual(history.window(2, [0]), [[-2, -1, 0], [49, 64, 81]]);
  assert.deepEqual(history.window(100, [0])[1], [36, 49, 64, 81]);
  history.push(3, [null]);
  assert.deepEqual(history.window(100, [0]), [[0], [null]]);
});

test("an axis stands still while its data move within it", () => {
  const range = new SteadyRange();
  const first = range.fit(-1, 1);
  assert.ok(first[0] <= -1 && first[1] >= 1);
  assert.deepEqual(range.fit(-0.8, 0.9), first);
  assert.ok(range.fit(-0.8, 5)[1] >= 5);
  assert.ok(range.fit(-0.1, 0.1)[1] < 1);
  assert.deepEqual(range.fit(Infinity, -Infinity), range.fit(-0.1, 0.1));
  assert.deepEqual([0.3, 1, 1.1, 30].map(roundStep), [0.5, 1, 2, 50]);
  assert.deepEqual(extent([1, null, NaN], [-2]), [-2, 1]);
});

test("a stream keeps no more than it may", () => {
  const stream = new Stream("local", "bead");
  for (let i = 0; i < 5000; i++) stream.take("latent", latent(i), i);
  assert.equal(stream.latents.length, 3600);
  for (let i = 0; i < 1000; i++) stream.take("event", event(`code_${i}`), i);
  assert.equal(stream.events.length, 500);
  for (let i = 0; i < 7; i++) stream.take("event", event("queue_full", "warning", { count: 3 }), i);
  assert.deepEqual([stream.events[0].code, stream.events[0].count], ["queue_full", 21]);
  assert.equal(stream.events.length, 500);
  assert.equal(stream.events[0].from.getTime(), Date.parse("2026-05-06T10:00:00Z"));
});

test("triggers stand among the events, one line for one that goes on and off", () => {
  const stream = new Stream("local", "bead");
  const trigger = (name, on) => ({ v: 1, kind: "trigger", stream: "bead", seq: 1, time: "2026-05-06T10:00:00Z", name, rule: "zone", on, value: 0.25, threshold: 0, unit: "latent" });
  for (const [name, on] of [["left", true], ["left", false], ["left", true], ["fast", true]]) stream.take("trigger", read("trigger", encode(trigger(name, on))), 0);
  assert.deepEqual(stream.events.map((e) => [e.code, e.count, e.text]), [["fast", 1, "trigger, zone, begins: 0.250 of 0.00 latent"], ["left", 2, "trigger, zone, begins: 0.250 of 0.00 latent"]]);
  assert.equal(stream.changed.event, 4);
  assert.equal(read("trigger", encode({ ...trigger("left", true), rule: 1 })), null);
});

const region = (more = {}) => ({ x_px: 208, y_px: 104, width_px: 96, height_px: 96, whole_width_px: 512, whole_height_px: 256, ...more });

test("a region is sent only to where it lies in the picture", () => {
  assert.deepEqual(within(region(), 100.4, 80.6), { x: 100, y: 81 });
  assert.deepEqual(within(region(), -5, 1000), { x: 0, y: 160 });
  assert.deepEqual(within(region({ width_px: 512 }), 7, 7), { x: 0, y: 7 });
  assert.deepEqual(stepped(region(), { x: 10, y: 0 }, "ArrowRight", false), { x: 11, y: 0 });
  assert.deepEqual(stepped(region(), { x: 10, y: 5 }, "ArrowUp", true), { x: 10, y: 0 });
  assert.equal(stepped(region(), { x: 10, y: 5 }, "Home", false), null);
  assert.deepEqual(share(region(), { x: 256, y: 64 }), { left: 50, top: 25, width: 18.75, height: 37.5 });
});

test("the whole picture stays until the next one, or until nothing is cut", () => {
  const stream = new Stream("local", "bead");
  const view = (more) => read("view", encode({ v: 1, kind: "view", stream: "bead", preview_jpeg: "AA==", ...more }));
  stream.take("view", view({ region: region(), whole_jpeg: "first" }), 0);
  stream.take("view", view({ region: region({ x_px: 0 }) }), 0);
  assert.deepEqual([stream.whole, stream.view.region.x_px], ["first", 0]);
  stream.take("view", view({}), 0);
  assert.equal(stream.whole, "");
  for (const bad of [{ x_px: 500 }, { x_px: -1 }, { width_px: 0 }, { whole_width_px: 1e6 }, { y_px: 0.5 }, { height_px: null }]) {
    assert.equal(view({ region: region(bad) }), null);
  }
});

test("the state says what a person should know first", () => {
  const stream = new Stream("local", "bead");
  const word = (now, away = false) => stream.state(now, away).word;
  assert.equal(word(0), "waiting");
  stream.take("health", health(), 1000);
  assert.equal(word(1500), "tracking");
  assert.equal(word(1500, true), "server away");
  assert.equal(word(9000), "silent 8 s");
  stream.take("event", event("command_pause", "info"), 1000);
  assert.equal(word(1500), "paused");
  stream.take("event", event("command_resume", "info"), 1000);
  stream.take("event", event("command_freeze", "info"), 1000);
  assert.equal(word(1500), "law frozen");
  stream.take("event", event("source_lost", "error"), 1000);
  assert.equal(word(1500), "source lost");
  stream.take("event", event("source_back", "info"), 1000);
  stream.take("health", health({ uptime_s: 0.5, frames_in: 1, frames_tracked: 1 }), 1600);
  assert.equal(word(1700), "tracking", "a new run is not frozen");
  stream.take("health", health({ uptime_s: 2, frames_in: 60, frames_tracked: 30, frames_dropped: { paused: 30 } }), 2600);
  assert.equal(word(2700), "paused", "paused before the page was opened");
  stream.law = {};
  stream.take("event", event("command_model", "info"), 2700);
  assert.equal(stream.law, null, "another model has another law");
  assert.equal(word(2700), "paused", "and is as paused as the one before");
  stream.take("health", health({ state: "stopped", problem: "source: it burns", uptime_s: 2.5 }), 3000);
  assert.deepEqual([stream.state(3000).word, stream.state(3000).why], ["failed", "The run has failed: source: it burns"]);
  stream.take("health", health({ state: "stopped", uptime_s: 3 }), 3600);
  assert.equal(word(90000), "ended");
});

test("trust is as good as its worst check", () => {
  const stream = new Stream("local", "bead");
  const judge = () => trust(stream, "good");
  assert.equal(judge().word, "Too early to say");
  stream.take("health", health(), 0);
  stream.take("sde", law({ drift_field: { axes: [0], z: [[0], [1]], drift: [[1], [1]], drift_sd: [[0.1], [9]], scarce: [false, true] } }), 0);
  for (let i = 0; i < 100; i++) stream.take("latent", latent(i), i);
  assert.deepEqual(judge().checks.map((c) => c.tone), ["good", "good", "good", "good", "good"]);
  assert.equal(judge().word, "Yes");
  assert.equal(trust(stream, "bad").word, "Not now");
  stream.take("health", health({ frames_dropped: { queue_full: 5, sink_nats: 90 } }), 1);
  assert.equal(judge().word, "With care");
  stream.take("event", event("unlike_training"), 2);
  assert.equal(judge().word, "Not now");
  stream.take("event", event("unlike_training", "info"), 3);
  assert.equal(judge().word, "With care");
  for (let i = 100; i < 800; i++) stream.take("latent", latent(i, { nis: 20 }), i);
  assert.equal(judge().checks[2].tone, "bad");
});

test("a drift is told from none by its standard error", () => {
  const field = { axes: [0, 1], z: [[0, 0], [1, 0], [2, 0]], drift: [[3, 0], [1, 1], [9, 9]], drift_sd: [[1, 1], [1, 1], [0, 0]], scarce: [false, false, true] };
  assert.deepEqual([0, 1].map((k) => significant(field, k)), [true, false]);
  assert.ok(Math.abs(driftError(field) - Math.sqrt(4 / 11)) < 1e-12);
  assert.ok(Number.isNaN(driftError(null)));
  assert.equal(arrowScale(1.26), "1.3 latent/s");
});

test("every kind of answer to a command is understood", async () => {
  const stream = new Stream("local", "bead");
  const headers = (pairs) => ({ get: (name) => pairs[name] ?? "" });
  const nats = (reply) => ({ request: async (subject) => (assert.equal(subject, "driftscope.local.bead.cmd.pause"), reply()) });
  const fail = (name, message) => () => {
    throw Object.assign(new Error(message), { name });
  };
  const cases = [
    [() => ({ data: encode("ok") }), true, ""],
    [() => ({ data: encode("") }), true, ""],
    [() => ({ data: encode('{"state":"paused"}') }), true, ""],
    [() => ({ data: encode("freeze: this estimator cannot be frozen") }), false, "freeze: this estimator cannot be frozen"],
    [() => ({ data: encode(""), headers: headers({ "Nats-Service-Error": "not now", "Nats-Service-Error-Code": "409" }) }), false, "not now (409)"],
    [fail("PermissionViolationError", "Permissions Violation for Publish"), false, "You may look, but not command: the NATS server refused pause."],
    [fail("NoRespondersError", "no responders"), false, "Nobody takes commands for this stream: it has ended."],
    [fail("TimeoutError", "timeout"), false, "No answer in time: whether the command was applied is not known."],
  ];
  for (const [reply, ok, text] of cases) assert.deepEqual(await command(nats(reply), "driftscope", stream, "pause"), { ok, text });
  assert.equal((await command(null, "driftscope", stream, "pause")).ok, false);
  const sent = [];
  const taker = { request: async (subject, payload) => (sent.push(subject, payload), { data: encode("ok") }) };
  await command(taker, "driftscope", stream, "roi", { x: 12, y: 0 });
  assert.deepEqual(sent, ["driftscope.local.bead.cmd.roi", '{"x":12,"y":0}']);
});

/** A frame of a field; an object is [id, x, y, D, marks]. */
const objects = (seq, list, more = {}) => {
  const column = (i) => list.map((o) => o[i]);
  return { v: 1, kind: "objects", stream: "bead", seq, time: new Date(100 * seq).toISOString(), latency_ms: 3, width_px: 512, height_px: 256, pixel_um: 0, left_out: 0, id: column(0), x_px: column(1), y_px: column(2), sd_px: column(1), diffusion_px2_s: column(3), marks: column(4), ...more };
};
const population = (seq, more = {}) => ({ v: 1, kind: "population", stream: "bead", seq, time: new Date(100 * seq).toISOString(), count: 2, births: 3 * seq, deaths: seq, directed: 0, common_velocity_px_s: [0, null], spectrum: [1], spectrum_px2_s: [1], ...more });
const glance = (stream, m) => {
  const message = read(["latent", "objects"], encode(m));
  stream.take(message.kind, message, 0);
};

test("a glance is a latent or objects, whose columns hold together", () => {
  const fine = [[7, 1.5, 2, null, 0]];
  assert.equal(read(["latent", "objects"], encode(latent(1))).kind, "latent");
  assert.deepEqual(read(["latent", "objects"], encode(objects(1, fine))).id, [7]);
  assert.equal(read("latent", encode(objects(1, fine))), null);
  for (const bad of [{ id: [1, 2] }, { id: [-1] }, { id: [0.5] }, { id: ["7"] }, { marks: [null] }, { x_px: ["1"] }, { y_px: [] }, { diffusion_px2_s: null }, { width_px: 0 }, { height_px: 1e6 }, { pixel_um: null }, { time: "now" }, { seq: -1 }, { z: [1] }, { z: [[]] }, { z: [["1"]] }, { z: [[1], [1, 2]] }, { z: { length: 1 } }, { z: new Array(65).fill([1]) }, { z: [[1]], z_sd: [[true]] }]) {
    assert.equal(read("objects", encode(objects(1, fine, bad))), null, JSON.stringify(bad));
  }
  for (const fit of [{ z: null }, { z: [] }, { z: [[null], [2]], z_sd: [[null], [0.1]] }, { z: new Array(64).fill([1]) }]) assert.ok(read("objects", encode(objects(1, fine, fit))), JSON.stringify(fit));
  const many = Array.from({ length: (1 << 16) + 1 }, (_, i) => [i, 1, 1, 1, 0]);
  assert.equal(read("objects", encode(objects(1, many))), null);
  for (const bad of [{ spectrum: [1, 2] }, { count: "2" }, { noise_px: "x" }, { spectrum_px2_s: new Array(65).fill(1), spectrum: new Array(65).fill(1) }]) {
    assert.equal(read("population", encode(population(1, bad))), null, JSON.stringify(bad));
  }
  assert.equal(read("track", encode({ v: 1, kind: "track", id: 1, change: "ended", why: 5 })), null);
});

/** What a population may say of its law, the force between two objects and the map. */
const states = (more = {}) => ({ state_px2_s: [1, 20], state_px2_s_low: [0.9, 19], state_px2_s_high: [1.1, null], share: [0.25, 0.75], switching_s: [0, 1, 2, 0], spread: 0, switching_nats: 4, says: "two", ...more });
const force = (more = {}) => ({ distance_px: [1], force_px_s: [2], force_px_s_low: [1], force_px_s_high: [3], pairs: [9], nats: 5, ...more });
const cells = (more = {}) => ({ x_px: [8], y_px: [8], width_px: [16], drift_x_px_s: [3], drift_y_px_s: [-4], drift_sd_px_s: [1], diffusion_px2_s: [2], diffusion_sd_px2_s: [1], steps: [99], says: ["a trap"], ...more });

test("a law, a force and a map hold together, or their message is none", () => {
  const sound = (more) => read("population", encode(population(1, more))) !== null;
  for (const fit of [{ law: states() }, { law: null, pairs: null, map: null }, { law: states({ share: [], switching_s: null, state_um2_s: [1, 2] }) }, { pairs: force({ nats: null }) }, { map: cells({ says: null }) }]) assert.ok(sound(fit), JSON.stringify(fit));
  const long = new Array(4097).fill(1);
  const laws = [{ state_px2_s: 1 }, { state_px2_s: new Array(65).fill(1) }, { share: [1] }, { state_px2_s_low: ["1", 2] }, { state_um2_s_high: [1, 2, 3] }, { switching_s: [0, 0, 0, 0, 0] }, { spread: "x" }, { says: 5 }, { says: "y".repeat(5000) }];
  const forces = [{ distance_px: [] }, { force_px_s: null }, { nats: "5" }, { pairs: [{}] }, Object.fromEntries(Object.keys(force({ nats: 1 })).map((name) => [name, long]))];
  const maps = [{ x_px: [1, 2] }, { steps: undefined }, { says: [5] }, { says: "a" }, { says: new Array(257).fill("a") }, { says: ["y".repeat(5000)] }, { ...Object.fromEntries(Object.keys(cells()).map((name) => [name, long])), says: [] }];
  for (const [name, make, list] of [["law", states, laws], ["pairs", force, forces], ["map", cells, maps]]) {
    for (const bad of list) assert.ok(!sound({ [name]: make(bad) }), `${name} ${JSON.stringify(bad).slice(0, 99)}`);
    for (const bad of [5, "x", []]) assert.ok(!sound({ [name]: bad }), `${name} ${bad}`);
  }
  const fine = [[7, 1.5, 2, null, 0]];
  for (const bad of [[1], [[]], [["1"]], [[1], [1, 2]], new Array(65).fill([1]), "x"]) assert.equal(read("objects", encode(objects(1, fine, { state: bad }))), null, JSON.stringify(bad));
  const track = (more) => read("track", encode({ v: 1, kind: "track", id: 1, change: "ended", ...more })) !== null;
  assert.ok(track({ state: [0.5, null], diffusion_shrunk_px2_s: 2, motion: { class: "free", free: 1, radius_px: null } }));
  for (const bad of [{ state: "x" }, { state: new Array(65).fill(0) }, { diffusion_shrunk_px2_s_low: "1" }, { motion: { class: 5 } }, { motion: { class: "free", alpha: "1" } }]) assert.ok(!track(bad), JSON.stringify(bad));
});

test("an object has the colour of the state that it is likeliest in", () => {
  const stream = new Stream("local", "bead");
  const list = [1, 2, 3, 4].map((id) => [id, 0, 0, 1, 0]);
  glance(stream, objects(1, list, { state: [[0.9, 0.1, null, 0.3], [0.1, 0.5, null, 0.3], [0, 0.4, null, 0.4]] }));
  const { columns: c } = stream.objects;
  assert.deepEqual([stream.objects.states, [...c.state.slice(0, 4)]], [3, [0, 1, -1, 2]]);
  const tint = new Tint("state");
  tint.fit(stream.objects);
  assert.deepEqual([0, 1, 2, 3].map((k) => TINTS[tint.of(stream.objects, k)]), [stateColours[0], stateColours[1], "#d0d4da", stateColours[stateShade(2, 0.4)]]);
  assert.notEqual(stateColours[stateShade(2, 0.4)], stateColours[2], "pale where nothing is likely");
  assert.equal(stateColours[stateShade(63, 0.9)], stateColours[63 % 6]);
  assert.deepEqual([modes(1, 3), modes(0, 1)], [["d", "age", "class", "state", "latent 1"], ["d", "age", "class"]]);
  const table = columns(1, 3);
  assert.deepEqual(table.slice(5).map((column) => column.name), ["class", "state", "latent 1"]);
  assert.deepEqual(first(stream.objects, table[6].value, false), [1, 2, 4, 3], "by state, and what is not known last");
  glance(stream, objects(2, list));
  assert.deepEqual([stream.objects.states, c.state[0]], [0, -1], "of an older sender nothing is known");
});

test("states, evidence and what is told from zero", () => {
  assert.deepEqual(lawStates({ law: states() }, 2).map((s) => [s.d, s.low, s.high, s.share, s.shareLow]), [[2, 1.8, 2.2, 0.25, NaN], [40, 38, NaN, 0.75, NaN]]);
  assert.deepEqual([lawStates(null, 1), lawStates({}, 1)], [[], []]);
  assert.deepEqual([4, -4, 1, null].map((nats) => evidence(nats).split(":")[0]), ["A force", "No force", "Not yet told", "Not yet told whether there is a force."]);
  assert.deepEqual([1, 2.5, null].map((sd) => told(cells({ drift_sd_px_s: [sd] }), 0)), [true, false, false], "|v| is 5");
});

test("objects come, go and keep their places through both", () => {
  const stream = new Stream("local", "bead");
  for (let seq = 1; seq <= 100; seq++) {
    const list = [[1, seq, 0, 2, 0], [9, 300 - seq, 5, null, MARK.directed]];
    if (seq % 2) list.unshift([1000 + seq, 0, 0, 1, 0]); // one that ends at once, before the others
    glance(stream, objects(seq, list));
  }
  const field = stream.objects;
  const places = (id, turn) => field.columns.places.subarray(field.placeOf(field.slots.get(id), turn)).slice(0, 2);
  assert.equal(field.count, 2);
  assert.equal(field.slots.size, 2);
  for (let turn = 100; turn > 100 - KEPT; turn--) assert.deepEqual([...places(1, turn), ...places(9, turn)], [turn, 0, 300 - turn, 5]);
  assert.equal(field.turnOf(90), 90);
  assert.equal(field.turnOf(1), 100, "a frame that is not kept: the newest");
  assert.equal(field.trailFrom(100), 80, "two seconds at ten a second");
  assert.equal(Math.round(10 * field.age(field.slots.get(9))), 99);
  field.cut();
  glance(stream, objects(101, [[1, 0, 0, 2, 0], [2, 3, 3, 1, 0]]));
  assert.equal(field.trailFrom(101), 101, "no trail goes over the time that nobody looked");
  assert.equal(field.placeOf(field.slots.get(2), 100), -1, "it was not there yet");
  glance(stream, objects(5, [[4, 0, 0, 2, 0]]));
  assert.deepEqual([field.count, [...field.slots.keys()]], [1, [4]], "another run has other objects");
});

test("memory follows the most objects of two messages", () => {
  const stream = new Stream("local", "bead");
  for (let seq = 1; seq <= 50; seq++) glance(stream, objects(seq, Array.from({ length: 300 }, (_, i) => [1000 * seq + i, i, i, 1, 0]), { z: new Array(64).fill(new Array(300).fill(seq)) }));
  const { count, slots, columns } = stream.objects;
  assert.deepEqual([count, slots.size, columns.id.length, columns.z.length], [300, 300, 1024, 1024 * LATENTS]);
});

test("the latents are those of the object that is followed", () => {
  const stream = new Stream("local", "bead");
  const frame = (seq, followed) => glance(stream, objects(seq, [[1, 5, 5, 2, followed === 1 ? MARK.followed : 0], [2, 9, 9, 2, followed === 2 ? MARK.followed : 0]]));
  frame(1, 1);
  for (let seq = 1; seq < 5; seq++) glance(stream, latent(seq));
  stream.take("sde", law(), 0);
  assert.deepEqual([stream.objects.followed, stream.latents.length, stream.law !== null], [1, 4, true]);
  frame(5, 2);
  assert.deepEqual([stream.objects.followed, stream.latents.length, stream.law], [2, 0, null]);
  stream.take("track", read("track", encode({ v: 1, kind: "track", id: 2, change: "ended", why: "not seen again" })), 0);
  frame(6, 0);
  assert.deepEqual([stream.objects.followed, stream.objects.chosen, stream.objects.fate], [null, 2, "not seen again"]);
  for (const seq of [10, 20]) stream.take("population", read("population", encode(population(seq))), 0);
  assert.deepEqual(stream.objects.turnover.window(9, [0, 1]), [[0], [30], [10]], "born and ended a second");
  const told = (seq, more) => (stream.take("population", read("population", encode(population(seq, more))), 0), stream.objects.population.map?.x_px);
  const map = (x) => ({ x_px: [x], y_px: [1], width_px: [1], drift_x_px_s: [1], drift_y_px_s: [1], drift_sd_px_s: [1], diffusion_px2_s: [1], diffusion_sd_px2_s: [1], steps: [1], says: [] });
  const shown = [told(30, { map_seq: 25 }), told(40, { map_seq: 25, map: map(1) }), told(50, { map_seq: 25 }), told(60, { map_seq: 55 }), told(70, { map_seq: 55, map: map(2) }), told(80, {})];
  assert.deepEqual(shown, [undefined, [1], [1], undefined, [2], undefined], "a map holds until another is named");
  stream.restarted();
  assert.equal(stream.objects, null);
});

test("a colour says how fast, how old or how an object moves", () => {
  const stream = new Stream("local", "bead");
  glance(stream, objects(1, [[1, 0, 0, 0.1, 0], [2, 0, 0, 1000, MARK.directed], [3, 0, 0, null, MARK.predicted | MARK.directed], [4, 0, 0, 0, MARK.doubtful]]));
  const [d, kind] = [new Tint("d"), new Tint("class")];
  for (const tint of [d, kind]) tint.fit(stream.objects);
  const colours = (tint) => [0, 1, 2, 3].map((k) => tint.of(stream.objects, k));
  const [slow, fast, unknown, none] = colours(d);
  assert.ok(slow < fast && unknown > fast && none <= slow, `${colours(d)}`);
  assert.deepEqual(colours(kind).map((t) => t - TINTS.length), [-3, -2, -1, -3]);
  assert.equal(describe(MARK.directed | MARK.merged | MARK.doubtful), "directed, merged, doubtful");
});

/** Three objects of which each frame knows what it says, by id. */
const looks = (stream, seq, ids, ...z) => glance(stream, objects(seq, ids.map((id) => [id, 0, 0, 1, 0]), z.length ? { z, z_sd: z } : {}));
const known = ({ objects: o }, l) => Object.fromEntries(Array.from(o.slots, ([id, k]) => [id, o.latent(k, l)]));

test("an object keeps its last known latents until it ends or another model looks", () => {
  const stream = new Stream("local", "bead");
  looks(stream, 1, [1, 2, 3], [1, -2, null], [4, null, 6]);
  looks(stream, 2, [3, 2, 1], [null, null, 7], [8, 9, null]);
  assert.deepEqual([known(stream, 0), known(stream, 1)], [{ 1: 7, 2: -2, 3: NaN }, { 1: 4, 2: 9, 3: 8 }]);
  looks(stream, 3, [2, 3], [null, null], [null, null]);
  assert.deepEqual(known(stream, 1), { 2: 9, 3: 8 }, "whoever takes a slot brings what is known of it");
  looks(stream, 4, [2, 3, 4], [null, null, null], [null, null, null]);
  assert.deepEqual(known(stream, 1), { 2: 9, 3: 8, 4: NaN }, "a slot's last owner is forgotten");
  looks(stream, 5, [2, 3, 4]);
  assert.equal(stream.objects.latents, 0);
  looks(stream, 6, [2, 3, 4], [null, null, 1], [null, null, 1]);
  assert.deepEqual(known(stream, 1), { 2: NaN, 3: NaN, 4: 1 }, "other latents are another model's");
  looks(stream, 7, [2], ...new Array(9).fill([1]));
  assert.equal(stream.objects.latents, LATENTS);
});

test("a colour says what an object looks like, while messages say it", () => {
  const stream = new Stream("local", "bead");
  looks(stream, 1, [1, 2, 3, 4], [5, -5, 0, null], [1, 2, 3, 4]);
  assert.deepEqual(modes(stream.objects.latents), ["d", "age", "class", "latent 1", "latent 2"]);
  const tint = new Tint("latent 1");
  const colours = () => (tint.fit(stream.objects), [0, 1, 2, 3].map((k) => tint.of(stream.objects, k)));
  const [high, low, middle, unknown] = colours();
  assert.ok(low < middle && middle < high && high < unknown, `${colours()}`);
  assert.equal(TINTS[unknown], "#d0d4da");
  looks(stream, 2, [1, 2, 3, 4], [null, null, null, 5], [1, 2, 3, 4]);
  assert.deepEqual(colours(), [high, low, middle, high], "the last known, and one that was not known before");
});

test("a table is sorted by a latent, and what is not known comes last either way", () => {
  const stream = new Stream("local", "bead");
  assert.equal(columns(0).length, 6);
  looks(stream, 1, [1, 2, 3, 4, 5], [2, null, -1, 7, -1], [0, 0, 0, 0, 0]);
  const table = columns(stream.objects.latents);
  assert.deepEqual(table.slice(6).map((c) => c.name), ["latent 1", "latent 2"]);
  assert.deepEqual([false, true].map((down) => first(stream.objects, table[6].value, down)), [[3, 5, 1, 4, 2], [4, 1, 3, 5, 2]]);
  assert.deepEqual(first(stream.objects, table[7].value, true), [1, 2, 3, 4, 5], "of one value: by number");
});

test("a spectrum is shown without its empty ends, in the unit that is known", () => {
  const p = { spectrum_px2_s: [1, 10, 100, 1000], spectrum: [0.001, 0.5, 0.499, 0] };
  assert.deepEqual(bins(p, 1).map((b) => [b.from, b.to, b.share]), [[1, 2, 0.5], [2, 3, 0.499]]);
  assert.equal(bins(p, 100)[0].from, 3);
  assert.deepEqual(bins({ spectrum_px2_s: [2, 1], spectrum: [1, 1] }, 1), [], "edges that do not rise");
  assert.deepEqual(bins({ spectrum_px2_s: [1, 10], spectrum: [0, 0] }, 1), [], "nothing yet");
});

test("an experiment says which cameras its law is of, and who is silent", () => {
  const camera = (stream, more = {}) => ({ stream, heard: "2026-05-06T10:00:00Z", silences: 0, ...more });
  const of = (cameras, more = {}) => health({ time: "2026-05-06T10:01:30Z", cameras, ...more });
  for (const bad of [5, [null], [camera(5)], [camera("left", { heard: "yesterday" })], [camera("left", { left_out: 5 })], [camera("left", { silences: -1 })], [camera("left", { silences: undefined })], new Array(65).fill(camera("left"))]) {
    assert.equal(read("health", encode(of(bad))), null, JSON.stringify(bad).slice(0, 99));
  }
  assert.equal(read("health", encode(of([camera("left")], { time: undefined }))), null);
  const stream = new Stream("local", "plate");
  const take = (cameras, more) => stream.take("health", read("health", encode(of(cameras, more))), 1000);
  const says = () => [stream.state(1000).word, stream.state(1000).tone];
  stream.take("health", health(), 1000);
  assert.equal(stream.experiment, false);
  take([camera("left", { heard: undefined, left_out: "not heard yet" })], { state: "starting" });
  assert.deepEqual([stream.experiment, ...says()], [true, "starting", "idle"]);
  assert.ok(Number.isNaN(silence(stream.health.cameras[0], stream.health)));
  take([camera("left"), camera("right", { heard: "2026-05-06T10:01:00Z" })]);
  assert.deepEqual(says(), ["2 of 2 cameras", "good"]);
  assert.deepEqual(stream.health.cameras.map((c) => silence(c, stream.health)), [90, 30]);
  take([camera("left", { left_out: "silent for 1m0s" }), camera("right")]);
  assert.deepEqual(says(), ["1 of 2 cameras", "warn"]);
  assert.equal(stream.state(1000).why, "Left out: left: silent for 1m0s");
  take([camera("left", { left_out: "silent for 1m0s" })], { state: "source_lost" });
  assert.deepEqual(says(), ["no camera", "bad"]);
  assert.equal(stream.state(9000).word, "silent 8 s", "a pool that was killed");
  take([camera("left")], { state: "stopped" });
  assert.equal(stream.state(90000).word, "ended");
  assert.equal(unused(stream.health), "");
  assert.equal(unused({ frames_dropped: { unreadable: 3, left_out: 1200, queue_full: 0 } }), "Records without effect: 3 unreadable, 1\u2009200 left out.");
  stream.take("population", population(1), 1000);
  assert.equal(stream.population.count, population(1).count);
});
