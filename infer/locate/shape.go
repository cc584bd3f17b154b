package locate

import "math"

// No real spot is quite the template: beads have rings and glints, optics are astigmatic, and a strong spot shows it. How much longer than the template a
// single spot is, e = (K's eigenvalues' difference)/a, scatters with what the picture tells it by, σ, and with the spots' own shapes, τ. Of a share π that
// are pairs, e is anything: of pairs 2δ apart as many as area has, δ² = 2e, so every e below 2.4²/8 alike. So
//
//	p(e) = (1 - π) (e/s²) exp(-e²/2s²) + π / mostLong,    s² = σ² + τ²
//
// and τ is the likeliest one of a few, 0 unless it is likelier by Schwarz's criterion, and for most of the spots: those that all are longer than the template
// are of another shape, and a few that are so among many are pairs.
const (
	mostLong    = 1.0  // e of the longest pairs, 0.72, and its scatter
	leastTau    = 0.01 // of those that are tried: less is nothing a split would ask for
	mostTau     = 0.2  // a scatter that is hardly told from pairs, π alike
	tauStep     = 1.3
	shares      = 4    // rounds of expectation and maximization of π
	firstShare  = 0.2  // π that they begin with
	tauEvidence = 1.0  // nats more: of one long spot nothing tells
	longest     = 4096 // spots that are looked at
)

// long is how much longer than the template a spot is, with its sd; in parts of its amplitude.
type long struct {
	spot   int32
	e, sd  float64
	dx, dy float64 // half the way between its halves, if it is two
	single float64 // scratch: how likely e is of a single spot
}

// shapeScatter is τ of the spots in longs.
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

// reachOf is how many τ a single spot's length hardly ever exceeds, where so many spots told τ: e² over theirs has Fisher's law of 2 and 2n degrees of
// freedom, and is above x with the probability (1 + x/2n)⁻ⁿ, for very many exp(-x/2), which is that of splitSDs.
func reachOf(n int) float64 {
	return math.Sqrt(2 * float64(n) * math.Expm1(splitSDs*splitSDs/2/float64(n)))
}

// mostAsk tells whether τ makes more than half of the spots likelier: a crowd of pairs is no reason to take the others for longer.
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

// pairLikelihood is the logarithm of the likelihood of τ, with the likeliest share of pairs.
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
