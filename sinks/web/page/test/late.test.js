// What a page knows that is opened late or left open after the end, and where the zones of rules are.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rulesOf, snapshot } from "../src/message.js";
import { Stream } from "../src/stream.js";
import { limits, round, zonesOf } from "../src/zones.js";
import { encode, event, health, latent, law } from "./messages.js";

test("what came before somebody looked is taken, and nothing older than what is there", () => {
  const all = { v: 1, kind: "snapshot", stream: "bead", latent: latent(9), sde: law(), health: health(), view: { v: 1, kind: "view", seq: 9, preview_jpeg: "AA==" }, objects: 5, events: [event("first", "info"), 7, event("unlike_training"), event("stream_ended", "info")] };
  const told = snapshot(encode(all));
  assert.deepEqual([told.last.map((m) => m.kind), told.events.map((e) => e.code)], [["latent", "sde", "view"], ["first", "unlike_training", "stream_ended"]]);
  for (const bad of ["", "null", "5", { events: 5 }, { events: new Array(999).fill(5) }]) assert.deepEqual(snapshot(encode(bad)), { last: [], events: [] });
  const late = new Stream("local", "bead");
  late.take("health", health({ state: "stopped" }), 0);
  assert.match(late.ending(0, false), /^The run ended before this page was opened, without an error\. It had tracked 100 frames in 1 s\. .* Start runs it again\.$/);
  late.catchUp(told, 0);
  assert.deepEqual([late.latent.seq, late.law.sigma[0], late.view.seq, late.alarms.size, late.events.map((e) => e.code)], [9, 1, 9, 1, ["stream_ended", "unlike_training", "first"]]);
  assert.match(late.ending(0, false), /^The run ended at \d\d:\d\d:\d\d, without an error/);
  late.take("latent", latent(12), 0);
  late.take("event", event("now", "info", { time: "2026-05-06T11:00:00Z" }), 0);
  late.catchUp(snapshot(encode({ ...all, events: [...all.events, event("missed", "info", { time: "2026-05-06T10:30:00Z" })] })), 0);
  assert.deepEqual([late.latent.seq, late.events.map((e) => e.code)], [12, ["now", "missed", "stream_ended", "unlike_training", "first"]], "each once, and where it belongs");
});

test("why what is shown is not of now", () => {
  const stream = new Stream("local", "bead");
  stream.take("health", health({ time: "2026-05-06T10:00:01Z" }), 1000);
  assert.equal(stream.ending(1500, false), "");
  assert.match(stream.ending(9000, false), /^Last heard at \d\d:\d\d:01\./);
  assert.match(stream.ending(1500, true), /^Last heard at/);
  stream.take("event", event("command_stop", "info"), 1600);
  stream.take("health", health({ state: "stopped", time: "2026-05-06T10:00:02Z" }), 2000);
  assert.match(stream.ending(2000, false), /^The run ended at \d\d:\d\d:02, because somebody stopped it\./);
  assert.match(stream.ending(2000, true), /The program has ended too: run --stay keeps it\.$/);
  assert.equal(stream.state(2000, true).word, "ended", "an end is no loss of the server");
  stream.take("health", health({ state: "stopped", problem: "source: it burns" }), 3000);
  assert.match(stream.ending(3000, false), /:02: source: it burns\. /);
  stream.take("event", event("command_start", "info"), 3500);
  stream.take("health", health({ uptime_s: 0.1 }), 4000);
  assert.deepEqual([stream.ending(4000, false), stream.stale], ["", true], "another run is asked again for what it is");
});

test("zones are where their rules say, and hold while a trigger says so", () => {
  const rules = rulesOf(encode({ rules: [
    { zone: { name: "edge", centroid_px: { x: [10, 20], y: [0, 40] } } }, { speed: { name: "fast", drift: 2 } }, { zone: { name: "strip", box: { z2: [1, 2] } } }, { zone: { name: "disc", object: "any", ball: { centre: { z1: 5, z2: 6 }, radius: 3 } } },
    { zone: { name: 5, box: { z1: [0, 1] } } }, { zone: { name: "bad", box: { z1: ["0", 1] } } }, { zone: { name: "none", ball: { centre: { z1: 0 }, radius: -1 } } }, { zone: { name: "far", box: { "<b>": [0, 1] } } }, 5, null,
  ] }));
  const zones = zonesOf(rules);
  assert.deepEqual(zones.map((z) => [z.name, z.px, limits(z, 0), limits(z, 1), round(z, 0, 1)]), [
    ["edge", true, [10, 20], [0, 40], false], ["strip", false, [-Infinity, Infinity], [1, 2], false], ["disc", true, [2, 8], [3, 9], true],
  ]);
  assert.deepEqual([rulesOf(encode({ rules: 5 })), rulesOf(encode("x")), zonesOf(new Array(99).fill(rules[0])).length], [[], [], 32]);
  const stream = new Stream("local", "bead");
  const trigger = (name, on) => stream.take("trigger", { name, rule: "zone", on, value: 1, threshold: 0 }, 0);
  for (const [name, on] of [["edge", false], ["edge", true], ["edge", true], ["edge", false], ["disc", true], ["disc", false]]) trigger(name, on);
  assert.deepEqual([...stream.inside], [["edge", 1], ["disc", 0]]);
  for (let i = 0; i < 999; i++) trigger(`r${i}`, true);
  assert.equal(stream.inside.size, 64);
});
