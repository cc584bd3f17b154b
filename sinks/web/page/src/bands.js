// Values over the last seconds, each a line in a band of its uncertainty.

import uPlot from "uplot";
import { fixed, number } from "./format.js";
import { SteadyRange, extent } from "./range.js";
import { colours, fade, onTheme } from "./theme.js";

export class BandChart {
  /**
   * values(stream, dims, span) gives [seconds before now, then value, low and high of each dimension]; limits bounds its axis; chosen(stream) are
   * the dimensions, by default those that move; first is the place of the first colour, so that charts of one panel share none.
   */
  constructor(element, { values, limits, chosen = (stream) => stream.shown(), first = 0 }) {
    Object.assign(this, { element, values, limits, chosen, first, plot: null, shape: "", dims: [] });
    this.range = new SteadyRange();
    new ResizeObserver(() => this.resize()).observe(element);
    onTheme(() => this.discard());
  }

  draw(stream, span) {
    const dims = this.chosen(stream);
    const table = dims.length ? this.values(stream, dims, span) : null;
    if (!table || !this.element.clientWidth) return;
    const shape = `${stream.key} ${dims} ${span}`;
    if (shape !== this.shape || !this.plot) this.create(shape, dims, span, stream);
    this.stream = stream;
    this.plot.setData(table, true);
  }

  /** The row that the pointer is on, or the newest: [value, low, high] of the n-th dimension. */
  reading(n) {
    const data = this.plot?.data;
    if (!data?.[0]?.length) return [NaN, NaN, NaN];
    const at = this.plot.cursor.idx ?? data[0].length - 1;
    return [0, 1, 2].map((k) => data[1 + 3 * n + k]?.[at] ?? NaN);
  }

  /** The colour of the n-th line. */
  colour(n) {
    return colours.series[(this.first + n) % colours.series.length];
  }

  create(shape, dims, span, stream) {
    this.discard();
    this.shape = shape;
    this.dims = dims;
    if (this.stream !== stream) this.range = new SteadyRange();
    const series = [{}];
    const bands = [];
    dims.forEach((dim, n) => {
      const colour = this.colour(n);
      const edge = { stroke: "transparent", width: 0, points: { show: false } };
      series.push({ stroke: colour, width: 1.5, points: { show: false } }, edge, edge);
      bands.push({ series: [3 + 3 * n, 2 + 3 * n], fill: fade(colour, 0.18) });
    });
    this.plot = new uPlot(
      {
        ...this.size(),
        series,
        bands,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
        scales: {
          x: { time: false, range: () => [-span, 0] },
          y: { range: (u) => this.limits(u.data, this.range) },
        },
        axes: [axis({ size: 26, space: 70, values: (_, ticks) => ticks.map(ago) }), axis({ size: 46, space: 34, values: (_, ticks) => ticks.map((v) => tick(v, ticks)) })],
        hooks: { draw: [(u) => this.marks(u)] },
      },
      [[], ...series.slice(1).map(() => [])],
      this.element,
    );
  }

  /** What happened in the time shown: a line at each alarm and error. */
  marks(u) {
    const newest = this.stream?.last();
    if (!Number.isFinite(newest)) return;
    const { ctx } = u;
    ctx.save();
    ctx.setLineDash([4, 4]);
    ctx.lineWidth = 1;
    for (const event of this.stream.events) {
      const x = u.valToPos(event.at - newest, "x", true);
      if (!(event.alarm || event.level === "error") || !(x >= u.bbox.left && x <= u.bbox.left + u.bbox.width)) continue;
      ctx.strokeStyle = event.level === "error" ? colours.bad : colours.warn;
      ctx.beginPath();
      ctx.moveTo(x, u.bbox.top);
      ctx.lineTo(x, u.bbox.top + u.bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  size() {
    return { width: this.element.clientWidth, height: this.element.clientHeight };
  }

  resize() {
    if (this.plot && this.element.clientWidth) this.plot.setSize(this.size());
  }

  discard() {
    this.plot?.destroy();
    this.plot = null;
  }
}

/** The axis of z: what is drawn, bands included. */
export function aroundAll(data, range) {
  return range.fit(...extent(...data.slice(1)));
}

/** The axis of a quantity that is not negative and begins unsure: from 0 to where the newest bands fit. */
export function aboveZero(data, range) {
  let most = 0;
  for (let n = 1; n < data.length; n += 3) {
    const [value, high] = [data[n].at(-1), data[n + 2].at(-1)];
    most = Math.max(most, value ?? 0, Math.min(high ?? 0, 3 * (value ?? 0)));
  }
  return most > 0 ? [0, range.fit(0, most)[1]] : [0, 1];
}

/** The axis of counts and rates: from 0 to the most that is drawn. */
export function fromZero(data, range) {
  const most = extent(...data.slice(1))[1];
  return most > 0 ? [0, range.fit(0, most)[1]] : [0, 1];
}

function axis(options) {
  return {
    stroke: colours.dim,
    font: '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
    grid: { stroke: colours.line, width: 1 },
    ticks: { show: false },
    gap: 6,
    ...options,
  };
}

function ago(seconds) {
  if (seconds === 0) return "now";
  return (Math.abs(seconds) >= 120 ? `${number(seconds / 60, 2)} min` : `${fixed(seconds, 0)} s`).replace("-", "−");
}

function tick(value, ticks) {
  const step = Math.abs(ticks[1] - ticks[0]) || 1;
  const decimals = [0, 1, 2, 3, 4, 5].find((d) => Math.abs(step * 10 ** d - Math.round(step * 10 ** d)) < 1e-6) ?? 6;
  return fixed(Math.abs(value) < step / 1e6 ? 0 : value, decimals);
}
