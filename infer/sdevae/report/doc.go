// Package report draws the result of a training as one self-contained HTML page: loss curves, frames beside their reconstructions, the latents' path,
// the drift field and the model's card.
package report
