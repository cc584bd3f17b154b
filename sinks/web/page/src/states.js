// The states of the population's law, by rising D: what is known of each, and its colour. Marks lie on grey pictures, in dark and light pages alike, so
// the colours are the same in both.

const COLOURS = ["#56b4e9", "#e69f00", "#2cbf94", "#cc79a7", "#f0e442", "#ff7a33"];
const GREY = "#a4a8ae";
const SURE = 0.5; // the probability from which on an object has its state's full colour

/** How many states have colours of their own. */
export const STATE_COLOURS = COLOURS.length;

export const STATE_TIP = "The state of the population's law that the object is likeliest in, 1 the slowest, and how likely that is. Its colour is pale below 50 %.";

/** The full colours of all states, then the pale ones. */
export const stateColours = [...COLOURS, ...COLOURS.map((colour) => mixed(colour, GREY, 0.6))];

/** The place in stateColours of a state with a probability. With more states than colours, colours come again. */
export const stateShade = (state, probability) => (state % STATE_COLOURS) + (probability >= SURE ? 0 : STATE_COLOURS);

/** The states of a population's law, their D in a unit of so many px²/s: [{d, low, high, share, shareLow, shareHigh}]; what is not known is NaN. */
export function lawStates(population, factor) {
  const law = population?.law;
  const of = (name, i) => law[name]?.[i] ?? NaN;
  return (law?.state_px2_s ?? []).map((_, i) => {
    const [d, low, high] = ["", "_low", "_high"].map((end) => of(`state_px2_s${end}`, i) * factor);
    const [share, shareLow, shareHigh] = ["", "_low", "_high"].map((end) => of(`share${end}`, i));
    return { d, low, high, share, shareLow, shareHigh };
  });
}

/** A colour with a share of another. */
function mixed(colour, other, share) {
  const [a, b] = [colour, other].map((hex) => parseInt(hex.slice(1), 16));
  const mix = (shift) => Math.round((1 - share) * ((a >> shift) & 255) + share * ((b >> shift) & 255));
  return `#${[16, 8, 0].map((shift) => mix(shift).toString(16).padStart(2, "0")).join("")}`;
}
