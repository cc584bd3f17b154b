// Finished results and films that a person opens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Tiff, frameTimes } from "../src/films.js";
import { Recorded } from "../src/recorded.js";
import { Stream } from "../src/stream.js";
import { table } from "../src/tables.js";
import { event, health, latent, law } from "./messages.js";

const file = (name, text) => new File([text], name);

test("a table of places is read frame by frame", async () => {
  const places = await table(file("t.csv", '"frame",particle,y,x,diffusion_px2_s\r\n3,1,2,1,0.5\r\n0,2,4,30.5,\n3,0,9,8,7\n'));
  assert.deepEqual([places.length, places.number(1), places.size, places.known()], [2, 3, { width: 31, height: 10 }, []]);
  const [m] = places.messages(1);
  assert.deepEqual([m.id, m.x_px, m.y_px, m.diffusion_px2_s, m.marks], [[0, 1], [8, 1], [9, 2], [7, 0.5], [0, 0]]);
  const stream = new Stream("file", "t");
  for (const k of [0, 1]) for (const message of places.messages(k)) stream.take(message.kind, message, 0);
  assert.deepEqual([stream.objects.count, stream.objects.seq], [2, 3]);
  for (const [text, why] of [["a,b\n1,2\n", /expected frame, particle, x and y/], ["frame,particle,x,y\n", /no row/], ["frame,particle,x,y\n0.5,1,1,1\n", /line 2: found 0.5,1,1,1/], ["frame,particle,x,y\n0,1,1,1\n0,1,2,2\n", /particle 1 is twice in frame 0/], ["frame,particle,x,y\n0,1,,2\n", /line 2/]]) {
    await assert.rejects(table(file("t.csv", text)), why);
  }
  await assert.rejects(table({ name: "t.csv", size: 2 ** 40 }), /driftscope view/);
});

test("the messages of a run are read at any frame", async () => {
  const lines = [health(), event("begun", "info"), latent(0), law({ seq: 0 }), latent(1), "no message", latent(2), law({ seq: 2, sigma: [7, 7] }), event("late", "info"), latent(3), event("stream_ended", "info")];
  const run = await table(file("r.jsonl", lines.map((m) => (typeof m === "string" ? m : JSON.stringify(m))).join("\n")));
  assert.deepEqual([run.length, run.number(2), run.unreadable], [4, 2, 1]);
  assert.deepEqual([0, 1, 2, 3].map((i) => run.messages(i).map((m) => m.kind)), [["health", "event", "latent"], ["sde", "latent"], ["latent"], ["sde", "event", "latent", "event"]]);
  assert.deepEqual(run.known(2).map((m) => m.code ?? m.kind), ["begun", "health", "sde"]);
  await assert.rejects(table(file("r.jsonl", JSON.stringify(health()))), /no message of a frame/);
  const recorded = new Recorded("r", run, null);
  recorded.seek(99);
  assert.deepEqual([recorded.at, recorded.latent.seq, recorded.law.sigma[0], recorded.latents.length], [3, 3, 7, 4]);
  recorded.seek(1);
  assert.deepEqual([recorded.latent.seq, recorded.law.sigma[0], recorded.latents.length, recorded.events.map((e) => e.code)], [1, 1, 2, ["begun"]], "backwards, as at the first time");
  recorded.seek(2);
  assert.deepEqual([recorded.latents.length, recorded.state().word, recorded.ending()], [3, "recorded", ""]);
});

/** A TIFF of two grey pictures of 2 × 1 px. */
function tiff({ bits = 16, compression = 1, little = true } = {}) {
  const view = new DataView(new ArrayBuffer(400));
  view.setUint16(0, little ? 0x4949 : 0x4d4d);
  view.setUint16(2, 42, little);
  view.setUint32(4, 16, little);
  [16, 200].forEach((at, p) => {
    const entries = [[256, 3, 2], [257, 3, 1], [258, 3, bits], [259, 3, compression], [262, 3, 1], [273, 4, 8 + 4 * p], [279, 4, bits / 4]];
    view.setUint16(at, entries.length, little);
    entries.forEach(([tag, type, value], i) => {
      const from = at + 2 + 12 * i;
      view.setUint16(from, tag, little), view.setUint16(from + 2, type, little), view.setUint32(from + 4, 1, little);
      if (type === 3) view.setUint16(from + 8, value, little);
      else view.setUint32(from + 8, value, little);
    });
    view.setUint32(at + 2 + 12 * entries.length, p ? 0 : 200, little);
    [100, 200].forEach((grey, k) => (bits === 16 ? view.setUint16(8 + 4 * p + 2 * k, 300 * p + grey, little) : view.setUint8(8 + 4 * p + k, grey + p)));
  });
  return view.buffer;
}

test("grey TIFF is read, and what is none says so", () => {
  for (const little of [true, false]) {
    const film = new Tiff(tiff({ little }));
    assert.deepEqual([film.length, film.width, film.height, film.pages.map((page) => [...film.grey(page)])], [2, 2, 1, [[100, 200], [400, 500]]]);
  }
  assert.deepEqual([...new Tiff(tiff({ bits: 8 })).grey(new Tiff(tiff({ bits: 8 })).pages[1])], [101, 201]);
  assert.throws(() => new Tiff(tiff({ compression: 5 })), /without compression/);
  assert.throws(() => new Tiff(new ArrayBuffer(3)), /no TIFF/);
  assert.equal(new Tiff(tiff().slice(0, 210)).length, 1, "one that is cut off has the pages before");
  const loop = tiff();
  new DataView(loop).setUint32(200 + 2 + 12 * 7, 16, true);
  assert.throws(() => new Tiff(loop), /lead back/);
});

test("a film's own tables say when a frame is shown", () => {
  const box = (type, ...parts) => {
    const content = parts.flat();
    return [...u32(8 + content.length), ...Array.from(type, (c) => c.charCodeAt(0)), ...content];
  };
  const u32 = (...numbers) => numbers.flatMap((n) => [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255]);
  const track = (type, ...more) => box("trak", box("mdia", box("hdlr", u32(0, 0), Array.from(type, (c) => c.charCodeAt(0))), box("mdhd", u32(0, 0, 0, 100, 0)), box("minf", box("stbl", box("stts", u32(0, 2, 3, 10, 1, 20)), ...more))));
  const bytes = (...parts) => Uint8Array.from(parts.flat()).buffer;
  assert.deepEqual(frameTimes(bytes(box("ftyp", []), box("moov", track("soun"), track("vide")))), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(frameTimes(bytes(box("moov", track("vide", box("ctts", u32(0, 3, 1, 10, 1, 20, 2, 0)))))), [0, 0.1, 0.2, 0.2], "in the order that they are shown");
  for (const bad of [bytes([]), bytes(box("moov", track("soun"))), bytes(box("moov", track("vide"))).slice(0, 60)]) assert.throws(() => frameTimes(bad), /no pictures/);
});
