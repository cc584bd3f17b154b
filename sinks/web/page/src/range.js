// An axis that stands still while its data move: it grows at once, shrinks only when far too wide, and ends on round numbers.

const SHRINK = 0.45; // the share of the axis that data must fill, or it shrinks

export class SteadyRange {
  /** The axis ends on one of about so many round numbers. */
  constructor(parts = 4) {
    this.parts = parts;
    this.low = this.high = NaN;
  }

  /** The range to show for data from min to max. */
  fit(min, max) {
    if (!Number.isFinite(min) || !Number.isFinite(max)) return Number.isFinite(this.low) ? [this.low, this.high] : [0, 1];
    const outside = !(min >= this.low && max <= this.high);
    const lost = max - min < SHRINK * (this.high - this.low);
    if (outside || lost) {
      const span = max - min || Math.abs(max) || 1;
      const step = roundStep(span / this.parts);
      this.low = Math.floor((min - 0.06 * span) / step) * step;
      this.high = Math.ceil((max + 0.06 * span) / step) * step;
    }
    return [this.low, this.high];
  }
}

/** The smallest of 1, 2, 5 times a power of ten that is at least step. */
export function roundStep(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].find((f) => f * power >= step * (1 - 1e-9)) * power;
}

/** The smallest and largest finite numbers of lists. */
export function extent(...lists) {
  let min = Infinity;
  let max = -Infinity;
  for (const list of lists) {
    for (const value of list) {
      if (value === null || !Number.isFinite(value)) continue;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  return [min, max];
}
