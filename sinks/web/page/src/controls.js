// The buttons that steer a run, and what it answered.

import { command } from "./commands.js";
import { find, say } from "./elements.js";

const REMEMBER = 8000; // ms that an answer stays

export class Controls {
  /** context gives {nats, prefix, stream, allowed} as they are now. */
  constructor(context) {
    this.context = context;
    this.busy = false;
    this.pauseButton = find("#pause");
    this.freezeButton = find("#freeze");
    this.resetButton = find("#reset");
    this.pauseButton.addEventListener("click", () => this.pause());
    this.freezeButton.addEventListener("click", () => this.freeze());
    this.resetButton.addEventListener("click", () => this.reset());
    this.dialog = find("#confirm");
    this.dialog.addEventListener("close", () => this.dialog.returnValue === "yes" && this.send("reset"));
  }

  draw(stream, state) {
    const { allowed, nats } = this.context();
    const usable = allowed && nats && !this.busy && !["ended", "waiting"].includes(state.word);
    find("#commands").hidden = !allowed;
    for (const button of [this.pauseButton, this.freezeButton, this.resetButton]) button.disabled = !usable;
    say(this.pauseButton, stream.paused ? "Resume" : "Pause");
    say(this.freezeButton, stream.frozen ? "Unfreeze" : "Freeze");
    this.pauseButton.setAttribute("aria-pressed", stream.paused);
    this.freezeButton.setAttribute("aria-pressed", stream.frozen);
  }

  pause() {
    this.send(this.context().stream?.paused ? "resume" : "pause");
  }

  freeze() {
    this.send(this.context().stream?.frozen ? "resume" : "freeze");
  }

  reset() {
    if (this.usable() && !this.dialog.open) {
      this.dialog.returnValue = "no";
      this.dialog.showModal();
    }
  }

  usable() {
    const { allowed, stream } = this.context();
    return allowed && stream && !this.busy && !this.resetButton.disabled;
  }

  async send(name) {
    const { nats, prefix, stream } = this.context();
    if (!this.usable()) return;
    this.busy = true;
    const { ok, text } = await command(nats, prefix, stream, name);
    this.busy = false;
    this.tell(ok ? `${name}: done` : text, ok);
  }

  tell(text, ok) {
    const reply = find("#reply");
    say(reply, text);
    reply.dataset.tone = ok ? "good" : "bad";
    clearTimeout(this.forget);
    this.forget = setTimeout(() => say(reply, ""), REMEMBER);
  }
}
