// Package offline analyses whole recordings, in which all latents are known from the start.
//
// Fit finds the drift of a recording and Measure its diffusion. Smooth returns the place of each latent given all of them.
//
// It does not need the Estimator, and returns the same figures as the Estimator's parts.
package offline
