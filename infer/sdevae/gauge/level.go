package gauge

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// A clip too short for rectification says too little of how its latents bend: 18 coefficients learnt from 79 pairs are worth less than their
// noise. But where things move by little against their size, pictures are linear in the motion. Then their principal components are straight
// coordinates of it, the same for every restart.
const (
	minLinear       = 0.9         // share of the pictures' variance beyond noise that d components must explain: 0.94 on a bead
	minPredicted    = 0.8         // R² of every component from the latents, on frames that were left out
	componentDegree = leastDegree // of the map from latents to components
	framesPerTerm   = 5           // of that map
	componentFrames = 1000        // at most
	componentFolds  = 5
)

// alongComponents is r followed by the map to the pictures' first d principal components, learnt from the latents m (n × d) of the clip's frames,
// and by another whitening. It is r itself where the clip is long enough for rectification, where the motion is large or has more than d
// components, or where the latents do not predict every one of them.
func (r *Map) alongComponents(m []float32, pairs []video.Pair, clip *video.Clip) (*Map, *Rectified, error) {
	d := len(r.Mean)
	b := numeric.NewBasis(d, componentDegree)
	if n := clip.Len(); len(pairs) >= MinPairs || n < framesPerTerm*len(b) || n > componentFrames || noise(Increments(m, d, pairs)) > largestNoise {
		return r, nil, nil
	}
	components, share := clip.PrincipalComponents(d)
	unit := r.UnitVariance(m)
	s := unit.Affine(m)
	if share < minLinear || !predicted(b, s, components) {
		return r, nil, nil
	}
	p, err := numeric.FitPolynomial(b, s, components)
	if err != nil || p.Folds(s) {
		return r, nil, nil
	}
	return unit.bent(p, m, pairs, Rectified{Components: share})
}

// predicted says whether the map learnt from the other parts of the clip predicts every component in each part.
func predicted(b numeric.Basis, s, components *mat.Dense) bool {
	n, d := components.Dims()
	missed := make([]float64, d)
	for fold := range componentFolds {
		from, to := fold*n/componentFolds, (fold+1)*n/componentFolds
		p, err := numeric.FitPolynomial(b, numeric.WithoutRows(s, from, to), numeric.WithoutRows(components, from, to))
		if err != nil {
			return false
		}
		guess := p.Apply(s.Slice(from, to, 0, d).(*mat.Dense))
		for i := range to - from {
			for k := range d {
				e := guess.At(i, k) - components.At(from+i, k)
				missed[k] += e * e / float64(n)
			}
		}
	}
	return slices.Max(missed) <= 1-minPredicted
}
