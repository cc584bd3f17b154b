// Package exact has the law of tracks by likelihoods that are exact in time: the steps between places are never taken for those of a short time.
//
// A track's centre is unknown, with a flat prior, so that every law is a density of its steps alone. One place has noise of variance s², and is the mean over
// the exposure of its frame. Missing frames are longer steps.
//
//	trapped     dx = -A(x - c)dt + √(2D)dW, any linear field A: its springs differ, it turns
//	free        A = 0
//	directed    free, with a velocity of its own a track
//	fractional  ½E(x(t) - x(0))² = K t^α/2, Gaussian, with all of its memory
//	late        each step follows the one before by a share, as where a film shows objects late
//	switching   a hidden chain of states; a visit to a state draws D and α from it, and keeps them
//
// All compete for the same tracks. Free diffusion with a D of its own a track, lognormal, is the null: another kind is told where it explains the tracks by
// more nats than it does in one of a hundred sets of tracks without it (docs/lab/2026-11-27-law.md).
//
//	track.go      Track; tracks that cannot tell of a law
//	isotropic.go  traps of one rate: a Kalman filter that carries the centre
//	field.go      any linear field in two dimensions, with the exposure
//	trap.go       D, rates, rotation and noise of a trap with their intervals, by profile likelihood
//	search.go     minima and profiles
//	memory.go     steps given those before, by a mean square displacement: Levinson and Durbin; a few steps back behind a gap
//	family.go     laws of one more number, tabulated over the noise; the population of ln K
//	exponent.go   the population of exponents, its interval, and each track by it
//	cells.go      the densities of steps over D and α
//	chain.go      classes of cells that objects switch between
//	choose.go     the comparison
//	law.go        Infer: the law in numbers, every track's states
//
// Lengths are those of the places, times are frames. Nothing is random.
package exact
