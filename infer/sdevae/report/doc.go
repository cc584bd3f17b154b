// Package report draws what a training gave as one HTML page, complete in itself: loss curves, frames beside their reconstructions, the latents' path,
// the drift field and the model's card.
package report
