// Where the time of a frame goes, stage by stage, and which frames were lost and why.

import { make, repeat, say } from "./elements.js";
import { count, milliseconds, percent, words } from "./format.js";

const SCALE = [0.01, 1000]; // ms, logarithmic

export class StageTable {
  constructor(body) {
    this.body = body;
  }

  draw(stream) {
    const stages = stream.health?.stages ?? [];
    const rows = repeat(this.body, stages.length, row);
    stages.forEach((stage, i) => {
      const [name, bar, p50, p99] = rows[i].cells;
      say(name, String(stage.name).slice(0, 24));
      const [range, tick] = bar.firstElementChild.children;
      range.style.left = share(stage.p50_ms);
      range.style.right = `calc(100% - ${share(stage.p99_ms)})`;
      tick.style.left = share(stage.p95_ms);
      say(p50, milliseconds(stage.p50_ms));
      say(p99, milliseconds(stage.p99_ms));
    });
  }
}

export class DropTable {
  constructor(body, none) {
    this.body = body;
    this.none = none;
  }

  draw(stream) {
    const health = stream.health;
    const causes = Object.entries(health?.frames_dropped ?? {}).sort((a, b) => b[1] - a[1]);
    this.none.hidden = causes.length > 0;
    const rows = repeat(this.body, causes.length, () => make("tr", "", make("td"), make("td", "number"), make("td", "number quiet")));
    causes.forEach(([cause, n], i) => {
      const sink = cause.startsWith("sink_");
      say(rows[i].cells[0], words(sink ? cause.replace("sink_", "messages to ") : cause).slice(0, 40));
      say(rows[i].cells[1], count(n));
      say(rows[i].cells[2], sink ? "" : percent(n / health.frames_in));
    });
  }
}

function share(ms) {
  const [low, high] = SCALE.map(Math.log10);
  const at = (Math.log10(Math.max(ms, SCALE[0])) - low) / (high - low);
  return `${(100 * Math.min(at, 1)).toFixed(2)}%`;
}

function row() {
  return make("tr", "", make("td"), make("td", "bar", make("div", "track", make("span", "interval"), make("span", "tick"))), make("td", "number"), make("td", "number"));
}
