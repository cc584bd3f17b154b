package video

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/tuned"
)

// PrincipalComponents are the frames' first d principal components, n × d, each of variance 1, and the share of the variance beyond the
// pixels' noise that they explain.
func (c *Clip) PrincipalComponents(d int) (scores *mat.Dense, share float64) {
	n := c.Len()
	x := mat.NewDense(n, c.Size(), numeric.Float64s(c.Pixels))
	numeric.Centre(x)
	values, vectors, ok := numeric.PrincipalRows(x) // values are n times the variances
	if !ok {
		return nil, 0
	}
	scores = mat.NewDense(n, d, nil)
	for k := range d {
		scores.SetCol(k, mat.Col(nil, n-1-k, vectors))
		share += values[n-1-k] / float64(n)
	}
	scores.Scale(math.Sqrt(float64(n)), scores)
	return scores, share / (c.Energy() - c.Noise())
}

var overPrincipal = tuned.Number("video.principal", 2, "principal pictures that stand for a background that changes as a whole: more hold the object, too")

// WithoutPrincipal is the clip less the part of bare along the principal pictures of some of its frames; nil where nothing in them changes.
func (c *Clip) WithoutPrincipal(bare *Clip, some []int) *Clip {
	mean, principal := bare.principal(some)
	if principal == nil {
		return nil
	}
	rest, about := *c, numeric.Vector(make([]float32, c.Size()))
	rest.Pixels = make([]float32, len(c.Pixels))
	for f := range c.Len() {
		left := numeric.Vector(rest.Frame(f))
		blas32.Copy(numeric.Vector(c.Frame(f)), left)
		blas32.Axpy(-1, mean, left)
		blas32.Copy(numeric.Vector(bare.Frame(f)), about)
		blas32.Axpy(-1, mean, about)
		for _, p := range principal {
			blas32.Axpy(-blas32.Dot(about, p)/blas32.Dot(p, p), p, left)
		}
	}
	return &rest
}

// principal are the mean and the first principal pictures of some frames, orthogonal; none where nothing changes.
func (c *Clip) principal(some []int) (mean blas32.Vector, pictures []blas32.Vector) {
	few := &Clip{Channels: c.Channels, Height: c.Height, Width: c.Width, Pixels: c.Pick(some), Times: make([]float64, len(some)), Trajectory: make([]uint64, len(some))}
	mean = numeric.Vector(numeric.MeanRow(few.Pixels, few.Len(), few.Size()))
	scores, _ := few.PrincipalComponents(overPrincipal.Count())
	if scores == nil {
		return mean, nil
	}
	for k := range overPrincipal.Count() {
		p := numeric.Vector(make([]float32, few.Size()))
		for f := range few.Len() { // scores have the mean 0
			blas32.Axpy(float32(scores.At(f, k)), numeric.Vector(few.Frame(f)), p)
		}
		if blas32.Dot(p, p) > 0 {
			pictures = append(pictures, p)
		}
	}
	return mean, pictures
}
