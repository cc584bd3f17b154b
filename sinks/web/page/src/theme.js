// Light, dark, or as the system has it; and the colours that canvases draw with, which are those of the style sheet.

import { keep, kept } from "./kept.js";

const KEY = "driftscope-theme";
const NAMES = ["text", "dim", "faint", "line", "panel", "accent", "good", "warn", "bad", "zone"];

export const colours = { series: [] };
const redraws = [];

/** Calls redraw whenever the colours have changed. */
export function onTheme(redraw) {
  redraws.push(redraw);
}

export function startTheme(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = kept(KEY) ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = chosen;
    button.setAttribute("aria-label", `Switch to ${chosen === "dark" ? "light" : "dark"} colours`);
    readColours();
    for (const redraw of redraws) redraw();
  };
  dark.addEventListener("change", apply);
  button.addEventListener("click", () => {
    keep(KEY, document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of NAMES) colours[name] = style.getPropertyValue(`--${name}`).trim();
  colours.series = [1, 2, 3, 4, 5, 6].map((i) => style.getPropertyValue(`--series-${i}`).trim());
}

/** The colour with an opacity. */
export function fade(colour, opacity) {
  const n = parseInt(colour.slice(1), 16);
  return `rgba(${n >> 16}, ${(n >> 8) & 255}, ${n & 255}, ${opacity})`;
}
