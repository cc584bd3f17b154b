// Wires the page: messages come in by the feed, the shown stream is drawn at most 15 times a second, commands go out.

import { BandChart, aboveZero, aroundAll } from "./bands.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { DimensionTable } from "./dimensions.js";
import { find, make, repeat, say } from "./elements.js";
import { EventList } from "./events.js";
import { Feed } from "./feed.js";
import { drawExperiment } from "./experiment.js";
import { FieldPanels } from "./field.js";
import { dimension, fixed, number } from "./format.js";
import { Header } from "./header.js";
import { startKeys } from "./keys.js";
import { Login, tokenInAddress } from "./login.js";
import { PathPanel } from "./path.js";
import { PreviewPanel } from "./preview.js";
import { Player } from "./recorded.js";
import { RegionPanel } from "./region.js";
import { SitePanels } from "./sitepanel.js";
import { DropTable, StageTable } from "./stages.js";
import { colours, startTheme } from "./theme.js";
import { startTips } from "./tips.js";
import { Verdict } from "./verdict.js";

const DRAW_EVERY = 1000 / 15 - 2; // ms: smooth enough to follow, at half the cost of 30 a second
const FIGURES_EVERY = 250; // ms: numbers that change faster cannot be read
const LEAVE_AFTER = 5000; // ms hidden, before latents and pictures are no longer asked for
const FIRST_LOOK = 3000; // ms after joining, in which a site that has workers comes before its streams
const SPANS = [10, 30, 120, 600]; // s

let shown = null; // the stream or the site that is shown
let chosen = false; // by hand
let span = SPANS[1];
let status = { state: "connecting", text: "connecting" };

startTheme(find("#theme"));
startTips(find("#bubble"));

const feed = new Feed(begin);
const header = new Header(choose);
const connection = new Connection({
  status: (s) => {
    status = s;
    header.connection(s);
    if (s.state === "login" || s.state === "credentials") login.ask(s.state, s.text);
  },
  joined: (nats, config) => feed.join(nats, config),
  left: () => feed.leave(),
});
const login = new Login((secrets) => connection.login(secrets));
const controls = new Controls(() => ({ nats: feed.nats, prefix: feed.prefix, stream: looked(), allowed: connection.config?.commands ?? false }));

const path = new PathPanel(find("#path"), find("#path-note"));
const preview = new PreviewPanel(find("#seen"), find("#drawn"), find("#absent"), find("#view-facts"));
const region = new RegionPanel({ pictures: find("#pictures"), canvas: find("#whole"), region: find("#region"), wish: find("#wish"), note: find("#region-note") }, (corner) => controls.send("roi", corner));
const dimensions = new DimensionTable(find("#dimensions"), (place) => colours.series[place % colours.series.length]);
const verdict = new Verdict({ what: find("#what"), whatMore: find("#what-more"), how: find("#how"), howMore: find("#how-more"), trust: find("#trust"), checks: find("#checks") });
const stages = new StageTable(find("#stages"));
const drops = new DropTable(find("#drops"), find("#no-drops"));
const events = new EventList(find("#events"), find("#no-events"), find("#announcer"));
const latents = new BandChart(find("#series"), { values: latentBands, limits: aroundAll });
const laws = new BandChart(find("#laws"), { values: lawBands, limits: aboveZero });
const field = new FieldPanels(controls);
const overview = new SitePanels(choose);
const player = new Player((recorded) => {
  if (recorded) return choose(recorded);
  shown = null;
  begin();
});

/** The stream that is shown; null where it is a site. */
function looked() {
  return shown?.overview ? null : shown;
}

/** The stream whose messages are wanted; null where what is shown has none to come. */
const wanted = () => (shown?.replayed ? null : looked());

/** Every stream that there is, and what was opened. */
const streams = () => [...feed.streams.values(), ...(player.recorded ? [player.recorded] : [])];

/** Shows the first that there is, until somebody chooses: a site with workers, or a stream. */
function begin() {
  const [site] = feed.sites.values();
  const early = performance.now() - feed.joined < FIRST_LOOK;
  if (site && !chosen && (early || !shown)) show(site);
  else if (!shown && feed.streams.size) show(feed.streams.values().next().value);
}

/** The stream or the site that somebody wants to see. */
function choose(item) {
  if (!item) return;
  chosen = true;
  show(item);
}

function show(item) {
  shown = item;
  document.title = `${item.name} · Driftscope`;
  feed.watch(document.hidden ? null : wanted());
}

/** Filtered latents with 1.96 standard deviations on either side. */
function latentBands(stream, dims, seconds) {
  const [x, ...columns] = stream.latents.window(seconds, dims.flatMap((d) => [stream.column("z", d), stream.column("sd", d)]));
  const table = [x];
  for (let n = 0; n < columns.length; n += 2) {
    const [z, sd] = [columns[n], columns[n + 1]];
    table.push(z, z.map((v, k) => (v === null || sd[k] === null ? null : v - 1.96 * sd[k])), z.map((v, k) => (v === null || sd[k] === null ? null : v + 1.96 * sd[k])));
  }
  return table;
}

function lawBands(stream, dims, seconds) {
  if (!stream.laws?.length) return null;
  const d = stream.law.sigma.length;
  return stream.laws.window(seconds, dims.flatMap((i) => [i, d + i, 2 * d + i]));
}

/** The colours of a chart's lines with what they read now, or under the pointer. */
function readings(element, chart, text, title = dimension) {
  const items = repeat(element, chart.dims.length, () => make("span", "", make("i"), make("b"), make("span")));
  chart.dims.forEach((dim, n) => {
    const [swatch, name, value] = items[n].children;
    swatch.style.background = chart.colour(n);
    say(name, title(dim));
    say(value, text(...chart.reading(n)));
  });
}

const drawn = { at: 0, figures: 0 };

function draw(now) {
  requestAnimationFrame(draw);
  player.draw(shown, now);
  if (shown?.objects) field.draw(shown); // marks follow every message, thirty a second
  if (now - drawn.at < DRAW_EVERY) return;
  drawn.at = now;
  const away = status.state !== "connected";
  find("#main").hidden = !shown;
  find("#waiting").hidden = Boolean(shown);
  if (!shown) return say(find("#waiting"), away ? `${status.text.charAt(0).toUpperCase()}${status.text.slice(1)}` : "Connected. No stream has been heard yet: start driftscope run, or open results.");
  if (shown.overview) {
    if (now - drawn.figures >= FIGURES_EVERY) siteFigures(now, away);
    return;
  }
  field.layout(shown);
  if (!shown.objects) preview.draw(shown);
  region.draw(shown, controls.usable);
  path.draw(shown, span);
  if (shown.latents?.length) latents.draw(shown, span);
  if (now - drawn.figures >= FIGURES_EVERY) figures(now, away);
}

/** What a site and a stream have in common; the state of the one that is shown. */
function common(now, away) {
  drawn.figures = now;
  const state = shown.state(now, away);
  document.body.toggleAttribute("data-workers", feed.sites.size > 0);
  header.draw(streams(), feed.sites.values(), { shown, now, away });
  header.state(state);
  say(find("#ended"), looked()?.ending(now, away) ?? "");
  return state;
}

function siteFigures(now, away) {
  common(now, away);
  document.body.dataset.shows = "site";
  find("#commands").hidden = true;
  overview.draw(shown, now, away);
}

function figures(now, away) {
  const state = common(now, away);
  header.facts(shown);
  controls.draw(shown, state);
  if (shown.experiment) drawExperiment(shown);
  else if (shown.objects) fieldFigures(state, now);
  else verdict.draw(shown, state);
  dimensions.draw(shown);
  laws.draw(shown, span);
  stages.draw(shown);
  drops.draw(shown);
  events.draw(shown);
  readings(find("#series-key"), latents, (v, low, high) => `${fixed(v, 2)} ± ${fixed((high - low) / 2, 2)}`);
  readings(find("#laws-key"), laws, (v) => number(v));
}

function fieldFigures(state, now) {
  field.figures(shown, state, { now, span });
  readings(find("#counts-key"), field.counts, (v) => fixed(v, 0), () => "objects");
  readings(find("#turnover-key"), field.turnover, (v) => `${number(v, 2)} /s`, (i) => ["born", "ended"][i]);
}

const spans = [find("#spans"), find("#field-spans")];

function setSpan(seconds) {
  span = seconds;
  for (const group of spans) Array.from(group.children).forEach((button, i) => button.setAttribute("aria-pressed", SPANS[i] === span));
}

for (const group of spans) {
  repeat(group, SPANS.length, (i) => {
    const button = make("button", "", SPANS[i] < 120 ? `${SPANS[i]} s` : `${SPANS[i] / 60} min`);
    button.type = "button";
    button.addEventListener("click", () => setSpan(SPANS[i]));
    return button;
  });
}
setSpan(span);

const help = () => find("#help").open || find("#help").showModal();
find("#help-button").addEventListener("click", help);
const nextSpan = (step) => setSpan(SPANS[Math.min(Math.max(SPANS.indexOf(span) + step, 0), SPANS.length - 1)]);
startKeys({
  p: () => controls.pause(),
  f: () => controls.freeze(),
  R: () => controls.reset(),
  B: () => controls.roll_back(),
  u: () => field.choose(null),
  m: () => field.whole.map.toggle(),
  t: () => find("#theme").click(),
  0: () => choose(feed.sites.values().next().value),
  "?": help,
  "[": () => nextSpan(-1),
  "]": () => nextSpan(1),
  stream: (i) => choose(streams()[i]),
});

let leaving = 0;
document.addEventListener("visibilitychange", () => {
  clearTimeout(leaving);
  if (document.hidden) leaving = setTimeout(() => feed.watch(null), LEAVE_AFTER);
  else if (feed.watching !== wanted()) feed.watch(wanted());
});

connection.token = tokenInAddress();
connection.run();
requestAnimationFrame(draw);
