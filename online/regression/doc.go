// Package regression learns a drift from increments: Bayesian linear regression on small groups of drift fields, averaged over the groups. It also relearns
// the drift of a stream outside the frame path.
//
// Whitener turns latents into Steps and removes the noise. Posterior is the mean drift with its evidence, and its method Network returns the drift as a
// network. Learner holds the state between two slices of a stream, and Worker runs slices.
//
// A Learner is immutable, so the law can be saved, reset and restored while a slice runs.
//
// Each file begins with its equations: whitener.go (11), (12), posterior.go (7) to (10), change.go (13), hidden.go (21), (22).
package regression
