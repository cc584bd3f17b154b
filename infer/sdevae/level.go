package sdevae

import (
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
