package online

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// posterior is what a recording says of the drift, doc.go (7) to (12): its mean at any point. Dimensions that are not active have
// drift 0. Methods but learn only read it, and allocate.
type posterior struct {
	dim    int
	active []int
	root   []float64 // √v of each active dimension, latent/s^½
	want   *want     // for the slice that learns it

	basis    *basis
	constant []float64  // the mean coefficients of the constants,
	matrix   *mat.Dense // of the linear fields, row i for e_i,
	radial   float64    // of the radial field,
	curves   []curve    // and of the bumps of each length scale
	evidence float64    // ln of it, over all combinations
	seconds  float64    // that the steps carry

	mixture *mixture   // nil in a draw
	axes    *mat.Dense // of its linear options
}

// curve is a mean drift made of bumps: k(u)'weights - [1,u]'affine.
type curve struct {
	bumps           *bumps
	weights, affine mat.Dense // M×d, (1+d)×d
}

// newPosterior is what a track says of the drift, beside what is known of it.
func newPosterior(v *lens, t *track) (*posterior, error) {
	p := &posterior{dim: t.dim, active: v.active, root: v.root}
	if len(v.active) == 0 {
		return p, nil
	}
	return p, p.learn(v.steps(t))
}

// learn fills p in from the steps, which are of the active dimensions and in their units.
func (p *posterior) learn(s *steps) error {
	p.basis = newBasis(s)
	m := newMoments(s, p.basis)
	q, lambda, err := m.axes()
	if err != nil {
		return err
	}
	bumps, err := allBumps(s, p.basis, m)
	if err != nil {
		return err
	}
	p.mixture, p.axes = newMixture(m, &linear{q: q, lambda: lambda}, bumps), q
	p.evidence, p.seconds = p.mixture.evidence, m.seconds
	p.average(bumps)
	return nil
}

// average gathers the mean coefficients over all combinations.
func (p *posterior) average(all []*bumps) {
	x, d := p.mixture, len(p.basis.centre)
	p.constant, p.radial, p.curves = make([]float64, d), x.radial, nil
	for i := range x.options[0] {
		x.options[0][i].average(p.constant)
	}
	turned := mat.NewDense(d, d, nil)
	for i := range x.options[1] {
		x.options[1][i].average(turned.RawMatrix().Data)
	}
	p.matrix = rotated(turned, p.axes.T())
	for _, f := range all {
		mean := mat.NewDense(len(f.lambda), d, nil)
		for i := range x.options[2] {
			if o := &x.options[2][i]; o.bumps == f {
				o.average(mean.RawMatrix().Data)
			}
		}
		p.curves = append(p.curves, f.curve(mean))
	}
}

// curve is the drift of which the rows of mean, rank×d, are the coefficients.
func (f *bumps) curve(mean *mat.Dense) curve {
	c := curve{bumps: f}
	c.weights.Mul(&f.mix, mean)
	c.affine.Mul(&f.affine, mean)
	return c
}

// draws are n drifts that the steps leave possible, as likely as each is: a combination, then its coefficients.
func (p *posterior) draws(n int, rng *rand.Rand) []*posterior {
	at := make([]float64, n)
	for i := range at {
		at[i] = rng.Float64()
	}
	slices.Sort(at)
	var drawn []*posterior
	k, below := 0, 0.0
	for c := range p.mixture.all {
		below += math.Exp(p.mixture.logs[k] - p.evidence)
		k++
		for len(drawn) < n && at[len(drawn)] < below {
			drawn = append(drawn, p.draw(c, rng))
		}
	}
	return drawn
}

// draw is a drift of the combination c.
func (p *posterior) draw(c combination, rng *rand.Rand) *posterior {
	d := len(p.basis.centre)
	one := &posterior{dim: p.dim, active: p.active, root: p.root, basis: p.basis,
		radial: c.mean + math.Sqrt(c.variance)*rng.NormFloat64(), constant: make([]float64, d)}
	coefficients := func(part int, dst []float64) {
		if o := &p.mixture.options[part][c.at[part]]; o.on > 0 {
			copy(dst, o.mean)
			floats.AddScaled(dst, -one.radial, o.lean)
			o.scatter(dst, rng)
		}
	}
	coefficients(0, one.constant)
	turned := mat.NewDense(d, d, nil)
	coefficients(1, turned.RawMatrix().Data)
	one.matrix = rotated(turned, p.axes.T())
	if f := p.mixture.options[2][c.at[2]].bumps; f != nil {
		mean := mat.NewDense(len(f.lambda), d, nil)
		coefficients(2, mean.RawMatrix().Data)
		one.curves = []curve{f.curve(mean)}
	}
	return one
}

// drift writes the posterior mean of μ(z) into dst, both of the latents' dimension, latent/s.
func (p *posterior) drift(dst, z []float64) {
	clear(dst)
	if len(p.active) == 0 {
		return
	}
	mu := make([]float64, len(p.active))
	p.moving(mu, p.seen(z))
	for i, at := range p.active {
		dst[at] = p.root[i] * mu[i]
	}
}

// moving writes the mean drift at x into dst, both of the active dimensions in units of √v.
func (p *posterior) moving(dst, x []float64) {
	u := make([]float64, len(x))
	p.basis.scaled(u, x)
	mu := mat.NewVecDense(len(dst), dst)
	mu.MulVec(p.matrix, mat.NewVecDense(len(u), u))
	floats.Add(dst, p.constant)
	p.curved(dst, u)
}

// seen are the active dimensions of z in units of √v.
func (p *posterior) seen(z []float64) []float64 {
	x := make([]float64, len(p.active))
	for i, at := range p.active {
		x[i] = z[at] / p.root[i]
	}
	return x
}

// scaled is u of the active dimensions of z.
func (p *posterior) scaled(z []float64) []float64 {
	u := p.seen(z)
	p.basis.scaled(u, u)
	return u
}

// curved adds what is not affine in u to dst, in units of √v.
func (p *posterior) curved(dst, u []float64) {
	floats.AddScaled(dst, p.radial*p.basis.bend(u), u)
	for i := range p.curves {
		p.curves[i].add(dst, u)
	}
}

// add adds the curve's drift at u to dst.
func (c *curve) add(dst, u []float64) {
	var points [mostBumps]float64
	k := points[:c.weights.RawMatrix().Rows]
	c.bumps.kernel(k, u)
	for m, v := range k {
		floats.AddScaled(dst, v, c.weights.RawRowView(m))
	}
	floats.Sub(dst, c.affine.RawRowView(0))
	for i, v := range u {
		floats.AddScaled(dst, -v, c.affine.RawRowView(1+i))
	}
}
