// Numbers and times as people read them: few digits, of steady width, with a true minus.

/** Three digits that mean something; a dash for what is not known. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  let text;
  if (size !== 0 && (size >= 1e5 || size < 1e-4)) text = value.toExponential(digits - 1);
  else if (size >= 10 ** (digits - 1)) text = String(Math.round(value));
  else text = value.toPrecision(digits);
  return text.replaceAll("-", "−");
}

/** Two ends of a scale, with as many digits as tell them apart. */
export function ends(low, high, text = number) {
  for (let digits = 2; digits < 6; digits++) {
    const [a, b] = [text(low, digits), text(high, digits)];
    if (a !== b || digits === 5) return [a, b];
  }
}

/** A value of a known step, so that columns of changing numbers stand still. */
export function fixed(value, decimals) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return value.toFixed(decimals).replace("-", "−");
}

/** A count with thin spaces between thousands. */
export function count(value) {
  return Number.isFinite(value) ? Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u2009") : "–";
}

/** Milliseconds, three digits. */
export function milliseconds(value) {
  if (!Number.isFinite(value)) return "–";
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** A share in percent; what is not quite nothing never reads 0. */
export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const p = 100 * share;
  if (p > 0 && p < 0.1) return "< 0.1 %";
  return `${p >= 10 ? p.toFixed(0) : p.toFixed(1)} %`;
}

/** A duration in its two largest units. */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const s = Math.floor(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`;
  return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} min`;
}

/** The clock on the wall, of an event. */
export function clock(date) {
  return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

/** The name of a latent dimension, counted from 1 as on the terminal. */
export function dimension(index) {
  return `z${index + 1}`;
}

/** A code such as queue_full as words. */
export function words(code) {
  return String(code).replaceAll("_", " ");
}
