// Correction
//
// The published drift is the model's own drift plus a Correction. The correction was learnt in a box of latents. Beyond the box its affine part continues,
// and the rest has its value at the nearest point of the box.

package drift

import (
	"math/rand/v2"
	"slices"

	"driftscope/internal/kit/archive"
)

// Field is the published drift: the model's own, plus the learnt correction.
type Field struct {
	prior      *Network    // nil means zero
	correction *Correction // immutable; Correct replaces it
	scratch    Scratch
	near       []float64 // the nearest point of the correction's box
	mu, jac    []float64
}

// Correction is a drift in addition to the model's own drift, with the box of latents that it was learnt from. Beyond the box its affine part continues
// unchanged: a whirl stays a whirl at radii that no latent has reached. The other part is unknown beyond the box. It has its value at the nearest point of
// the box, because its fields would grow with the cube of the distance.
type Correction struct {
	Network   *Network
	Low, High []float64 // limits of the box in each dimension, latent; nil: no bounds
	Affine    bool      // the network's hidden layers are unused
}

// NoCorrection returns a correction of zero.
func NoCorrection(dim int) *Correction {
	n := NewNetwork(dim, rand.New(rand.NewPCG(0, 0)))
	clear(n.Weights)
	return &Correction{Network: n, Affine: true}
}

// NewField returns the sum of the model's own drift, nil for zero, and a correction.
func NewField(prior *Network, c *Correction) *Field {
	d := c.Network.Dim
	return &Field{prior: prior, correction: c, near: make([]float64, d), mu: make([]float64, d), jac: make([]float64, d*d)}
}

// Correct replaces the correction.
func (f *Field) Correct(c *Correction) { f.correction = c }

// nearest writes the point of the box nearest to z into dst.
func (c *Correction) nearest(dst, z []float64) {
	copy(dst, z)
	for i := range c.Low {
		dst[i] = min(max(z[i], c.Low[i]), c.High[i])
	}
}

// affinePart writes the network's affine part at z into mu, and its Jacobian into jac unless jac is nil.
func (n *Network) affinePart(mu, jac, z []float64) {
	d := n.Dim
	skip := n.Weights[len(n.Weights)-d*d:]
	copy(mu, n.Weights[len(n.Weights)-d*d-d:])
	for j, v := range z {
		u := (v - n.Centre[j]) / n.Scale
		for i, k := range skip[j*d : (j+1)*d] {
			mu[i] += u * k
			if jac != nil {
				jac[i*d+j] = k / n.Scale
			}
		}
	}
}

// slope returns ∂μᵢ/∂zⱼ of the affine part.
func (n *Network) slope(i, j int) float64 {
	return n.Weights[len(n.Weights)-(n.Dim-j)*n.Dim+i] / n.Scale
}

// Drift writes μ(z) into dst.
func (f *Field) Drift(dst, z []float64) {
	c := f.correction
	if c.Affine {
		c.Network.affinePart(dst, nil, z)
	} else {
		c.nearest(f.near, z)
		c.Network.Drift(dst, f.near, &f.scratch)
		f.goOn(dst, nil, z)
	}
	if f.prior != nil {
		f.prior.Drift(f.mu, z, &f.scratch)
		add(dst, f.mu)
	}
}

// goOn extends the drift mu from the nearest point of the box to z by the affine part, and also its Jacobian unless jac is nil.
func (f *Field) goOn(mu, jac, z []float64) {
	d, n := len(z), f.correction.Network
	for j, v := range z {
		for i := 0; v != f.near[j] && i < d; i++ {
			k := n.slope(i, j)
			mu[i] += k * (v - f.near[j])
			if jac != nil {
				jac[i*d+j] = k
			}
		}
	}
}

// Linearise writes μ(z) and its Jacobian into mu and jac.
func (f *Field) Linearise(mu, jac, z []float64) {
	c := f.correction
	if c.Affine {
		c.Network.affinePart(mu, jac, z)
	} else {
		c.nearest(f.near, z)
		c.Network.Linearise(mu, jac, f.near, &f.scratch)
		f.goOn(mu, jac, z)
	}
	if f.prior != nil {
		f.prior.Linearise(f.mu, f.jac, z, &f.scratch)
		add(mu, f.mu)
		add(jac, f.jac)
	}
}

func add(dst, x []float64) {
	for i, v := range x {
		dst[i] += v
	}
}

// Archive reads or writes the correction. The model's own drift is not part of it.
func (f *Field) Archive(a *archive.Codec) { f.correction = f.correction.Archive(a) }

// Archive returns the correction that it read, or c when it writes.
func (c *Correction) Archive(a *archive.Codec) *Correction {
	c = &Correction{c.Network.Archive(a), slices.Clone(c.Low), slices.Clone(c.High), c.Affine}
	bounded := c.Low != nil
	if a.Bool(&bounded); bounded && c.Low == nil {
		c.Low, c.High = make([]float64, c.Network.Dim), make([]float64, c.Network.Dim)
	} else if !bounded {
		c.Low, c.High = nil, nil
	}
	a.Floats(c.Low)
	a.Floats(c.High)
	a.Bool(&c.Affine)
	return c
}

// Archive returns the network that it read, or n when it writes. The network must have the shape of n.
func (n *Network) Archive(a *archive.Codec) *Network {
	n = n.Clone() // a published network is never written
	a.Floats(n.Centre)
	a.Float(&n.Scale)
	a.Floats(n.Weights)
	a.Require(n.Validate() == nil, "a network has a number beyond ±%g or a scale below %g", maxWeight, 1/maxWeight)
	return n
}
