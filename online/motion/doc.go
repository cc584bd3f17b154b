// Package motion judges the kind of law that one track obeys, and how anomalous the motion is.
//
// A place along an axis is the place of the object, averaged over the exposure, plus noise of variance σ². Five laws explain it:
//
//	stuck      x = c
//	free       dx = √(2D) dW
//	confined   dx = -κ(x - c) dt + √(2D) dW, from the stationary law of variance D/κ
//	directed   dx = v dt + √(2D) dW
//	anomalous  ½E(x(t) - x(0))² = K t^α, Gaussian: fractional Brownian motion
//
// Each law has an evidence: the density of the steps of the track, with the parameters integrated. All classes are equally likely before the track, and
// Bayes' rule gives their probabilities. All densities refer to the same steps: a place that a law leaves free never counts. The scale λ, px², is
// integrated in closed form over dλ/λ. The other parameters, all ratios, are integrated over grids uniform in their logarithms (evidence.go), α over a
// uniform grid. So no unit and no guess of a size enters. If localisation gives variances, σ² is held to them within a quarter.
//
//	places.go       the input of a track: steps, frames, gaps
//	markov.go       the likelihoods of stuck, free, directed and confined: exact, O(n), any times and variances
//	fractional.go   the likelihood of fractional Brownian motion: predictions of Levinson and Durbin from tables, exact to 32 steps back
//	conditional.go  the same with missing frames: each step given the 8 before it
//	plane.go        a grid that is evaluated only near its top
//	quadrature.go   integrals between a grid's points
//	evidence.go     priors and evidences
//	judge.go        Judge: the verdict
//	describe.go     the figures of a class: D with its interval, and others
//
// The exponent α of E(x(t) - x(0))² ∝ t^α also describes motion that is not Gaussian or whose law changes with time. It is the median from a net over
// unit-free features, trained on the five models of the Anomalous Diffusion Challenge (Muñoz-Gil et al., Nature Communications 12, 6253, 2021):
//
//	scaled.go       scaled Brownian motion, whose exponent is a feature
//	features.go     moments, histograms, persistence and ageing of displacements over lags, and the posteriors of both Gaussian models
//	network.go      the net: a density over exponents, and over the five models
//	network.bin     its weights; training_test.go makes them
//
// Lengths are in px and times in s. Memory is bounded: only the last 1000 places of a track count.
package motion
