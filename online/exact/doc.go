// Package exact infers the law of tracks from likelihoods that are exact in time: it never treats the steps between places as short.
//
// The centre of a track is unknown, with a flat prior, so that every law is a density of steps only. A place has noise of variance s², and is the mean
// over the exposure of its frame. Missing frames make longer steps.
//
//	trapped     dx = -A(x - c)dt + √(2D)dW, any linear field A: with unequal springs and a rotation
//	free        A = 0
//	directed    free, with its own velocity per track
//	fractional  ½E(x(t) - x(0))² = K t^α/2, Gaussian, with its full memory
//	late        each step contains a share of the previous one, as in a film that smears motion over frames
//	switching   a hidden chain of states; each visit to a state draws D and α from it, and keeps them
//
// All kinds compete for the same tracks. The null is free diffusion with a lognormal D per track. Another kind is reported if its gain in nats exceeds
// the gain that occurs in one of a hundred sets of tracks without it (docs/lab/2026-11-27-law.md).
//
//	track.go      Track; checks for tracks without information
//	isotropic.go  traps of one rate: a Kalman filter that also tracks the centre
//	field.go      any linear field in two dimensions, with the exposure
//	trap.go       D, rates, rotation and noise of a trap with their intervals, by profile likelihood
//	search.go     minima and profiles
//	memory.go     steps given the previous ones, from a mean square displacement: Levinson and Durbin; a few steps back after a gap
//	family.go     laws with one more parameter, tabulated over the noise; the population of ln K
//	exponent.go   the population of exponents, its interval, and the exponent of each track
//	cells.go      the densities of steps over D and α
//	chain.go      classes of cells with switching objects
//	choose.go     the comparison
//	law.go        Infer: the numbers of the law, the states of every track
//
// Lengths have the unit of the places, times are in frames. Nothing is random.
package exact
