// The buttons that steer a run, and what it answered.

import { command } from "./commands.js";
import { find, say } from "./elements.js";
import { words } from "./format.js";

const REMEMBER = 8000; // ms that an answer stays

/** What is asked before the law is changed for good. */
const QUESTIONS = {
  reset: ["Forget the law of motion?", "Diffusion, drift and active dimensions of this stream are learnt anew from the next frame on. Latents go on as they are.", "Reset"],
  roll_back: ["Go back half a minute?", "The law of this stream returns to its state of half a minute ago or earlier; later data are forgotten. Latents go on as they are.", "Roll back"],
};

export class Controls {
  /** context gives {nats, prefix, stream, allowed} as they are now. */
  constructor(context) {
    this.context = context;
    this.running = false;
    this.starting = false;
    this.buttons = ["pause", "freeze", "checkpoint", "roll_back", "reset"].map((name) => {
      const button = find(`#${name}`);
      button.addEventListener("click", () => this[name]());
      return button;
    });
    this.dialog = find("#confirm");
    this.dialog.addEventListener("close", () => this.dialog.returnValue === "yes" && this.send(this.asked));
  }

  draw(stream, state) {
    const silent = stream.experiment || stream.replayed; // takes no commands
    this.ended = !silent && ["ended", "failed"].includes(state.word);
    this.running = !silent && !this.ended && state.word !== "waiting";
    find("#commands").hidden = silent || !this.context().allowed;
    for (const button of this.buttons) button.disabled = !this.usable;
    const [pause, freeze] = this.buttons;
    pause.disabled = !this.usable && !this.startable;
    say(pause, this.ended ? "Start" : stream.paused ? "Resume" : "Pause");
    say(freeze, stream.frozen ? "Unfreeze" : "Freeze");
    pause.setAttribute("aria-pressed", stream.paused);
    freeze.setAttribute("aria-pressed", stream.frozen);
  }

  /** Whether anything can be sent now. */
  get free() {
    const { allowed, nats, stream } = this.context();
    return Boolean(allowed && nats && stream);
  }

  /** Whether the stream can be told something while it runs. */
  get usable() {
    return this.free && this.running;
  }

  /** Whether it can be told to run again; a run without --stay is gone, and nobody answers. */
  get startable() {
    return this.free && this.ended && !this.starting;
  }

  pause() {
    this.send(this.ended ? "start" : this.context().stream?.paused ? "resume" : "pause");
  }

  freeze() {
    this.send(this.context().stream?.frozen ? "resume" : "freeze");
  }

  checkpoint() {
    this.send("checkpoint");
  }

  roll_back() {
    this.ask("roll_back");
  }

  reset() {
    this.ask("reset");
  }

  ask(name) {
    if (!this.usable || this.dialog.open) return;
    this.asked = name;
    const [title, text, yes] = QUESTIONS[name];
    say(find("#confirm-title"), title);
    say(find("#confirm-text"), text);
    say(find("#confirm-yes"), yes);
    this.dialog.returnValue = "no";
    this.dialog.showModal();
  }

  /** Sends a command with what it takes, and shows the answer. Others may be sent meanwhile: they are answered in turn. */
  async send(name, payload) {
    const { nats, prefix, stream } = this.context();
    const start = name === "start";
    if (!(start ? this.startable : this.usable)) return;
    if (start) this.starting = true;
    const { ok, text } = await command(nats, prefix, stream, name, payload);
    if (start) this.starting = false;
    this.tell(ok ? `${words(name)}: done` : text, ok);
  }

  tell(text, ok) {
    const reply = find("#reply");
    say(reply, text);
    reply.dataset.tone = ok ? "good" : "bad";
    clearTimeout(this.forget);
    this.forget = setTimeout(() => say(reply, ""), REMEMBER);
  }
}
