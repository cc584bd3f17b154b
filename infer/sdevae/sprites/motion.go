package sprites

import (
	"math"

	"driftscope/infer/sdevae/numeric"
)

// motionPrior propagates the distribution of a position from frame to frame.
type motionPrior struct {
	plane   *numeric.Plane
	step    float64
	sum     []complex128
	scratch []float32
}

// uniform returns a uniform distribution.
func (c *motionPrior) uniform() []float64 {
	p := make([]float64, c.plane.H*c.plane.W)
	for i := range p {
		p[i] = 1
	}
	return p
}

// predict blurs a distribution by the steps of several frames. No position becomes impossible, because an object may occasionally jump.
func (c *motionPrior) predict(p []float64, frames float64) []float64 {
	const jumps = 1e-9
	if frames == 0 {
		return c.uniform()
	}
	for i, v := range p {
		c.scratch[i] = float32(v)
	}
	c.plane.Forward(c.sum, c.scratch)
	for j := range c.sum {
		c.sum[j] *= complex(c.characteristic(j/c.plane.Half, j%c.plane.Half, frames), 0)
	}
	out := make([]float64, len(p))
	c.plane.Inverse(out, c.sum)
	for i, v := range out {
		out[i] = max(v, 0) + jumps
	}
	return out
}

// characteristic returns the characteristic function of the normal distribution of a step at a row and column of the spectrum.
func (c *motionPrior) characteristic(y, x int, frames float64) float64 {
	if 2*y > c.plane.H {
		y -= c.plane.H
	}
	a, b := 2*math.Pi*float64(y)/float64(c.plane.H), 2*math.Pi*float64(x)/float64(c.plane.W)
	return math.Exp(-0.5 * frames * c.step * c.step * (a*a + b*b))
}

// combine multiplies two distributions and scales the product to a maximum of 1.
func combine(a, b []float64) []float64 {
	out := make([]float64, len(a))
	most := 0.0
	for i, v := range a {
		out[i] = v * b[i]
		most = max(most, out[i])
	}
	if most > 0 {
		for i := range out {
			out[i] /= most
		}
	}
	return out
}
