// Asks for the token of this server, or for who one is at the NATS server. Both stay in this page's memory.

import { find, say } from "./elements.js";

/** The token in the address, #token=..., which no server ever sees; it is taken out of the address at once. */
export function tokenInAddress() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  if (token) history.replaceState(null, "", location.pathname);
  return token;
}

export class Login {
  constructor(entered) {
    this.dialog = find("#login");
    this.dialog.addEventListener("cancel", (event) => event.preventDefault());
    this.dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      const form = new FormData(event.target);
      const [user, secret] = [form.get("user"), form.get("secret")];
      event.target.reset();
      this.dialog.close();
      if (this.kind === "login") entered({ token: secret });
      else entered({ credentials: user ? { user, pass: secret } : { token: secret } });
    });
  }

  /** Shows what is asked: kind is login or credentials. */
  ask(kind, text) {
    this.kind = kind;
    say(find("#login-title"), kind === "login" ? "Token" : "NATS server");
    say(find("#login-text"), text);
    say(find("#login-secret"), kind === "login" ? "Token" : "Password, or token without a user");
    find("#login-user").hidden = kind === "login";
    if (!this.dialog.open) this.dialog.showModal();
  }
}
