package sdevae

import "math"

// chain passes what is known of a place from frame to frame.
type chain struct {
	plane  *plane
	step   float64
	sum    []complex128
	narrow []float32
}

// nothing is known: all places are as likely.
func (c *chain) nothing() []float64 {
	p := make([]float64, c.plane.h*c.plane.w)
	for i := range p {
		p[i] = 1
	}
	return p
}

// pass blurs what is known by the steps of so many frames. Nowhere becomes impossible: a thing may jump once in a while.
func (c *chain) pass(p []float64, frames float64) []float64 {
	const jumps = 1e-9
	if frames == 0 {
		return c.nothing()
	}
	for i, v := range p {
		c.narrow[i] = float32(v)
	}
	c.plane.forward(c.sum, c.narrow)
	for j := range c.sum {
		c.sum[j] *= complex(c.blurs(j/c.plane.half, j%c.plane.half, frames), 0)
	}
	out := make([]float64, len(p))
	c.plane.back(out, c.sum)
	for i, v := range out {
		out[i] = max(v, 0) + jumps
	}
	return out
}

// blurs is a normal's characteristic function at a spectrum's row and column.
func (c *chain) blurs(y, x int, frames float64) float64 {
	if 2*y > c.plane.h {
		y -= c.plane.h
	}
	a, b := 2*math.Pi*float64(y)/float64(c.plane.h), 2*math.Pi*float64(x)/float64(c.plane.w)
	return math.Exp(-0.5 * frames * c.step * c.step * (a*a + b*b))
}

// both is what two say together, at most 1.
func both(a, b []float64) []float64 {
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
