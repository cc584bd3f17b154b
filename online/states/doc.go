// Package states finds which laws the objects of a population obey, and who obeys which: a mixture of states that differ in their diffusion.
//
// Steps of an object in a state are Gaussian. With the variance uₙ that place n brings, σ² wₙ by the noise and less what the exposure e blurs,
//
//	E Δₙ²     = 2DΔt + uₙ₋₁ + uₙ,  uₙ = σ² wₙ - De/3
//	E Δₙ Δₙ₊₁ = -uₙ
//
// (Berglund, Physical Review E 82, 011917, 2010; Vestergaard, Blainey and Flyvbjerg, Physical Review E 89, 022726, 2014), a tridiagonal covariance whose
// factors give the likelihood of a track in one pass, exactly, with gaps and places of unequal noise. One step in ten thousand may be stray: it leads anywhere
// within the longest step, and begins the covariance anew.
//
//	segment.go   Segment: consecutive steps of one object; their likelihood and its derivatives
//	mixture.go   K states that share the noise, by maximum likelihood
//	spread.go    the same, where D is spread about each state's
//	table.go     the likelihoods over a grid of D that this takes
//	choose.go    how many states, and whether with a spread: by evidence
//	interval.go  95 % intervals, by profile likelihood
//	maximise.go  Newton's method within bounds
//	array.go     the spectrum of D: a state array by variational Bayes, Spectrum
//	focus.go     the share of fast objects that a thin focus loses
//	each.go      all tracks, on as many cores as there are
//	law.go       Infer: the mixture, its intervals, and what it makes of every object
//	lag.go       longer steps, where a film shows objects late
//	says.go      the law in a sentence
//	draw.go      tracks of which the law is known
//
// Lengths are px and times s, or any other unit of length throughout. Nothing is random.
package states
