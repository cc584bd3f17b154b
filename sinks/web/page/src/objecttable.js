// The objects of a field as a table: the first of the order that is chosen. While the pointer or the keyboard is in it no row changes its object.

import { find, make, repeat, say } from "./elements.js";
import { count, fixed, number, percent } from "./format.js";
import { LATENTS, unitOf } from "./objects.js";
import { STATE_TIP, stateColours, stateShade } from "./states.js";
import { CLASSES, LATENT_TIP, NOT_YET, classOf, describe, latentName } from "./tint.js";

const ROWS = 50;
const EVERY = 500; // ms between two tables

/** The columns that there always are, behind them the state of the law, and those of the latents. */
const COLUMNS = [
  { name: "object", value: (o, k) => o.columns.id[k] },
  { name: "x px", value: (o, k) => o.columns.x[k], number: true },
  { name: "y px", value: (o, k) => o.columns.y[k], number: true },
  { name: "D", value: (o, k) => o.columns.d[k], number: true, down: true },
  { name: "age s", value: (o, k) => o.age(k), number: true, down: true },
  { name: "class", value: (o, k) => classOf(o.columns.marks[k]), down: true },
];
const LOOKS = Array.from({ length: LATENTS }, (_, l) => ({ name: latentName(l), value: (o, k) => o.latent(k, l), number: true, tip: LATENT_TIP }));
const STATE = { name: "state", value: (o, k) => (o.columns.state[k] < 0 ? NaN : o.columns.state[k] + 1 - o.columns.likely[k] / 2), tip: STATE_TIP };
const AGE = 4;

/** The columns while objects have so many latents, and the law so many states. */
export const columns = (latents, states = 0) => [...COLUMNS, ...(states > 1 ? [STATE] : []), ...LOOKS.slice(0, latents)];

export class ObjectTable {
  /** choose takes the id of the row that was clicked. */
  constructor(choose) {
    this.body = find("#objects");
    this.note = find("#objects-note");
    Object.assign(this, { choose, column: AGE, down: true, ids: [], at: -Infinity });
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && this.usable) this.choose(this.ids[Array.from(this.body.children).indexOf(row)]);
    });
    this.offer(0, 0);
  }

  /** Has the columns that there are while objects have so many latents, and the law so many states. */
  offer(latents, states) {
    const offered = columns(latents, states);
    if (offered.map((c) => c.name).join() === this.columns?.map((c) => c.name).join()) return;
    const sorted = this.columns?.[this.column];
    this.columns = offered;
    find("#objects-head").replaceChildren(...offered.map((_, i) => this.head(i)));
    this.heads = find("#objects-head").children;
    this.body.replaceChildren(); // rows with other cells
    this.column = offered.indexOf(sorted);
    if (this.column >= 0) this.mark();
    else this.sortBy(AGE);
  }

  head(i) {
    const { name, number, tip } = this.columns[i];
    const button = make("button", "sort", make("span", "", name), make("span", "arrow"));
    button.type = "button";
    if (tip) button.dataset.tip = tip;
    button.addEventListener("click", () => this.sortBy(i));
    const th = make("th", number ? "number" : "", button);
    th.scope = "col";
    return th;
  }

  /** Sorts by a column; once more, the other way round. */
  sortBy(i) {
    this.down = this.column === i && this.sorted ? !this.down : Boolean(this.columns[i].down);
    [this.column, this.sorted, this.at, this.ids] = [i, true, -Infinity, []];
    this.mark();
  }

  /** Says in the heads by which column the table is sorted. */
  mark() {
    this.columns.forEach((_, n) => {
      const way = n !== this.column ? "none" : this.down ? "descending" : "ascending";
      this.heads[n].setAttribute("aria-sort", way);
      say(this.heads[n].firstElementChild.lastElementChild, { none: "", ascending: "▲", descending: "▼" }[way]);
    });
  }

  draw(objects, usable, now) {
    if (now - this.at < EVERY) return;
    this.at = now;
    this.usable = usable;
    this.offer(objects.latents, objects.states);
    if (this.objects !== objects || !this.ids.length || !this.held) this.ids = first(objects, this.columns[this.column].value, this.down);
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
    const { x, y, d, marks, older, state, likely } = objects.columns;
    repeat(tr, this.columns.length, (i) => (this.columns[i] === STATE ? swatched() : make("td", "number")));
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
    const looks = cells.slice(objects.states > 1 ? 6 : 5);
    if (objects.states > 1) {
      cells[5].firstElementChild.style.background = state[k] < 0 ? NOT_YET : stateColours[stateShade(state[k], likely[k])];
      say(cells[5].lastElementChild, state[k] < 0 ? "–" : `${state[k] + 1} · ${percent(likely[k])}`);
    }
    for (let l = 0; l < objects.latents; l++) say(looks[l], fixed(objects.latent(k, l), 2));
  }
}

/** A cell with a colour before its words. */
const swatched = () => make("td", "", make("i", "swatch"), make("span"));

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
  return make("tr", "", make("td", "", button), make("td", "number"), make("td", "number"), make("td", "number"), make("td", "number"), swatched());
}
