// Package motion judges by which kind of law one track moves, and how anomalous it is.
//
// A place along an axis is that of the object, averaged over the exposure, with noise of the variance σ². Five laws explain it:
//
//	stuck      x = c
//	free       dx = √(2D) dW
//	confined   dx = -κ(x - c) dt + √(2D) dW, from the stationary law of variance D/κ
//	directed   dx = v dt + √(2D) dW
//	anomalous  ½E(x(t) - x(0))² = K t^α, Gaussian: fractional Brownian motion
//
// Each has a density of the track's steps with its parameters integrated, its evidence; classes are alike before the track, so that Bayes' rule makes
// probabilities of them. All densities are of the same steps: a place that any law is free of is never counted. The scale λ, px², is integrated in closed
// form over dλ/λ; the others, all of them ratios, over grids uniform in their logarithms (evidence.go), α uniform. So no unit and no guess of a size enters.
// Where localisation gives variances, σ² is held to them within a quarter.
//
//	places.go       a track as it is read: steps, frames, gaps
//	markov.go       the likelihoods of stuck, free, directed and confined: exact, O(n), any times and variances
//	fractional.go   that of fractional Brownian motion: predictions of Levinson and Durbin from tables, exact to 32 steps back
//	conditional.go  the same where frames are missing: each step given the 8 before it
//	plane.go        a grid that is visited where it matters
//	quadrature.go   integrals between a grid's points
//	evidence.go     priors and evidences
//	judge.go        Judge: the verdict
//	describe.go     the figures of a class: D with its interval, and others
//
// The exponent α of E(x(t) - x(0))² ∝ t^α is wanted for motion that is not Gaussian or whose law changes with time, too. It is the median of what a net makes
// of features that no unit changes, trained on the five models of the Anomalous Diffusion Challenge (Muñoz-Gil et al., Nature Communications 12, 6253, 2021):
//
//	scaled.go       scaled Brownian motion, whose exponent is a feature
//	features.go     moments, histograms, persistence and ageing of displacements over lags, and the posteriors of both Gaussian models
//	network.go      the net: a density over exponents, and over the five models
//	network.bin     its weights; training_test.go makes them
//
// Lengths are px and times s. Memory is bounded: a track is judged by its last 1000 places.
package motion
