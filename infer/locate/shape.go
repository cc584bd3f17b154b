package locate

import "math"

// No real spot matches the template exactly: beads have rings and glints, optics are astigmatic, and a strong spot shows it. A single spot is longer
// than the template by e = (K's eigenvalues' difference)/a. e scatters by the picture's noise, σ, and by the spots' own shapes, τ. A share π are pairs,
// with any e: pairs are uniform in area, δ² = 2e, so every e below 2.4²/8 is equally likely. So
//
//	p(e) = (1 - π) (e/s²) exp(-e²/2s²) + π / mostLong,    s² = σ² + τ²
//
// and τ is the likeliest of a few values. It is 0 unless Schwarz's criterion prefers τ, and for most of the spots. If all spots are longer than the
// template, their shape differs from it. If a few are, they are pairs.
const (
	mostLong    = 1.0  // e of the longest pairs, 0.72, and its scatter
	leastTau    = 0.01 // least value tried: a smaller one would change no split
	mostTau     = 0.2  // a larger scatter looks like pairs
	tauStep     = 1.3
	shares      = 4    // rounds of expectation and maximization of π
	firstShare  = 0.2  // initial π
	tauEvidence = 1.0  // nats that τ must gain: one long spot proves nothing
	longest     = 4096 // spots used
)

// long is how much longer than the template a spot is, with the sd, as fractions of its amplitude.
type long struct {
	spot   int32
	e, sd  float64
	dx, dy float64 // half the offset between its halves, if it is two
	single float64 // scratch: likelihood of e for a single spot
}

// shapeScatter returns τ of the spots in longs.
func shapeScatter(longs []long) (tau float64) {
	longs = longs[:min(len(longs), longest)]
	if len(longs) == 0 {
		return 0
	}
	best := math.Inf(-1)
	for t := leastTau; t <= mostTau && mostAsk(longs, t); t *= tauStep {
		if v := pairLikelihood(longs, t); v > best {
			best, tau = v, t
		}
	}
	if tau == 0 || best < pairLikelihood(longs, 0)+tauEvidence+0.5*math.Log(float64(len(longs))) {
		return 0
	}
	return tau
}

// reachOf returns how many τ the length of a single spot hardly ever exceeds, if so many spots determined τ. e² over their mean has Fisher's law with 2
// and 2n degrees of freedom. It exceeds x with probability (1 + x/2n)⁻ⁿ, for very many spots exp(-x/2), the probability beyond splitSDs.
func reachOf(n int) float64 {
	return math.Sqrt(2 * float64(n) * math.Expm1(splitSDs*splitSDs/2/float64(n)))
}

// mostAsk reports whether τ makes more than half of the spots likelier: a crowd of pairs does not make the other spots longer.
func mostAsk(longs []long, tau float64) bool {
	n := 0
	for _, g := range longs {
		v := tau * tau / (g.sd * g.sd)
		if square := g.e * g.e / (g.sd * g.sd); 0.5*square*v/(1+v) > math.Log1p(v) {
			n++
		}
	}
	return 2*n > len(longs)
}

// pairLikelihood returns the log-likelihood of τ, with the likeliest share of pairs.
func pairLikelihood(longs []long, tau float64) (sum float64) {
	for i := range longs {
		g := &longs[i]
		v := g.sd*g.sd + tau*tau
		g.single = g.e / v * math.Exp(-g.e*g.e/(2*v))
	}
	share := firstShare
	for range shares - 1 {
		pairs, pair := 0.0, share/mostLong
		for _, g := range longs {
			pairs += pair / ((1-share)*g.single + pair)
		}
		share = max(pairs/float64(len(longs)), 1e-3)
	}
	for _, g := range longs {
		sum += math.Log((1-share)*g.single + share/mostLong)
	}
	return sum
}
