// What happened, newest first; warnings and errors are also read out.

import { make, say } from "./elements.js";
import { clock, words } from "./format.js";

const LISTED = 60;
const MARKS = { info: "○", warning: "▲", error: "■" };
const TONES = { info: "idle", warning: "warn", error: "bad" };

export class EventList {
  constructor(list, none, announcer) {
    Object.assign(this, { list, none, announcer, version: "" });
  }

  draw(stream) {
    const version = `${stream.key} ${stream.changed.event}`;
    if (version === this.version) return;
    this.version = version;
    this.none.hidden = stream.events.length > 0;
    this.list.replaceChildren(...stream.events.slice(0, LISTED).map(item));
    const newest = stream.events[0];
    if (newest && newest.level !== "info") say(this.announcer, `${newest.level}: ${words(newest.code)}. ${newest.text}`);
  }
}

function item(event) {
  const li = make("li", "event", make("span", "mark", MARKS[event.level] ?? "○"), make("time", "", clock(event.date)), make("div", "", title(event), make("p", "", event.text)));
  li.dataset.tone = TONES[event.level] ?? "idle";
  return li;
}

function title(event) {
  const name = make("strong", "", words(event.code));
  if (event.count > 1) name.append(make("span", "quiet", ` × ${event.count}`));
  return name;
}
