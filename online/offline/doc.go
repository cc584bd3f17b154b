// Package offline analyses whole recordings, in which all latents are known from the start.
//
// Fit finds the drift of a recording, and Measure its diffusion. Smooth returns the mean of each latent given all latents.
//
// The package does not use the online Estimator, but gives the same figures as the Estimator's parts.
package offline
