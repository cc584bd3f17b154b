// Package states infers the laws of a population of objects, and the law of each object: a mixture of states that differ in their diffusion.
//
// The steps of an object in a state are Gaussian. With the variance uₙ of place n, noise σ² wₙ minus the blur by the exposure e,
//
//	E Δₙ²     = 2DΔt + uₙ₋₁ + uₙ,  uₙ = σ² wₙ - De/3
//	E Δₙ Δₙ₊₁ = -uₙ
//
// (Berglund, Physical Review E 82, 011917, 2010; Vestergaard, Blainey and Flyvbjerg, Physical Review E 89, 022726, 2014). This covariance is
// tridiagonal. Its factors give the likelihood of a track in one pass, exactly, with gaps and places of unequal noise. One step in ten thousand may be
// stray: it leads anywhere within the longest step, and restarts the covariance.
//
//	segment.go   Segment: consecutive steps of one object; their likelihood and its derivatives
//	mixture.go   K states that share the noise, by maximum likelihood
//	spread.go    the same, with D spread around the D of each state
//	table.go     the likelihoods over a grid of D, for the spread
//	choose.go    the number of states, and whether there is a spread: by evidence
//	interval.go  95 % intervals, by profile likelihood
//	maximise.go  Newton's method within bounds
//	array.go     the spectrum of D: a state array by variational Bayes, Spectrum
//	focus.go     the share of fast objects lost from a thin focus
//	each.go      all tracks, on all cores
//	law.go       Infer: the mixture, its intervals, and the state and D of every object
//	lag.go       longer steps for films that smear motion over frames
//	says.go      the law in a sentence
//	draw.go      simulated tracks
//
// Lengths are in px, or in any other unit if used throughout, and times in s. Nothing is random.
package states
