// A finished run that a person opens from the own disk: its results, its film or both, shown as a stream is, at the frame that is chosen.

import { find, say } from "./elements.js";
import { film } from "./films.js";
import { count, duration } from "./format.js";
import { Stream } from "./stream.js";
import { table } from "./tables.js";

const NEAR = 64; // frames that are played through; farther ones begin anew
const PACE = 40; // ms from frame to frame

let opened = 0; // files so far: each has a key of its own

export class Recorded extends Stream {
  /** results and pictures may be null, but not both. */
  constructor(name, results, pictures) {
    super("file", name);
    Object.assign(this, { key: `file ${++opened}`, results, pictures, replayed: true, at: -1, length: results?.length ?? pictures.length });
    this.results ??= new Bare(pictures);
  }

  state() {
    const lost = this.results.unreadable ? ` ${count(this.results.unreadable)} lines are no messages and were left out.` : "";
    return { word: "recorded", tone: "idle", why: `Results from a file, at the chosen frame.${lost}` };
  }

  ending() {
    return "";
  }

  /** Shows the i-th frame. */
  seek(i) {
    const to = Math.min(Math.max(i, 0), this.length - 1);
    if (to === this.at) return;
    const near = this.at >= 0 && to > this.at && to - this.at <= NEAR;
    const from = near ? this.at + 1 : Math.max(0, to - this.results.before);
    if (!near) this.forget(from);
    for (let k = from; k <= to; k++) this.give(this.results.messages(k));
    this.at = to;
    this.look();
  }

  /** Begins anew with what was known at a frame. */
  forget(from) {
    this.remodelled();
    Object.assign(this, { events: [], latent: null, latents: null, laws: null, health: null, dim: 0 });
    this.changed.inserted++;
    this.give(this.results.known(from));
  }

  give(messages) {
    const now = performance.now();
    for (const m of messages) this.take(m.kind, m, now);
  }

  /** The film's picture of this frame. Where the film has none the one before stays, and blank says so. */
  look() {
    const number = this.results.number(this.at);
    this.blank = this.pictures && !(number < this.pictures.length) ? "the film has no such frame" : "";
    if (!this.pictures || this.blank) return;
    this.view = { seq: number, picture: () => this.picture(number) };
    this.changed.view++;
  }

  async picture(number) {
    try {
      return await this.pictures.picture(number);
    } catch (error) {
      this.blank = error.message;
      return null;
    }
  }
}

/** Frames of which nothing is known but their pictures. */
class Bare {
  constructor({ length, width, height }) {
    Object.assign(this, { length, before: 0, unreadable: 0, size: { width, height }, assumed: 1000 / PACE });
  }

  number(i) {
    return i;
  }

  known() {
    return [];
  }

  messages(i) {
    return [{ kind: "objects", seq: i, time: new Date(PACE * i).toISOString(), latency_ms: NaN, width_px: this.size.width, height_px: this.size.height, pixel_um: 0, left_out: 0, id: [], x_px: [], y_px: [], diffusion_px2_s: [], marks: [] }];
  }
}

/** The button that opens files, files that are dropped, and the bar that scrubs. */
export class Player {
  /** opened takes what was opened, or null once it is closed. */
  constructor(opened) {
    Object.assign(this, { opened, recorded: null, playing: false, due: 0 });
    [this.bar, this.slider, this.button] = ["#scrub", "#scrub-at", "#scrub-play"].map(find);
    find("#open").addEventListener("click", () => find("#open-files").click());
    find("#open-files").addEventListener("change", (event) => this.open(Array.from(event.target.files)).then(() => (event.target.value = "")));
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => (event.preventDefault(), this.open(Array.from(event.dataTransfer?.files ?? []))));
    this.slider.addEventListener("input", () => this.recorded?.seek(Number(this.slider.value)));
    this.button.addEventListener("click", () => this.play(!this.playing));
    find("#scrub-close").addEventListener("click", () => this.close());
  }

  /** Opens a table, a film or both. A film alone goes to the table that is open without one. */
  async open(files) {
    if (!files.length) return;
    say(find("#trouble"), `Reading ${files[0].name.slice(0, 100)} …`);
    try {
      const results = files.find(({ name }) => /\.(csv|jsonl)$/i.test(name));
      const rest = files.filter((file) => file !== results);
      const before = !results && this.recorded && !this.recorded.pictures ? this.recorded : null;
      const read = results ? await table(results) : (before?.results ?? null);
      const pictures = rest.length ? await film(rest) : null;
      if (pictures && read) fit(read, pictures);
      this.show(new Recorded(before?.name ?? (results ?? files[0]).name.slice(0, 64), read, pictures), before?.at ?? 0);
    } catch (error) {
      say(find("#trouble"), `${files.map(({ name }) => name).join(", ").slice(0, 200)}: ${error.message}`);
    }
  }

  show(recorded, at) {
    this.recorded?.pictures?.close?.();
    this.recorded = recorded;
    say(find("#trouble"), "");
    recorded.seek(at);
    this.slider.max = recorded.length - 1;
    this.play(false);
    this.opened(recorded);
  }

  close() {
    this.recorded?.pictures?.close?.();
    this.recorded = null;
    this.play(false);
    this.opened(null);
  }

  play(on) {
    if (on && this.recorded?.at === this.recorded?.length - 1) this.recorded.seek(0);
    this.playing = on;
    say(this.button, on ? "Stop" : "Play");
  }

  /** Called for every frame of the screen; shown is what the page shows. */
  draw(shown, now) {
    const { recorded } = this;
    this.bar.hidden = !recorded || shown !== recorded;
    if (this.bar.hidden) return;
    if (this.playing && now >= this.due) {
      recorded.seek(recorded.at + 1);
      this.due = now + PACE;
      if (recorded.at === recorded.length - 1) this.play(false);
    }
    if (document.activeElement !== this.slider || this.playing) this.slider.value = recorded.at;
    say(find("#scrub-text"), `${count(recorded.at + 1)} of ${count(recorded.length)} · frame ${count(recorded.results.number(recorded.at))}${when(recorded)}${recorded.blank ? ` · ${recorded.blank}` : ""}`);
  }
}

/** The time of the frame since the first one of a film without a date; or that none is known. */
function when(recorded) {
  const seconds = recorded.last();
  if (recorded.results.assumed) return ` · ${recorded.results.assumed} frames/s assumed`;
  return seconds < 1e8 ? ` · ${duration(seconds)}` : "";
}

/** Has the places of a table in the pictures of a film; results that name another size are of another film. */
function fit(results, { width, height }) {
  if (results.size) {
    if (results.size.width > width || results.size.height > height) throw new Error(`a place beyond the film's ${width} × ${height} px: is it the film that was tracked?`);
    results.size = { width, height };
    return;
  }
  const m = results.message(results.frames[0]);
  if (m?.width_px && (m.width_px !== width || m.height_px !== height)) throw new Error(`results of ${m.width_px} × ${m.height_px} px, a film of ${width} × ${height} px: is it the film that was tracked?`);
}
