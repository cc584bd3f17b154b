// A bounded past: rows of numbers in a ring, oldest overwritten, memory taken once.

export class History {
  /** Room for capacity rows of a time and width numbers. */
  constructor(width, capacity) {
    this.width = width;
    this.capacity = capacity;
    this.times = new Float64Array(capacity);
    this.values = new Float64Array(width * capacity);
    this.clear();
  }

  clear() {
    this.length = 0;
    this.next = 0;
  }

  /** Adds a row. A time before the last one begins anew: another recording, or a run that was started again. */
  push(time, row) {
    if (this.length && time < this.last()) this.clear();
    this.times[this.next] = time;
    for (let i = 0; i < this.width; i++) this.values[this.next * this.width + i] = row[i] ?? NaN;
    this.next = (this.next + 1) % this.capacity;
    this.length = Math.min(this.length + 1, this.capacity);
  }

  /** The slot of the row that is so many rows old. */
  slot(age) {
    return (this.next - 1 - age + 2 * this.capacity) % this.capacity;
  }

  /** The newest time; NaN where there is none. */
  last() {
    return this.length ? this.times[this.slot(0)] : NaN;
  }

  /** One number of the row that is so many rows old. */
  at(age, column) {
    return this.values[this.slot(age) * this.width + column];
  }

  /**
   * The rows of the last span seconds as columns, oldest first: seconds relative to the newest row, then the chosen columns. A number
   * that is not known is null, which a chart leaves out.
   */
  window(span, columns) {
    const newest = this.last();
    let n = 0;
    while (n < this.length && newest - this.times[this.slot(n)] <= span) n++;
    const table = [new Array(n), ...columns.map(() => new Array(n))];
    for (let k = 0; k < n; k++) {
      const slot = this.slot(n - 1 - k);
      table[0][k] = this.times[slot] - newest;
      columns.forEach((column, c) => {
        const value = this.values[slot * this.width + column];
        table[c + 1][k] = Number.isFinite(value) ? value : null;
      });
    }
    return table;
  }
}
