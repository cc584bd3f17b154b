// Package regression learns a drift from increments: Bayesian linear regression on small groups of drift fields, averaged over the groups. It also
// relearns the drift of a stream beside the frame path.
//
// Whitener turns latents into Steps without noise. Posterior is the mean drift with its evidence, Network imitates it. Learner holds the state
// between two slices of a stream, and Worker runs slices.
//
// A Learner is never written after it was made, so the law is saved, reset and restored while a slice runs.
//
// Each file begins with its equations: whitener.go (11), (12), posterior.go (7) to (10), change.go (13), hidden.go (21), (22).
package regression
