// One connection to the NATS server, for as long as the page is open: it tries for ever, and says what hinders it.

import { wsconnect } from "@nats-io/nats-core";

const FIRST_WAIT = 250; // ms between two tries,
const LONGEST_WAIT = 2000; // growing to this
const PATIENCE = 5000; // ms for the server to answer

export class Connection {
  /**
   * listener is told of changes: status({state, text}) with the states connecting, connected, away, login (this server's token is needed),
   * credentials (the NATS server's are) and none (the server has no WebSocket); joined(nats, config) at each new connection, and left().
   */
  constructor(listener) {
    this.listener = listener;
    this.config = null;
    this.token = ""; // of this page's server; in memory only
    this.credentials = {}; // of the NATS server; in memory only
    this.wake = () => {};
  }

  /** Connects for ever. */
  async run() {
    for (let wait = FIRST_WAIT; ; ) {
      const outcome = await this.attempt();
      if (outcome === "was connected") wait = FIRST_WAIT;
      if (outcome === "ask") await this.woken();
      else await Promise.race([pause(wait), this.woken()]);
      wait = Math.min(wait * 1.5, LONGEST_WAIT);
    }
  }

  /** Gives the token, or credentials {user, pass, token} for the NATS server, and tries at once. */
  login({ token, credentials }) {
    if (token !== undefined) this.token = token;
    if (credentials) this.credentials = credentials;
    this.wake();
  }

  woken() {
    return new Promise((resolve) => (this.wake = resolve));
  }

  async attempt() {
    const config = await this.configuration();
    if (typeof config === "string") return config;
    if (this.config && this.config.build !== config.build) location.reload(); // the program was replaced, and its page with it
    this.config = config;
    if (!config.websocket) return this.ask("none", "The NATS server of this run has no WebSocket that is known here: set nats.websocket in its configuration.");
    try {
      await this.serve(await this.dial(), config);
      return "was connected";
    } catch (error) {
      if (/authorization|authentication/i.test(`${error.name} ${error.message}`)) {
        return this.ask("credentials", Object.keys(this.credentials).length ? "The NATS server refuses these credentials." : "The NATS server asks who you are.");
      }
      this.listener.status({ state: "away", text: "The NATS server is away; trying again." });
      return "failed";
    }
  }

  /** What the server says of itself, or the outcome of an attempt that ends here. */
  async configuration() {
    try {
      let answer = await fetch("config.json", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      if (answer.status === 401 && this.token) {
        const entered = await fetch("login", { method: "POST", headers: { Authorization: `Bearer ${this.token}` }, signal: AbortSignal.timeout(PATIENCE) });
        if (!entered.ok) this.token = "";
        if (!entered.ok) return this.ask("login", "This is not the token.");
        answer = await fetch("config.json", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      }
      if (answer.status === 401) return this.ask("login", "This dashboard asks for its token.");
      if (!answer.ok) throw new Error(await answer.text());
      return await answer.json();
    } catch {
      this.listener.status({ state: "away", text: "Driftscope is away; trying again." });
      return "failed";
    }
  }

  dial() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    return wsconnect({
      servers: `${scheme}://${location.host}/nats`,
      name: "driftscope dashboard",
      reconnect: false, // run does it, for the page's server and for NATS alike
      ignoreClusterUpdates: true, // other addresses are beyond the policy of this page
      timeout: PATIENCE,
      ...this.credentials,
    });
  }

  /** Returns when the connection has ended. */
  async serve(nats, config) {
    this.listener.joined(nats, config);
    this.listener.status({ state: "connected", text: "connected" });
    const error = await nats.closed();
    this.listener.left();
    if (error) throw error;
  }

  ask(state, text) {
    this.listener.status({ state, text });
    return "ask";
  }
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
