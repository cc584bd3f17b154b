// What happened, newest first; warnings and errors are also read out. A line that is there stays: only new ones are made.

import { find, make, repeat, say } from "./elements.js";
import { clock, count, words } from "./format.js";

const MARKS = { info: "○", warning: "▲", error: "■" };
const TONES = { info: "idle", warning: "warn", error: "bad" };
const RANKS = { warning: 1, error: 2 }; // others are 0
const LEAST = ["all", "warnings", "errors"]; // what is shown: from which rank on

const rank = (event) => RANKS[event.level] ?? 0;

export class EventList {
  constructor(list, none, announcer) {
    Object.assign(this, { list, none, announcer, version: "", whole: "", newest: 0, least: 0 });
    this.buttons = repeat(find("#levels"), LEAST.length, (i) => {
      const button = make("button", "", LEAST[i]);
      button.type = "button";
      button.addEventListener("click", () => this.choose(i));
      return button;
    });
    this.choose(0);
  }

  /** Shows events from a rank on; the others only hide. */
  choose(least) {
    this.least = least;
    this.version = "";
    this.list.dataset.least = least;
    Array.from(this.buttons).forEach((button, i) => button.setAttribute("aria-pressed", i === least));
  }

  draw(stream) {
    const version = `${stream.key} ${stream.changed.event} ${stream.changed.inserted}`;
    if (version === this.version) return;
    this.version = version;
    this.fill(stream);
    const shown = stream.events.filter((event) => rank(event) >= this.least).length;
    this.none.hidden = shown > 0;
    say(this.none, stream.events.length ? `None of ${count(stream.events.length)} events is that severe.` : "Nothing yet.");
    const newest = stream.events[0];
    if (newest && newest.level !== "info") say(this.announcer, `${newest.level}: ${words(newest.code)}. ${newest.text}`);
  }

  /** Adds the lines that are new, in place of those that they continue. */
  fill({ key, changed, events }) {
    const whole = `${key} ${changed.inserted}`;
    if (whole !== this.whole) this.list.replaceChildren(), (this.newest = 0);
    this.whole = whole;
    const known = events.findIndex((event) => event.number <= this.newest);
    const fresh = this.newest && known >= 0 ? events.slice(0, known) : events;
    if (fresh === events) this.list.replaceChildren();
    const since = fresh.at(-1)?.since ?? Infinity;
    while (Number(this.list.firstElementChild?.dataset.number) >= since) this.list.firstElementChild.remove();
    this.list.prepend(...fresh.map(item));
    while (this.list.children.length > events.length) this.list.lastElementChild.remove();
    this.newest = events[0]?.number ?? 0;
  }
}

function item(event) {
  const time = make("time", "", clock(event.date));
  time.title = Number.isNaN(event.date.getTime()) ? "" : event.date.toISOString();
  const li = make("li", "event", make("span", "mark", MARKS[event.level] ?? "○"), time, make("div", "", title(event), make("p", "", event.text)));
  li.dataset.tone = TONES[event.level] ?? "idle";
  Object.assign(li.dataset, { number: event.number, rank: rank(event) });
  return li;
}

function title(event) {
  const name = make("strong", "", words(event.code));
  if (event.count > 1) name.append(make("span", "quiet", ` × ${event.count}`));
  return name;
}
