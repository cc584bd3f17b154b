// The zones of a stream's rules, where they are places in the picture or in the plane of two latents: what they are, and outlines over a picture.

import { keyed, make, say } from "./elements.js";

const MOST = 32; // rules of a stream

/** {name, px, sides, centre, radius} of every zone: limits by axis, or a centre by axis and a radius; px says that they are pixels of the raw frame. */
export function zonesOf(rules) {
  return rules.slice(0, MOST).flatMap(({ zone }) => (typeof zone?.name === "string" ? (shape(zone) ?? []) : []));
}

function shape({ name, object, centroid_px: centroid, box, ball }) {
  const told = { name: name.slice(0, 64), px: Boolean(centroid || object), sides: [], centre: [], radius: NaN };
  for (const [key, limits] of Object.entries(centroid ?? box ?? {})) told.sides[axisOf(key)] = Array.isArray(limits) && limits.length === 2 && limits.every(Number.isFinite) ? limits : undefined;
  for (const [key, at] of Object.entries(ball?.centre ?? {})) told.centre[axisOf(key)] = Number.isFinite(at) ? at : undefined;
  if (ball && Number.isFinite(ball.radius)) told.radius = ball.radius;
  const known = (list) => Object.keys(list).some((axis) => axis >= 0 && list[axis] !== undefined);
  return known(told.sides) || (known(told.centre) && told.radius > 0) ? told : null;
}

/** The number of an axis, from 0: x and z1 are the first. */
const axisOf = (key) => ({ x: 0, y: 1 })[key] ?? (/^z\d{1,2}$/.test(key) ? Number(key.slice(1)) - 1 : -1);

/** From where to where a zone goes along an axis; without an end where it has no limit there. */
export function limits({ sides, centre, radius }, axis) {
  if (sides[axis]) return sides[axis];
  return centre[axis] === undefined ? [-Infinity, Infinity] : [centre[axis] - radius, centre[axis] + radius];
}

/** Whether a zone is round in a plane; it is a rectangle or a strip otherwise. */
export const round = ({ centre }, a, b) => centre[a] !== undefined && centre[b] !== undefined;

/** Outlines over a picture, each with its name; those whose condition holds are marked. They are moved only when something has changed. */
export class ZoneLayer {
  constructor(parent) {
    this.layer = make("div", "zones");
    parent.append(this.layer);
    this.shown = "";
  }

  /** width and height are the frame pixels that the picture shows. In a field every zone is of pixels. */
  draw(stream, width, height) {
    const zones = stream.zones.filter((zone) => (zone.px || stream.objects) && (limits(zone, 0).some(Number.isFinite) || limits(zone, 1).some(Number.isFinite)));
    const on = zones.map((zone) => stream.inside.get(zone.name) > 0);
    const shown = JSON.stringify([zones, on, width, height]);
    if (shown === this.shown) return;
    this.shown = shown;
    const spans = keyed(this.layer, zones.map((zone) => zone.name), () => make("span", "zone", make("b")));
    zones.forEach((zone, i) => {
      const [[left, right], [top, bottom]] = [part(limits(zone, 0), width), part(limits(zone, 1), height)];
      Object.assign(spans[i].style, { left: `${left}%`, top: `${top}%`, width: `${right - left}%`, height: `${bottom - top}%` });
      spans[i].classList.toggle("round", round(zone, 0, 1));
      spans[i].classList.toggle("on", on[i]);
      spans[i].hidden = !(right > left && bottom > top);
      say(spans[i].firstElementChild, zone.name);
    });
  }
}

/** Limits in percent of a side. Whole numbers are the centres of pixels. A strip ends with the picture. */
const part = ([low, high], side) => [Math.max((100 * (low + 0.5)) / side, low === -Infinity ? 0 : -200), Math.min((100 * (high + 0.5)) / side, high === Infinity ? 100 : 300)];
