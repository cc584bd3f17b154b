// Asks a run to do something, and understands what it answers.

const PATIENCE = 3000; // ms
const ASSEMBLY = 30000; // ms, of a stream that is started: its model is loaded, its camera opened

/** Sends the command, with a payload where it takes one; resolves with {ok, text}. It never throws. */
export async function command(nats, prefix, stream, name, payload) {
  const subject = `${prefix}.${stream.key}.cmd.${name}`;
  if (!nats) return { ok: false, text: "The server is away: nothing was sent." };
  try {
    return answer(await nats.request(subject, payload ? JSON.stringify(payload) : "", { timeout: name === "start" ? ASSEMBLY : PATIENCE }));
  } catch (error) {
    return { ok: false, text: refusal(error, name) };
  }
}

/** An answer is "ok", an error's text, or that of a NATS micro service: its errors are in headers. */
function answer(m) {
  const error = m.headers?.get("Nats-Service-Error");
  if (error) {
    const code = m.headers.get("Nats-Service-Error-Code");
    return { ok: false, text: code ? `${error} (${code})` : error };
  }
  const text = new TextDecoder().decode(m.data).trim().slice(0, 500);
  return text === "" || text === "ok" || text.startsWith("{") ? { ok: true, text: "" } : { ok: false, text };
}

function refusal(error, name) {
  const said = `${error.name} ${error.message} ${error.cause?.message ?? ""}`;
  if (/permission/i.test(said)) return `You may look, but not command: the NATS server refused ${name}.`;
  if (/no ?responders/i.test(said)) return "Nobody takes commands for this stream: it has ended.";
  if (/timeout/i.test(said)) return "No answer in time: whether the command was applied is not known.";
  return error.message;
}
