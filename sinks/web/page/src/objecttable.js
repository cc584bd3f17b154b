// The objects of a field as a table: the first of the order that is chosen. While the pointer or the keyboard is in it no row changes its object.

import { find, make, repeat, say } from "./elements.js";
import { count, fixed, number } from "./format.js";
import { unitOf } from "./objects.js";
import { CLASSES, classOf, describe } from "./tint.js";

const ROWS = 50;
const EVERY = 500; // ms between two tables

const COLUMNS = [
  { name: "object", value: (o, k) => o.columns.id[k] },
  { name: "x px", value: (o, k) => o.columns.x[k], number: true },
  { name: "y px", value: (o, k) => o.columns.y[k], number: true },
  { name: "D", value: (o, k) => o.columns.d[k], number: true, down: true },
  { name: "age s", value: (o, k) => o.age(k), number: true, down: true },
  { name: "class", value: (o, k) => classOf(o.columns.marks[k]), down: true },
];

export class ObjectTable {
  /** choose takes the id of the row that was clicked. */
  constructor(choose) {
    this.body = find("#objects");
    this.note = find("#objects-note");
    Object.assign(this, { choose, column: 4, down: true, ids: [], at: -Infinity, order: [] });
    this.heads = repeat(find("#objects-head"), COLUMNS.length, (i) => {
      const button = make("button", "sort", make("span", "", COLUMNS[i].name), make("span", "arrow"));
      button.type = "button";
      button.addEventListener("click", () => this.sortBy(i));
      const th = make("th", COLUMNS[i].number ? "number" : "", button);
      th.scope = "col";
      return th;
    });
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && this.usable) this.choose(this.ids[Array.from(this.body.children).indexOf(row)]);
    });
    this.sortBy(this.column);
  }

  /** Sorts by a column; once more, the other way round. */
  sortBy(i) {
    this.down = this.column === i && this.sorted ? !this.down : Boolean(COLUMNS[i].down);
    [this.column, this.sorted, this.at, this.ids] = [i, true, -Infinity, []];
    COLUMNS.forEach((_, n) => {
      const way = n !== i ? "none" : this.down ? "descending" : "ascending";
      this.heads[n].setAttribute("aria-sort", way);
      say(this.heads[n].firstElementChild.lastElementChild, { none: "", ascending: "▲", descending: "▼" }[way]);
    });
  }

  draw(objects, usable, now) {
    if (now - this.at < EVERY) return;
    this.at = now;
    this.usable = usable;
    if (this.objects !== objects || !this.ids.length || !this.held) this.ids = first(objects, COLUMNS[this.column].value, this.down);
    this.objects = objects;
    const { factor, name } = unitOf(objects);
    say(this.heads[3].firstElementChild.firstElementChild, `D ${name}`);
    const rows = repeat(this.body, this.ids.length, row);
    this.ids.forEach((id, i) => this.fill(rows[i], id, factor));
    say(this.note, objects.count > ROWS ? `${ROWS} of ${count(objects.count)}` : "");
  }

  /** Whether somebody is about to choose a row. */
  get held() {
    return this.body.matches(":hover") || this.body.contains(document.activeElement);
  }

  fill(tr, id, factor) {
    const { objects } = this;
    const k = objects.slots.get(id) ?? -1;
    const { x, y, d, marks, older } = objects.columns;
    const [object, ...cells] = tr.cells;
    const button = object.firstElementChild;
    say(button, String(id));
    button.disabled = !this.usable || k < 0;
    button.setAttribute("aria-pressed", objects.followed === id);
    button.setAttribute("aria-label", `${objects.followed === id ? "Stop following" : "Follow"} object ${id}`);
    tr.classList.toggle("chosen", objects.followed === id);
    tr.classList.toggle("gone", k < 0);
    tr.classList.toggle("usable", Boolean(this.usable) && k >= 0);
    if (k < 0) return say(cells[4].lastElementChild, "ended");
    say(cells[0], fixed(x[k], 1));
    say(cells[1], fixed(y[k], 1));
    say(cells[2], number(d[k] * factor, 2));
    say(cells[3], `${older[k] ? "> " : ""}${fixed(objects.age(k), 1)}`);
    cells[4].firstElementChild.style.background = CLASSES[classOf(marks[k])].colour;
    say(cells[4].lastElementChild, describe(marks[k]));
  }
}

/** The ids of the first ROWS objects of an order; numbers that are not known come last. */
export function first(objects, value, down) {
  const keys = Float64Array.from({ length: objects.count }, (_, k) => value(objects, k));
  const { id } = objects.columns;
  const sign = down ? -1 : 1;
  const before = (a, b) => Number.isNaN(keys[a]) - Number.isNaN(keys[b]) || sign * (keys[a] - keys[b]) || id[a] - id[b];
  return Array.from(Uint32Array.from(keys, (_, k) => k).sort(before).subarray(0, ROWS), (k) => id[k]);
}

function row() {
  const button = make("button", "id");
  button.type = "button";
  return make("tr", "", make("td", "", button), make("td", "number"), make("td", "number"), make("td", "number"), make("td", "number"), make("td", "", make("i", "swatch"), make("span")));
}
