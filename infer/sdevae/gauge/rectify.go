package gauge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// The limits of rectification.
const (
	leastDegree = 2 // degree of the map
	mostDegree  = 5
	maxSteps    = 200   // steps of L-BFGS
	mostPairs   = 10000 // pairs used for learning, spread over the clip
)

const (
	largestNoise float64 = 0.2 // tuned gauge.largestNoise: r above which noise, then 0.3 of the increments, hides the curvature of the latents; the estimate's sd on 1,000 frames is about 0.04
	leastGain    float64 = 2   // tuned gauge.leastGain: nats over all held-out pairs below which the gain of a map is chance: a likelihood ratio of e²
	// MinPairs is the least number of pairs that show how latents bend.
	MinPairs            = 150 // tuned gauge.minPairs: fewest pairs for which increments or slow features show what is straight
	pairsPerCoefficient = 10  // tuned gauge.pairsPerCoefficient: with fewer pairs the map extrapolates badly: with 79 pairs and 48 coefficients R² fell from 0.99 to 0
)

// Straighten returns r, followed by a polynomial that makes the diffusion equal everywhere and by another whitening. It learns the polynomial only from the
// latents m (n × d). It returns r itself if the polynomial gains nothing, if localisation noise hides the increments, or if there are too few pairs for the
// coefficients.
func (r *Map) Straighten(m []float32, pairs []video.Pair) (*Map, *Rectified, error) {
	d := len(r.Mean)
	// case gauge.rectify: a map of the latents that makes the diffusion uniform
	if fewPairs(numeric.NewBasis(d, leastDegree), d, pairs) || noise(Increments(m, d, pairs)) > largestNoise {
		return r, nil, nil
	}
	unit := r.UnitVariance(m)
	p, gain := bestPolynomial(unit.Affine(m), pairs)
	if p == nil {
		return r, nil, nil
	}
	return unit.bent(p, m, pairs, Rectified{Gain: gain})
}

// fewPairs reports whether there are too few pairs to learn a polynomial with this basis.
func fewPairs(b numeric.Basis, d int, pairs []video.Pair) bool {
	return len(pairs) < max(MinPairs, pairsPerCoefficient*coefficients(b, d))
}

// bestPolynomial returns the polynomial whose degree has the best held-out likelihood, learnt from all pairs, and its gain per held-out pair. It tries only
// degrees for which there are enough pairs, and returns nil if none gains more than chance.
func bestPolynomial(s *mat.Dense, pairs []video.Pair) (best *numeric.Polynomial, gain float64) {
	_, d := s.Dims()
	s, pairs = thinned(s, pairs)
	train, held := interleave(pairs)
	degree := 0
	for n := leastDegree; n <= mostDegree; n++ {
		b := numeric.NewBasis(d, n)
		if fewPairs(b, d, pairs) {
			break
		}
		l := newLikelihood(b, s, train, held)
		if g := l.nll(l.held, l.straight()) - l.nll(l.held, l.most()); g > gain {
			degree, gain = n, g
		}
	}
	if gain*float64(len(held)) < leastGain {
		return nil, 0
	}
	b := numeric.NewBasis(d, degree)
	all := newLikelihood(b, s, pairs, held)
	return &numeric.Polynomial{Basis: b, Weights: all.weights(all.most())}, gain
}

// thinned returns at most mostPairs of the pairs, with only the latents of their frames.
func thinned(s *mat.Dense, pairs []video.Pair) (*mat.Dense, []video.Pair) {
	pairs = slices.Clone(numeric.Spread(pairs, mostPairs))
	frames := video.FramesOf(pairs)
	_, d := s.Dims()
	few := mat.NewDense(len(frames), d, nil)
	for i, k := range frames {
		few.SetRow(i, s.RawRowView(k))
	}
	for i, r := range video.RowsOf(frames, pairs) {
		pairs[i].First = r[0]
	}
	return few, pairs
}

// most minimises the loss, starting from straight latents.
func (l *likelihood) most() []float64 {
	x := l.straight()
	if math.IsInf(l.nll(l.train, x), 1) { // an axis is constant
		return x
	}
	// An error of the line search means that rounding prevents further progress, which is the minimum.
	end, _ := optimize.Minimize(optimize.Problem{Func: l.loss, Grad: l.gradient}, x, &optimize.Settings{
		MajorIterations: maxSteps, Converger: &optimize.FunctionConverge{Absolute: 1e-6, Iterations: 5}}, &optimize.LBFGS{})
	return end.X
}
