// What is shown of a stream that sends many objects, and how one of them is chosen to be followed.

import { BandChart, fromZero } from "./bands.js";
import { find } from "./elements.js";
import { unitOf } from "./objects.js";
import { ObjectTable } from "./objecttable.js";
import { PairsPanel } from "./pairs.js";
import { drawPopulation } from "./population.js";
import { SpectrumPanel } from "./spectrum.js";
import { WholePanel } from "./whole.js";

export class FieldPanels {
  /** controls sends commands. */
  constructor(controls) {
    this.controls = controls;
    this.whole = new WholePanel((id) => this.choose(id));
    this.table = new ObjectTable((id) => this.choose(id));
    this.spectrum = new SpectrumPanel(find("#spectrum"));
    this.pairs = new PairsPanel(find("#pairs"), find("#pairs-note"));
    this.counts = new BandChart(find("#counts"), { values: lines((stream) => stream.objects.history, 1), limits: fromZero, chosen: () => [0] });
    this.turnover = new BandChart(find("#turnover"), { values: lines((stream) => stream.objects.turnover, 2), limits: fromZero, chosen: () => [0, 1], first: 1 });
    find("#unfollow").addEventListener("click", () => this.choose(null));
  }

  /** Follows an object; of the one that is followed, or of none, it lets go. */
  async choose(id) {
    const { followed } = this.stream?.objects ?? {};
    const leaves = id === null || id === followed;
    if (leaves && (followed ?? null) === null) return;
    this.whole.asked = leaves ? null : id;
    await (leaves ? this.controls.send("unfollow") : this.controls.send("follow", { id }));
    if (this.whole.asked === id) this.whole.asked = null;
  }

  /** Which panels there are: those of a scene, of a field, or of a field with one object that is followed. */
  layout(stream) {
    document.body.dataset.shows = stream.experiment ? "experiment" : !stream.objects ? "scene" : stream.objects.followed === null ? "field" : "followed";
    document.body.toggleAttribute("data-pairs", Boolean(stream.objects?.population?.pairs?.distance_px.length));
  }

  /** Called for every frame of the screen. */
  draw(stream) {
    this.stream = stream;
    this.whole.draw(stream, this.controls.usable);
  }

  figures(stream, state, { now, span }) {
    const { objects } = stream;
    this.whole.figures(objects, stream.law, this.controls.usable);
    this.table.draw(objects, this.controls.usable, now);
    this.spectrum.draw(objects.population, unitOf(objects));
    this.pairs.draw(objects);
    this.counts.draw(stream, span);
    this.turnover.draw(stream, span);
    drawPopulation(stream, state);
  }
}

/** The first columns of a past as lines without bands. */
function lines(past, n) {
  return (stream, _, span) => {
    const [x, ...columns] = past(stream).window(span, Array.from({ length: n }, (_, i) => i));
    const none = x.map(() => null);
    return [x, ...columns.flatMap((column) => [column, none, none])];
  };
}
