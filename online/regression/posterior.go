// Groups of drifts
//
// The code uses the symbols of (8): G and b, as suffixes if there are several, and K, V, λ. The prefix or suffix radial marks the part of the radial field.
//
// A perceptron trained until convergence on one recording of 10 s is worse than no drift: its L_μ is 8 to 40. So the drift is averaged over small groups of
// fields (docs/explanation/training.md). Each active dimension is in units of its √v, so σ = 1. With u = (x - c)/ρ, c the mean of x over time and ρ² = mean|x
// - c|²/d, the groups are
//
//	constants e_i;  dilation u;  rotations u_j e_i - u_i e_j;                                (7)
//	shears u_j e_i + u_i e_j, with the stretches a_k(u_1 .. u_k, -k u_k+1), a_k = √(2/(k(k+1)));
//	radial ½(|u|² - a)u, a = mean|u|⁴/mean|u|²;  radial basis functions (RBF), up to four dimensions
//
// For coefficients of prior variance S = diag(τ²), τ² the same within a group, and Ψ the fields at a step,
//
//	G = Σ Δt Ψ'Ψ,  b = Σ Ψ'Δx,  K = I + S^½GS^½,  V = S^½K⁻¹S^½                              (8)
//	mean Vb,  ln evidence ½b'Vb - ½ ln det K
//
// An RBF is f_r(u) e_i, f = T'k(u) - A'[1,u], k_m(u) = exp(-|u - p_m|²/2ℓ²) about M = 20, 40, 50, 60 visited points. T makes T'k a sample of the process with
// that kernel, A subtracts the part that affine fields explain,
//
//	A = (Σ Δt [1,u][1,u]')⁻¹ Σ Δt [1,u]k',  ℓ = {½, 1, 2}·d^¼ for d ≤ 2, {0.7, 1.4}·d^¼ above     (9)
//
// The average includes every τ² in {0, 0.2, 2, 20}·(10 s/T) for every group. The prior for N groups is
//
//	p(none) = 1/3,  p(k at given τ² > 0) = 2/3 · 1/N · 1/(N over k) · 3^-k                   (10)
//
// The constants are uncoupled from the linear fields, because u has mean 0. RBFs are uncoupled from both, by (9). Along the axes of Σ Δt uu', rotations and
// shears are coupled in pairs only. Only a single number, for the radial field, remains to be inverted. So all 10240 combinations (in three dimensions) cost
// less than the sums, and none is left out.
//
// A combination without constants implies a drift of 0 at c, but c is just the mean of the latents. A spring's centre differs from c by 1/(κ√T), so the drift
// at c is N(0, 1/T). The mean step carries no information about it, because Σ Δx is the path's end minus its start, so the evidence does not support
// constants. The random drifts of Draws, which give the standard errors, therefore have constants of this variance whenever another group is on.
//
// A rotation of z does not change the mean over all combinations, except by σ² and R, which are found along the axes of z. The network's skip connection
// takes the affine part unchanged; the perceptron learns the rest at visited points.

package regression

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/internal/kit/numbers"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

// Posterior is the posterior of the drift after a recording, (7) to (12). It gives the mean drift at any point. Dimensions that are not active have drift 0.
// All methods allocate, and all but those that learn only read the Posterior.
type Posterior struct {
	dim    int
	active []int
	root   []float64     // √v of each active dimension, latent/s^½
	cancel *drift.Cancel // cancels the slice that this belongs to

	basis     *basis
	constant  []float64  // the mean coefficients of the constants,
	matrix    *mat.Dense // of the linear fields, row i for e_i,
	radial    float64    // of the radial field,
	rbfDrifts []rbfDrift // and of the radial basis functions of each length scale
	evidence  float64    // ln evidence over all combinations
	seconds   float64    // seconds of the steps

	mixture *mixture   // nil in a random drift of Draws
	axes    *mat.Dense // axes of its linear options
}

// Active lends the dimensions that move.
func (p *Posterior) Active() []int { return p.active }

// Root lends √v of each active dimension, latent/s^½.
func (p *Posterior) Root() []float64 { return p.root }

// Affine returns the affine part a + Ax of the mean drift. x and the drift are the active dimensions in units of their √v.
func (p *Posterior) Affine() (offset *mat.VecDense, slope *mat.Dense) {
	d := len(p.active)
	offset, slope = mat.NewVecDense(d, nil), new(mat.Dense)
	slope.Scale(1/p.basis.scale, p.matrix)
	offset.MulVec(slope, mat.NewVecDense(d, p.basis.centre))
	offset.SubVec(mat.NewVecDense(d, p.constant), offset)
	return offset, slope
}

// rbfDrift is a mean drift made of radial basis functions: k(u)'weights - [1,u]'affine.
type rbfDrift struct {
	rbf             *rbf
	weights, affine mat.Dense // M×d, (1+d)×d
}

// NewPosterior returns a Posterior without information about a drift in dim dimensions. The whitener's dimensions move. Once cancel is set, Network ends
// soon.
func NewPosterior(w *Whitener, dim int, cancel *drift.Cancel) *Posterior {
	return &Posterior{dim: dim, active: w.active, root: w.root, cancel: cancel}
}

// Learn fills p from a track. Do not call it if no dimension moves.
func (p *Posterior) Learn(w *Whitener, t *diffusion.Track) error { return p.learn(w.Steps(t)) }

// LearnSinceChange fills p from the steps since the drift last changed, each weighted by the σ² of its segment. A change must be believed at the given odds.
// It returns the first step after the change, 0 without one, and the steps that p was learnt from.
func (p *Posterior) LearnSinceChange(s *Steps, odds float64) (at int, since *Steps, err error) {
	s.weigh()
	if err := p.learn(s); err != nil {
		return 0, nil, err
	}
	at, err = changed(s, p.evidence, odds)
	if err != nil || at == 0 {
		return 0, s, err
	}
	s = s.part(at, s.Len())
	return at, s, p.learn(s)
}

// learn fills p from the steps, which contain the active dimensions in units of their √v.
func (p *Posterior) learn(s *Steps) error {
	p.basis = newBasis(s)
	m := newMoments(s, p.basis)
	q, lambda, err := m.axes()
	if err != nil {
		return err
	}
	rbfs, err := allRBFs(s, p.basis, m)
	if err != nil {
		return err
	}
	p.mixture, p.axes = newMixture(m, &linear{q: q, lambda: lambda}, rbfs), q
	p.evidence, p.seconds = p.mixture.evidence, m.seconds
	p.average(rbfs)
	return nil
}

// average gathers the mean coefficients over all combinations.
func (p *Posterior) average(all []*rbf) {
	x, d := p.mixture, len(p.basis.centre)
	p.constant, p.radial, p.rbfDrifts = make([]float64, d), x.radial, nil
	for i := range x.options[0] {
		x.options[0][i].average(p.constant)
	}
	turned := mat.NewDense(d, d, nil)
	for i := range x.options[1] {
		x.options[1][i].average(turned.RawMatrix().Data)
	}
	p.matrix = numbers.Congruent(turned, p.axes.T())
	for _, f := range all {
		mean := mat.NewDense(len(f.lambda), d, nil)
		for i := range x.options[2] {
			if o := &x.options[2][i]; o.rbf == f {
				o.average(mean.RawMatrix().Data)
			}
		}
		p.rbfDrifts = append(p.rbfDrifts, f.drift(mean))
	}
}

// drift returns the drift with the given coefficients, rank×d.
func (f *rbf) drift(mean *mat.Dense) rbfDrift {
	c := rbfDrift{rbf: f}
	c.weights.Mul(&f.mix, mean)
	c.affine.Mul(&f.affine, mean)
	return c
}

// Draws returns n random drifts from the posterior: for each it chooses a random combination, then random coefficients. If any group besides the constants is
// on, the constants have the variance 1/T, see above.
func (p *Posterior) Draws(n int, rng *rand.Rand) []*Posterior {
	at := make([]float64, n)
	for i := range at {
		at[i] = rng.Float64()
	}
	slices.Sort(at)
	var drawn []*Posterior
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

// draw returns a random drift of the combination c.
func (p *Posterior) draw(c combination, rng *rand.Rand) *Posterior {
	d := len(p.basis.centre)
	one := &Posterior{dim: p.dim, active: p.active, root: p.root, basis: p.basis,
		radial: c.mean + math.Sqrt(c.variance)*rng.NormFloat64(), constant: make([]float64, d)}
	coefficients := func(part int, dst []float64) {
		o := &p.mixture.options[part][c.at[part]]
		if o.on > 0 {
			copy(dst, o.mean)
			floats.AddScaled(dst, -one.radial, o.coupling)
		}
		if part == 0 && c.on > o.on { // another group fixes the drift relative to a position, and the variance of the constants is the error of the mean position
			for i := range dst {
				dst[i] += rng.NormFloat64() / math.Sqrt(p.seconds)
			}
		} else if o.on > 0 {
			o.sample(dst, rng)
		}
	}
	coefficients(0, one.constant)
	turned := mat.NewDense(d, d, nil)
	coefficients(1, turned.RawMatrix().Data)
	one.matrix = numbers.Congruent(turned, p.axes.T())
	if f := p.mixture.options[2][c.at[2]].rbf; f != nil {
		mean := mat.NewDense(len(f.lambda), d, nil)
		coefficients(2, mean.RawMatrix().Data)
		one.rbfDrifts = []rbfDrift{f.drift(mean)}
	}
	return one
}

// Drift writes the posterior mean of μ(z) into dst, both of the latents' dimension, latent/s.
func (p *Posterior) Drift(dst, z []float64) {
	clear(dst)
	if len(p.active) == 0 {
		return
	}
	mu := make([]float64, len(p.active))
	p.whitenedDrift(mu, p.whitened(z))
	for i, at := range p.active {
		dst[at] = p.root[i] * mu[i]
	}
}

// whitenedDrift writes the mean drift at x into dst, both for the active dimensions in units of √v.
func (p *Posterior) whitenedDrift(dst, x []float64) {
	u := make([]float64, len(x))
	p.basis.scaled(u, x)
	mu := mat.NewVecDense(len(dst), dst)
	mu.MulVec(p.matrix, mat.NewVecDense(len(u), u))
	floats.Add(dst, p.constant)
	p.nonlinear(dst, u)
}

// whitened returns the active dimensions of z in units of √v.
func (p *Posterior) whitened(z []float64) []float64 {
	x := make([]float64, len(p.active))
	for i, at := range p.active {
		x[i] = z[at] / p.root[i]
	}
	return x
}

// scaled returns u of the active dimensions of z.
func (p *Posterior) scaled(z []float64) []float64 {
	u := p.whitened(z)
	p.basis.scaled(u, u)
	return u
}

// nonlinear adds the part that is not affine in u to dst, in units of √v.
func (p *Posterior) nonlinear(dst, u []float64) {
	floats.AddScaled(dst, p.radial*p.basis.radialFactor(u), u)
	for i := range p.rbfDrifts {
		p.rbfDrifts[i].add(dst, u)
	}
}

// add adds the drift at u to dst.
func (c *rbfDrift) add(dst, u []float64) {
	var points [mostCentres]float64
	k := points[:c.weights.RawMatrix().Rows]
	c.rbf.kernel(k, u)
	for m, v := range k {
		floats.AddScaled(dst, v, c.weights.RawRowView(m))
	}
	floats.Sub(dst, c.affine.RawRowView(0))
	for i, v := range u {
		floats.AddScaled(dst, -v, c.affine.RawRowView(1+i))
	}
}
