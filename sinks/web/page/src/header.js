// The bar of streams, the state of the one that is shown, and its plain figures.

import { find, make, repeat, say } from "./elements.js";
import { count, duration, fixed, milliseconds, percent } from "./format.js";
import { lost } from "./stream.js";

const MARKS = { good: "●", warn: "▲", bad: "■", idle: "○" };

export class Header {
  constructor(choose) {
    this.choose = choose;
    this.tabs = find("#streams");
    this.tabs.addEventListener("keydown", (event) => this.arrow(event));
  }

  /** Lists the streams; several sites are told apart. */
  streams(streams, shown, now, away) {
    const sites = new Set(streams.map((s) => s.site)).size > 1;
    const tabs = repeat(this.tabs, streams.length, () => {
      const tab = make("button", "", make("span", "mark"), make("span"));
      tab.type = "button";
      tab.setAttribute("role", "tab");
      tab.addEventListener("click", () => this.choose(Array.from(this.tabs.children).indexOf(tab)));
      return tab;
    });
    streams.forEach((stream, i) => {
      const { tone, word } = stream.state(now, away);
      tabs[i].dataset.tone = tone;
      tabs[i].setAttribute("aria-selected", stream === shown);
      tabs[i].tabIndex = stream === shown ? 0 : -1;
      tabs[i].title = word;
      say(tabs[i].firstElementChild, MARKS[tone]);
      say(tabs[i].lastElementChild, sites ? `${stream.site} / ${stream.name}` : stream.name);
    });
  }

  arrow(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const tabs = Array.from(this.tabs.children);
    const at = tabs.indexOf(document.activeElement);
    if (!step || at < 0) return;
    const next = (at + step + tabs.length) % tabs.length;
    this.choose(next);
    tabs[next].focus();
  }

  state({ word, tone, why }) {
    const badge = find("#badge");
    badge.dataset.tone = tone;
    badge.dataset.tip = why;
    say(badge.firstElementChild, MARKS[tone]);
    say(badge.lastElementChild, word);
  }

  facts(stream) {
    const health = stream.health;
    if (!health) return;
    const dropped = lost(health);
    say(find("#fact-fps"), `${fixed(health.fps, 1)} fps`);
    say(find("#fact-frames"), count(health.frames_in));
    say(find("#fact-lost"), dropped ? `${count(dropped)} (${percent(dropped / health.frames_in)})` : "0");
    say(find("#fact-uptime"), duration(health.uptime_s));
    const [p50, p99] = latency(stream);
    say(find("#fact-latency"), `${milliseconds(p50)} / ${milliseconds(p99)} ms`);
  }

  connection({ state, text }) {
    const element = find("#connection");
    element.dataset.tone = state === "away" ? "bad" : "idle";
    say(element, state === "connected" ? "" : text);
  }
}

/** The median and the 99th percentile of the newest latencies, ms. */
function latency(stream) {
  const values = stream.latencies(600).sort();
  const n = values.length;
  return n ? [values[n >> 1], values[Math.floor(0.99 * (n - 1))]] : [NaN, NaN];
}
