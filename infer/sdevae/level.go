package sdevae

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// A clip too short for rectification says too little of how its latents bend: 18 coefficients learnt from 79 pairs are worth less than
// their noise. But where things move by little against their size, pictures are linear in what moves, and so their principal
// components are straight coordinates of it, the same for every start of the training.
const (
	linearShare   = 0.9         // of the pictures' variance beyond noise that d components explain where that holds: on a bead 0.94
	componentTold = 0.8         // R² of every component from the latents, on frames that were left out
	levelDegree   = leastDegree // of the map from latents to components
	framesPerTerm = 5           // of that map
	levelFrames   = 1000        // at most
	levelFolds    = 5
)

// level is r followed by the map to the pictures' first d principal components, learnt from the latents m (n × d) of the clip's
// frames, and by another whitening; r itself where the clip is long enough for rectification, where what moves moves far or by
// more than d components, or where the latents do not tell every one of them.
func (r *reference) level(m []float32, pairs []Pair, clip *Clip) (*reference, *Rectified, error) {
	d := len(r.mean)
	b := newBasis(d, levelDegree)
	if n := clip.Len(); len(pairs) >= leastPairs || n < framesPerTerm*len(b) || n > levelFrames || noise(increments(m, d, pairs)) > largestNoise {
		return r, nil, nil
	}
	components, share := clip.components(d)
	unit := r.unit(m)
	s := unit.coordinates(m)
	if share < linearShare || !told(b, s, components) {
		return r, nil, nil
	}
	p, err := fitPolynomial(b, s, components)
	if err != nil || p.folds(s) {
		return r, nil, nil
	}
	return unit.bent(p, m, pairs, Rectified{Components: share})
}

// components are the frames' first d principal components, n × d, each of variance 1, and the share of the variance beyond the
// pixels' noise that they explain.
func (c *Clip) components(d int) (scores *mat.Dense, share float64) {
	n := c.Len()
	x := mat.NewDense(n, c.Size(), wide(c.Pixels))
	centred(x)
	var gram mat.SymDense
	gram.SymOuterK(1, x)
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return nil, 0
	}
	values := eigen.Values(nil) // ascending, n times the variances
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	scores = mat.NewDense(n, d, nil)
	for k := range d {
		scores.SetCol(k, mat.Col(nil, n-1-k, &vectors))
		share += values[n-1-k] / float64(n)
	}
	scores.Scale(math.Sqrt(float64(n)), scores)
	return scores, share / (c.Energy() - c.Noise())
}

// told says whether the map learnt from the other parts of the clip tells every component in each part's frames.
func told(b basis, s, components *mat.Dense) bool {
	n, d := components.Dims()
	missed := make([]float64, d)
	for fold := range levelFolds {
		from, to := fold*n/levelFolds, (fold+1)*n/levelFolds
		p, err := fitPolynomial(b, without(s, from, to), without(components, from, to))
		if err != nil {
			return false
		}
		guess := p.apply(s.Slice(from, to, 0, d).(*mat.Dense))
		for i := range to - from {
			for k := range d {
				e := guess.At(i, k) - components.At(from+i, k)
				missed[k] += e * e / float64(n)
			}
		}
	}
	return slices.Max(missed) <= 1-componentTold
}

// without is x but for the rows from:to.
func without(x *mat.Dense, from, to int) *mat.Dense {
	n, d := x.Dims()
	rest := mat.NewDense(n-(to-from), d, nil)
	for i := range n - (to - from) {
		at := i
		if at >= from {
			at += to - from
		}
		rest.SetRow(i, x.RawRowView(at))
	}
	return rest
}

// folds says whether the map changes its orientation between two rows of s.
func (p *polynomial) folds(s *mat.Dense) bool {
	n, d := s.Dims()
	slopes := mat.NewDense(len(p.basis), d, nil)
	var jacobian mat.Dense
	var first float64
	for i := range n {
		p.basis.slopes(slopes, s.RawRowView(i))
		jacobian.Mul(slopes.T(), p.weights)
		det := mat.Det(&jacobian)
		if i == 0 {
			first = det
		}
		if !(det*first > 0) {
			return true
		}
	}
	return false
}
