// All streams of a site and its workers, in two tables.

import { find, keyed, make, say } from "./elements.js";
import { clock, count, duration, fixed } from "./format.js";
import { foremost, oddVersions } from "./site.js";

const MARKS = { good: "●", warn: "▲", bad: "■", idle: "○" };
const ROWS = 500; // more cannot be looked through
const MOVED = 8; // streams of a worker that is gone whose places are told
const LONGEST = 300; // characters of a reason; the whole is in its title

export class SitePanels {
  /** choose takes the stream whose name was pressed. */
  constructor(choose) {
    this.choose = choose;
    this.word = "";
  }

  draw(site, now, away) {
    const { crew, rows, state } = site.look(now, away);
    const dead = Array.from(site.dead.values()).reverse();
    this.cards(crew, rows, dead);
    this.streams(rows);
    this.workers(crew, dead, new Map(rows.map((row) => [row.name, row.place?.worker.name])));
    say(find("#site-note"), this.notes(site, rows));
    const { word, tone, why } = state;
    if (tone !== "good" && word.replace(/\d+ s/, "") !== this.word) say(find("#announcer"), `${word}. ${why}`);
    this.word = word.replace(/\d+ s/, "");
  }

  cards(crew, rows, dead) {
    const heard = crew.filter((worker) => !worker.silent);
    const sum = (name) => heard.reduce((total, { record }) => total + (record[name] ?? 0), 0);
    const of = (n, what) => (n ? [`${count(n)} ${what}`] : []);
    const tones = (tone) => rows.filter((row) => row.state.tone === tone).length;
    const [waiting, bad] = [rows.filter((row) => row.state.word === "nobody can run it").length, tones("bad")];
    say(find("#site-streams-many"), `${count(tones("good") + tones("warn"))} of ${count(rows.length)} run`);
    say(find("#site-streams-more"), [...of(waiting, "that nobody can run"), ...of(bad - waiting, "failed or silent"), ...of(tones("idle"), "starting or ended")].join(" · ") || "none in trouble");
    say(find("#site-workers-many"), count(heard.length));
    say(find("#site-workers-more"), [...of(crew.length - heard.length, "silent"), ...of(heard.filter(({ record }) => record.draining).length, "handing over"), ...of(dead.length, "gone")].join(" · ") || "all at work");
    say(find("#site-cores"), `${cores(sum("cores_taken"))} of ${cores(sum("cores"))} taken`);
    say(find("#site-cores-more"), `${fixed(sum("cores_used"), 1)} in use`);
  }

  streams(rows) {
    const listed = foremost(rows, ROWS);
    const trs = keyed(find("#site-streams"), listed.map((row) => row.name), () => this.streamRow());
    listed.forEach((row, i) => {
      const [name, worker, since, epoch, state, fps, why] = trs[i].cells;
      const button = name.firstElementChild;
      trs[i].dataset.tone = row.state.tone;
      this.streamOf.set(button, row.stream);
      say(button, row.name);
      button.disabled = !row.stream;
      button.setAttribute("aria-label", `Show stream ${row.name}`);
      say(worker, row.place?.worker.name ?? "–");
      worker.classList.toggle("faded", Boolean(row.place?.worker.silent));
      say(since, row.place ? duration(row.place.seconds) : "–");
      since.title = row.place ? `since ${row.place.running.since}, by the clock of ${row.place.worker.name}` : "";
      say(epoch, row.epoch ? count(row.epoch) : "–");
      say(state.firstElementChild, MARKS[row.state.tone]);
      say(state.lastElementChild, ` ${row.state.word}`);
      say(fps, fixed(row.fps, 1));
      say(why, row.state.why.slice(0, LONGEST));
      why.title = row.state.why.slice(0, 4096);
    });
  }

  streamOf = new WeakMap(); // button -> the stream that it shows

  streamRow() {
    const button = make("button", "id");
    button.type = "button";
    button.addEventListener("click", () => this.choose(this.streamOf.get(button)));
    return make("tr", "", make("td", "", button), make("td"), make("td", "number"), make("td", "number"), make("td", "", make("span", "mark"), make("span")), make("td", "number"), make("td", "why"));
  }

  /** Workers, and below them those that are gone; placed has who runs each stream now. */
  workers(crew, dead, placed) {
    find("#no-workers").hidden = crew.length > 0;
    const listed = crew.slice(0, ROWS);
    const trs = keyed(find("#workers"), [...listed, ...dead].map((worker) => worker.name), workerRow);
    dead.forEach((worker, i) => deadWorker(trs[listed.length + i], worker, placed));
    listed.forEach(({ name, record, silent, tone, word, odd, up }, i) => {
      const [named, state, bar, taken, used, streams, labels, version, since] = trs[i].cells;
      trs[i].dataset.tone = tone;
      trs[i].classList.toggle("gone", silent > 0);
      bar.firstElementChild.hidden = false;
      say(named, name);
      say(state.firstElementChild, MARKS[tone]);
      say(state.lastElementChild, ` ${word}`);
      const [interval, tick] = bar.firstElementChild.children;
      interval.style.left = "0%";
      interval.style.right = `calc(100% - ${share(record.cores_taken, record.cores)})`;
      tick.style.left = share(record.cores_used, record.cores);
      say(taken, `${cores(record.cores_taken)} of ${cores(record.cores)}`);
      say(used, fixed(record.cores_used, 1));
      say(streams, count(record.streams.length));
      say(labels, record.labels?.join(", ").slice(0, LONGEST) || "–");
      say(version.firstElementChild, odd ? "▲" : "");
      say(version.lastElementChild, record.version.slice(0, 40));
      version.dataset.tone = odd ? "warn" : "idle";
      version.title = odd ? "Other workers of this site have another version." : "";
      say(since, duration(up));
      since.title = `since ${record.since}, by its own clock`;
    });
    const versions = new Set(crew.map(({ record }) => record.version));
    const mixed = oddVersions(crew.map(({ record }) => record.version)).size > 0;
    say(find("#workers-note"), mixed ? `▲ Workers of ${versions.size} versions: where one cannot read the law that another kept, the law begins anew.` : "");
  }

  notes(site, rows) {
    const late = site.late();
    const parts = rows.length > ROWS ? [`${count(ROWS)} of ${count(rows.length)} streams, those in trouble first.`] : [];
    if (late) parts.push(`Passed over: ${count(late)} messages of workers that have lost their stream to another.`);
    return parts.join(" ");
  }
}

/** Cores are mostly whole. */
const cores = (n) => (Number.isInteger(n) ? count(n) : fixed(n, 1));

const share = (part, whole) => `${(100 * Math.min(Math.max(part / whole, 0) || 0, 1)).toFixed(1)}%`;

/** A worker that is gone: since when by its own clock, why, and who runs its streams now. */
function deadWorker(tr, { name, record, why }, placed) {
  const [named, state, bar, taken, used, streams, labels, version, up] = tr.cells;
  tr.dataset.tone = record.draining ? "idle" : "bad";
  tr.classList.add("gone");
  say(named, name);
  say(state.firstElementChild, MARKS[tr.dataset.tone]);
  say(state.lastElementChild, ` gone since ${clock(new Date(record.time))}`);
  bar.firstElementChild.hidden = true;
  for (const cell of [taken, used, up]) say(cell, "–");
  say(streams, count(record.streams.length));
  const moved = record.streams.slice(0, MOVED).map((s) => `${s.name} → ${placed.get(s.name) ?? "nobody"}`);
  say(labels, [why, ...moved, ...(record.streams.length > MOVED ? ["…"] : [])].join("; "));
  say(version.firstElementChild, "");
  say(version.lastElementChild, record.version.slice(0, 40));
}

function workerRow() {
  const bar = make("div", "track", make("span", "interval"), make("span", "tick"));
  return make("tr", "", make("td", "name"), make("td", "", make("span", "mark"), make("span")), make("td", "cores", bar), make("td", "number"), make("td", "number"), make("td", "number"), make("td", "labels"), make("td", "", make("span", "mark"), make("span")), make("td", "number"));
}
