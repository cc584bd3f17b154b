// The picture that the encoder sees, and what the decoder draws from the latent alone.

import { fixed, count, milliseconds } from "./format.js";
import { say } from "./elements.js";
import { clear, paint, picture, pictureOf } from "./picture.js";

export class PreviewPanel {
  constructor(seen, drawn, absent, facts) {
    Object.assign(this, { seen, drawn, absent, facts, version: -1, busy: false });
  }

  draw(stream) {
    this.describe(stream);
    if (this.stream !== stream) for (const canvas of [this.seen, this.drawn]) clear(canvas);
    this.stream = stream;
    const version = `${stream.key} ${stream.changed.view}`;
    if (version === this.version || this.busy || !stream.view) return;
    this.version = version;
    this.busy = true;
    this.show(stream).finally(() => (this.busy = false));
  }

  async show(stream) {
    const { view } = stream;
    const reconstruction = view.reconstruction_jpeg ?? "";
    this.absent.hidden = reconstruction !== "";
    this.drawn.hidden = reconstruction === "";
    const pictures = await Promise.all([pictureOf(view), picture(reconstruction)]); // both, before either is shown
    if (this.stream !== stream) return; // somebody looks at another by now
    paint(this.seen, pictures[0]);
    paint(this.drawn, pictures[1]);
  }

  describe(stream) {
    const m = stream.latent;
    if (!m) return;
    const facts = [`frame ${count(m.seq)}`, `latency ${milliseconds(m.latency_ms)} ms`];
    if (m.centroid_px?.length === 2) facts.push(`object at ${fixed(m.centroid_px[0], 1)}, ${fixed(m.centroid_px[1], 1)} px`);
    if (m.light > 0) facts.push(`light ${fixed(m.light, 0)}`);
    say(this.facts, facts.join(" · "));
  }
}
