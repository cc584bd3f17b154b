package video

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
)

const overPrincipal = 2 // tuned video.principal: principal pictures for a background that changes as a whole: more would contain the object

// WithoutPrincipal returns the clip minus its mean and minus the part of `bare` along the principal pictures of some frames of bare. It returns nil if nothing
// changes in these frames.
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

// principal returns the mean and the first principal pictures of some frames. The pictures are orthogonal; there are none if nothing changes.
func (c *Clip) principal(some []int) (mean blas32.Vector, pictures []blas32.Vector) {
	n, size, pixels := len(some), c.Size(), c.Pick(some)
	mean = numeric.Vector(numeric.MeanRow(pixels, n, size))
	x := mat.NewDense(n, size, numeric.Float64s(pixels))
	numeric.Centre(x)
	_, vectors, ok := numeric.PrincipalRows(x)
	for k := n - 1; ok && k >= max(n-overPrincipal, 0); k-- {
		p := numeric.Vector(make([]float32, size))
		for f := range n { // scores of variance 1 and mean 0
			blas32.Axpy(float32(math.Sqrt(float64(n))*vectors.At(f, k)), numeric.Vector(pixels[f*size:(f+1)*size]), p)
		}
		if blas32.Dot(p, p) > 0 {
			pictures = append(pictures, p)
		}
	}
	return mean, pictures
}
