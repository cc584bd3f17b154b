package offline

import (
	"gonum.org/v1/gonum/mat"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/regression"
)

// Smooth returns, n×d, the mean of each z given every latent of the recording, under the law found in them, with a linearised drift. Inactive dimensions, and
// latents without a transition, stay as measured. Latents on one side of a cut do not affect latents on the other side. Smooth uses Dim and MaxGap of c and
// returns the same errors as Fit. latents must not be empty.
func Smooth(latents []latent.Latent, c Config) (*mat.Dense, error) {
	p, err := learn(latents, c)
	if err != nil {
		return nil, err
	}
	r, err := read(latents, Config{Dim: c.Dim, MaxGap: c.MaxGap, Prior: p.AffineNetwork()})
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(len(latents), c.Dim, nil)
	for k := range latents {
		out.SetRow(k, latents[k].Mean)
	}
	if len(p.Active()) == 0 {
		return out, nil
	}
	s, at := newSmoother(p, r.found), 0
	for _, run := range r.runs() {
		last := at + run.to - run.from - 1
		if err := s.smooth(out.Slice(run.from, run.to, 0, c.Dim).(*mat.Dense), r.dt[at:last]); err != nil {
			return nil, err
		}
		at = last
	}
	return out, nil
}

// smoother is the smoother of Rauch, Tung and Striebel for dx = (a + Ax) dt + dW. x are the active dimensions in units of their √v,
// measured with variance R:
//
//	F = I + AΔt;  P = FpF' + Δt;  G = P(P + R)⁻¹;  x = x̂ + G(m - x̂);  p = (I - G)P            forwards
//	J = pF'P₊⁻¹;  x̄ = x + J(x̄₊ - x̂₊)                                                          backwards
type smoother struct {
	active []int
	root   []float64
	offset *mat.VecDense // a
	slope  *mat.Dense    // A
	noise  *mat.Dense    // R
}

func newSmoother(p *regression.Posterior, found []diffusion.Estimate) *smoother {
	offset, slope := p.Affine()
	s := &smoother{active: p.Active(), root: p.Root(), offset: offset, slope: slope, noise: mat.NewDense(len(p.Active()), len(p.Active()), nil)}
	for i, at := range s.active {
		s.noise.Set(i, i, found[at].FilterNoise/(s.root[i]*s.root[i]))
	}
	return s
}

// smooth replaces consecutive latents, dt apart, by their smoothed means.
func (s *smoother) smooth(z *mat.Dense, dt []float64) error {
	x, ahead, back := s.rows(z), make([]*mat.VecDense, len(dt)), make([]*mat.Dense, len(dt))
	p := mat.DenseCopyOf(s.noise)
	for k, h := range dt {
		f := s.transition(h)
		ahead[k] = new(mat.VecDense)
		ahead[k].MulVec(f, x[k])
		ahead[k].AddScaledVec(ahead[k], h, s.offset)

		var coming, predicted, total, gain mat.Dense
		coming.Mul(f, p) // (pF')', because all matrices except F, G and J are symmetric
		predicted.Mul(&coming, f.T())
		for i := range s.active {
			predicted.Set(i, i, predicted.At(i, i)+h)
		}
		total.Add(&predicted, s.noise)
		back[k] = new(mat.Dense)
		if gain.Solve(&total, &predicted) != nil || back[k].Solve(&predicted, &coming) != nil {
			return regression.ErrMoments
		}
		var innovation mat.VecDense
		innovation.SubVec(x[k+1], ahead[k])
		innovation.MulVec(gain.T(), &innovation)
		x[k+1].AddVec(ahead[k], &innovation)
		total.Mul(gain.T(), &predicted)
		p.Sub(&predicted, &total)
	}
	for k := len(dt) - 1; k >= 0; k-- {
		var later mat.VecDense
		later.SubVec(x[k+1], ahead[k])
		later.MulVec(back[k].T(), &later)
		x[k].AddVec(x[k], &later)
	}
	for k, row := range x {
		for i, at := range s.active {
			z.Set(k, at, s.root[i]*row.AtVec(i))
		}
	}
	return nil
}

// rows returns the active dimensions of z in the smoother's units.
func (s *smoother) rows(z *mat.Dense) []*mat.VecDense {
	n, _ := z.Dims()
	x := make([]*mat.VecDense, n)
	for k := range x {
		x[k] = mat.NewVecDense(len(s.active), nil)
		for i, at := range s.active {
			x[k].SetVec(i, z.At(k, at)/s.root[i])
		}
	}
	return x
}

// transition returns F over a time h.
func (s *smoother) transition(h float64) *mat.Dense {
	f := new(mat.Dense)
	f.Scale(h, s.slope)
	for i := range s.active {
		f.Set(i, i, f.At(i, i)+1)
	}
	return f
}
