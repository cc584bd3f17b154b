// Package report writes the result of a training as one self-contained HTML page: loss curves, frames with their reconstructions, the latents' path, the drift
// field and the model's card.
package report
