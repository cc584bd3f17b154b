// An experiment of several cameras: the law of all in words, which cameras it is of, and when each was last heard.

import { find, make, repeat, say } from "./elements.js";
import { count, duration, words } from "./format.js";
import { amount } from "./verdict.js";

/** The state of an experiment in a word, and why; its health has cameras. */
export function experimentState({ state, cameras }) {
  const out = cameras.filter((c) => c.left_out);
  const why = out.map((c) => `${c.stream}: ${c.left_out}`).join("; ").slice(0, 500);
  if (state === "starting") return { word: "starting", tone: "idle", why: `No camera's law is known yet: ${why}` };
  if (out.length === cameras.length) return { word: "no camera", tone: "bad", why: `The law is the last one, and no camera's any more: ${why}` };
  const word = `${cameras.length - out.length} of ${cameras.length} cameras`;
  return out.length ? { word, tone: "warn", why: `Left out: ${why}` } : { word, tone: "good", why: "The law is that of all cameras." };
}

/** Seconds since a camera was last heard, by the clock of who heard it; NaN where it never was. */
export const silence = (camera, health) => Math.max(0, (Date.parse(health.time) - Date.parse(camera.heard)) / 1000);

/** Records that are not in the law, by cause. */
export function unused({ frames_dropped: dropped }) {
  const causes = Object.entries(dropped ?? {}).filter(([, n]) => n > 0);
  return causes.length ? `Records without effect: ${causes.map(([cause, n]) => `${count(n)} ${words(cause).slice(0, 40)}`).join(", ")}.` : "";
}

export function drawExperiment({ health, population }) {
  const { cameras } = health;
  const inside = cameras.filter((c) => !c.left_out).length;
  say(find("#pooled"), `${inside} of ${cameras.length}`);
  say(find("#pooled-more"), population ? `${count(population.count)} objects · ${count(population.law?.steps)} steps` : "–");
  drawLaw(population);
  const rows = repeat(find("#cameras"), cameras.length, () => make("tr", "", make("td", "name"), make("td", "", make("span", "mark"), make("span")), make("td", "number"), make("td", "number")));
  cameras.forEach((camera, i) => {
    const [name, law, heard, silences] = rows[i].cells;
    rows[i].dataset.tone = camera.left_out ? "warn" : "good";
    say(name, camera.stream.slice(0, 64));
    say(law.firstElementChild, camera.left_out ? "▲" : "●");
    say(law.lastElementChild, ` ${camera.left_out || "in the law"}`);
    say(heard, camera.heard ? `${duration(silence(camera, health))} ago` : "never");
    say(silences, count(camera.silences));
  });
  say(find("#cameras-note"), unused(health));
}

function drawLaw(population) {
  const [value, low, high] = ["", "_low", "_high"].map((end) => population?.[`diffusion_um2_s${end}`]);
  if (Number.isFinite(value)) amount(find("#pooled-d"), { name: "D", value, low, high, unit: "µm²/s" });
  else say(find("#pooled-d"), "–");
  say(find("#pooled-says"), population?.law?.says ?? "the law appears with the next record of a camera");
}
