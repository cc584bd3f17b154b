package locate

import "math"

// No real spot matches the template exactly: beads have rings and glints, and optics are astigmatic. In a strong spot the difference is visible. The elongation
// of a single spot over the template is e = (difference of K's eigenvalues)/a. e scatters because of the picture's noise, σ, and because of the spots' own
// shapes, τ. A share π of the spots are pairs. Pairs are uniform in area and δ² = 2e, so their e is equally likely to have any value below 2.4²/8. So
//
//	p(e) = (1 - π) (e/s²) exp(-e²/2s²) + π / mostLong,    s² = σ² + τ²
//
// and τ is the most likely of a few values. It is 0 unless Schwarz's criterion prefers a τ above 0 and this τ makes most spots likelier. If all spots are
// longer than the template, their common shape differs from it. If only a few are longer, these are pairs.
const (
	mostLong    = 1.0  // largest e: 0.72 for the longest pairs, and its scatter
	leastTau    = 0.01 // smallest value tried; a smaller one would change no split
	mostTau     = 0.2  // largest value tried; a larger scatter looks like pairs
	tauStep     = 1.3
	shares      = 4    // rounds of expectation-maximization for π
	firstShare  = 0.2  // initial π
	tauEvidence = 1.0  // log-likelihood that τ must gain, nats; one long spot proves nothing
	longest     = 4096 // largest number of spots used
)

// long is the elongation e of a spot over the template, and its sd, as fractions of the spot's amplitude.
type long struct {
	spot   int32
	e, sd  float64
	dx, dy float64 // half the offset between the two spots if it is a pair
	single float64 // scratch: likelihood of e for a single spot
}

// shapeScatter estimates τ from the spots in longs.
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

// reachOf returns the elongation, in units of τ, that a single spot hardly ever exceeds if τ was estimated from n spots. The ratio of e² to its mean has
// Fisher's law with 2 and 2n degrees of freedom. It exceeds x with probability (1 + x/2n)⁻ⁿ. For very large n this is exp(-x/2), the probability of a value
// beyond splitSDs.
func reachOf(n int) float64 {
	return math.Sqrt(2 * float64(n) * math.Expm1(splitSDs*splitSDs/2/float64(n)))
}

// mostAsk reports whether τ makes more than half of the spots likelier. Many pairs alone do not, because the other spots are not longer.
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

// pairLikelihood returns the log-likelihood of τ, maximised over the share of pairs.
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
