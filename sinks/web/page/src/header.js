// The bar of streams and sites, the state of the one that is shown, and its plain figures.

import { find, make, repeat, say } from "./elements.js";
import { count, duration, fixed, milliseconds, percent } from "./format.js";
import { lost } from "./stream.js";

const MARKS = { good: "●", warn: "▲", bad: "■", idle: "○" };

const TABS = 64; // more cannot be told apart; a site lists all

export class Header {
  /** choose takes the stream or the site whose tab was pressed. */
  constructor(choose) {
    this.choose = choose;
    this.items = [];
    this.tabs = find("#streams");
    this.tabs.addEventListener("keydown", (event) => this.arrow(event));
  }

  /** Lists the streams, and behind them the sites that have workers; several sites are told apart. */
  draw(streams, overviews, { shown, now, away }) {
    const items = streams.slice(0, TABS);
    if (!shown.overview && !items.includes(shown)) items.push(shown);
    items.push(...overviews);
    this.items = items;
    const sites = new Set(items.filter((item) => !item.replayed).map((item) => item.site)).size > 1;
    const tabs = repeat(this.tabs, items.length, () => {
      const tab = make("button", "", make("span", "mark"), make("span"));
      tab.type = "button";
      tab.setAttribute("role", "tab");
      tab.addEventListener("click", () => this.choose(this.items[Array.from(this.tabs.children).indexOf(tab)]));
      return tab;
    });
    items.forEach((item, i) => {
      const { tone, word } = item.state(now, away);
      tabs[i].dataset.tone = tone;
      tabs[i].classList.toggle("overview", Boolean(item.overview));
      tabs[i].setAttribute("aria-selected", item === shown);
      tabs[i].tabIndex = item === shown ? 0 : -1;
      tabs[i].title = word;
      say(tabs[i].firstElementChild, MARKS[tone]);
      say(tabs[i].lastElementChild, sites && !item.replayed ? `${item.site} / ${item.name}` : item.name);
    });
  }

  arrow(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const tabs = Array.from(this.tabs.children);
    const at = tabs.indexOf(document.activeElement);
    if (!step || at < 0) return;
    const next = (at + step + tabs.length) % tabs.length;
    this.choose(this.items[next]);
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
    find("#facts").hidden = !health;
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
