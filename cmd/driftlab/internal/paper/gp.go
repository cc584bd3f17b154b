package paper

import (
	"context"
	"errors"
	"io"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"driftscope/ingest/sim"
	"driftscope/internal/job/evaluation"
	"driftscope/online/offline"
)

// regress returns the error of the drift that a Gaussian process learns from the true path, which is the paper's other oracle, after Duncker et al. (2019). It
// needs only the scene, and judges the same frames as measure.
func (e *experiment) regress(ctx context.Context) (*drifting, error) {
	p, mu, err := e.walk(ctx)
	if err != nil {
		return nil, err
	}
	judged := make([]int, e.Frames)
	for i := range judged {
		judged[i] = i
	}
	if e.row.affine {
		_, judged = halves(evaluation.Films(p.trajectory))
	}
	off := offline.MeanSquares(evaluation.PickRows(p.drift(), judged), evaluation.PickRows(mu, judged))
	return &drifting{evaluation.Sum(off), evaluation.Sum(off) / float64(len(off))}, nil
}

// walk returns the scene's true path, and the drift along it.
func (e *experiment) walk(ctx context.Context) (*truePath, *mat.Dense, error) {
	scene, err := e.scene()
	if err != nil {
		return nil, nil, err
	}
	p, mu := &truePath{z: mat.NewDense(e.Frames, scene.Dim(), nil), dt: scene.DT()}, mat.NewDense(e.Frames, scene.Dim(), nil)
	var picture sim.Picture
	for {
		truth, err := scene.Next(&picture)
		if errors.Is(err, io.EOF) {
			return p, mu, nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
		p.z.SetRow(len(p.trajectory), truth.Z)
		mu.SetRow(len(p.trajectory), truth.Mu)
		p.trajectory = append(p.trajectory, truth.Trajectory)
	}
}

// truePath holds latents without error, dt seconds apart, one per row.
type truePath struct {
	z          *mat.Dense
	trajectory []uint64
	dt         float64
}

// Candidates from which the evidence chooses: length scales as multiples of the path's extent, and prior variances of the drift, per second².
var (
	lengthScales = []float64{0.25, 0.5, 1, 2, 4, 8}
	variances    = floats.LogSpan(make([]float64, 41), 1e-2, 1e6)
)

// drift returns the posterior mean of the drift at every latent. The prior of each coordinate of the drift is an independent Gaussian process,
//
//	Δz/(σΔt) = f(x) + N(0, 1/Δt),  f ~ GP(0, a exp(-|x - x'|²/2ℓ²)),  x = z/σ,
//
// where σ² is the path's quadratic variation per coordinate, and a and ℓ are the candidates with the largest marginal likelihood.
func (p *truePath) drift() *mat.Dense {
	n, d := p.z.Dims()
	sigma := p.diffusion()
	x := mat.NewDense(n, d, nil)
	x.Apply(func(i, c int, z float64) float64 { return z / sigma[c] }, p.z)
	at := p.starts()
	squares := squaredDistances(x)
	extent := math.Sqrt(mat.Sum(squares) / float64(2*n*n))

	out, best := mat.NewDense(n, d, nil), make([]float64, d)
	for _, scale := range lengthScales {
		k := kernel(squares, scale*extent)
		r := newRegression(k, at, 1/p.dt)
		for c := range d {
			y := make([]float64, len(at))
			for j, i := range at {
				y[j] = (x.At(i+1, c) - x.At(i, c)) / p.dt
			}
			evidence, a := r.choose(y)
			if evidence <= best[c] { // best starts at the evidence for no drift, 0
				continue
			}
			best[c] = evidence
			weights := r.weights(y, a)
			for i := range n {
				f := 0.0
				for j, w := range weights {
					f += a * w * k.At(i, at[j])
				}
				out.Set(i, c, sigma[c]*f)
			}
		}
	}
	return out
}

// starts lists the latents that have a successor in their trajectory.
func (p *truePath) starts() (at []int) {
	for i := range len(p.trajectory) - 1 {
		if p.trajectory[i] == p.trajectory[i+1] {
			at = append(at, i)
		}
	}
	return at
}

// diffusion returns σ per coordinate, from the quadratic variation.
func (p *truePath) diffusion() []float64 {
	at, sigma := p.starts(), make([]float64, p.z.RawMatrix().Cols)
	for c := range sigma {
		for _, i := range at {
			step := p.z.At(i+1, c) - p.z.At(i, c)
			sigma[c] += step * step
		}
		sigma[c] = math.Sqrt(sigma[c] / (p.dt * float64(len(at))))
	}
	return sigma
}

// squaredDistances returns |x - x'|² between all rows.
func squaredDistances(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	out := mat.NewDense(n, n, nil)
	out.Apply(func(i, j int, _ float64) float64 {
		d := floats.Distance(x.RawRowView(i), x.RawRowView(j), 2)
		return d * d
	}, out)
	return out
}

// kernel returns exp(-squares/2ℓ²).
func kernel(squares *mat.Dense, length float64) *mat.Dense {
	var k mat.Dense
	k.Apply(func(_, _ int, s float64) float64 { return math.Exp(-s / (2 * length * length)) }, squares)
	return &k
}

// regression is y = f + N(0, s²) with covariance a K of f. With K's eigenvectors it can be solved fast for every y and a.
type regression struct {
	u      mat.Dense // n × rank
	lambda []float64
	noise  float64 // s²
}

// negligible bounds the residual of a kernel's diagonal, which starts at 1, and of its eigenvalues.
const negligible = 1e-8

// newRegression uses the rows and columns `at` of k as K. With K = LL' and L'L = V diag(λ) V', K has the eigenvalues λ and the eigenvectors LV/√λ. For a smooth
// kernel, L has few columns.
func newRegression(k *mat.Dense, at []int, noise float64) *regression {
	l := factor(k, at)
	var gram mat.SymDense
	gram.SymOuterK(1, l.T())
	var eigen mat.EigenSym
	eigen.Factorize(&gram, true)
	var v mat.Dense
	eigen.VectorsTo(&v)
	r := &regression{lambda: eigen.Values(nil), noise: noise}
	for j, lambda := range r.lambda { // in ascending order; rounding scatters the lowest ones around 0
		r.lambda[j] = max(lambda, negligible)
		column := v.ColView(j).(*mat.VecDense)
		column.ScaleVec(1/math.Sqrt(r.lambda[j]), column)
	}
	r.u.Mul(l, &v)
	return r
}

// factor returns L, n × rank, by pivoted Cholesky decomposition, which ends when the residual is negligible.
func factor(k *mat.Dense, at []int) *mat.Dense {
	n := len(at)
	left := make([]float64, n)
	for i, a := range at {
		left[i] = k.At(a, a)
	}
	var columns []float64
	for {
		pivot := floats.MaxIdx(left)
		if left[pivot] < negligible {
			return mat.DenseCopyOf(mat.NewDense(len(columns)/n, n, columns).T())
		}
		column := make([]float64, n)
		for i := range column {
			column[i] = k.At(at[i], at[pivot])
		}
		for before := columns; len(before) > 0; before = before[n:] {
			floats.AddScaled(column, -before[pivot], before[:n])
		}
		floats.Scale(1/math.Sqrt(left[pivot]), column)
		for i, v := range column {
			left[i] -= v * v
		}
		left[pivot] = 0
		columns = append(columns, column...)
	}
}

// choose returns the prior variance a with the largest evidence, and the gain over the evidence for no drift,
//
//	½ Σ [ratio/(1 + ratio) (u'y)²/s² - ln(1 + ratio)],  ratio = aλ/s².
func (r *regression) choose(y []float64) (evidence, variance float64) {
	var w mat.VecDense
	w.MulVec(r.u.T(), mat.NewVecDense(len(y), y))
	evidence = math.Inf(-1)
	for _, a := range variances {
		gain := 0.0
		for j, lambda := range r.lambda {
			ratio, along := a*lambda/r.noise, w.AtVec(j)
			gain += ratio/(1+ratio)*along*along/r.noise - math.Log1p(ratio)
		}
		if gain/2 > evidence {
			evidence, variance = gain/2, a
		}
	}
	return evidence, variance
}

// weights returns (aK + s²)⁻¹y = [y - Σ u ratio/(1 + ratio) u'y]/s².
func (r *regression) weights(y []float64, a float64) []float64 {
	var w, explained mat.VecDense
	w.MulVec(r.u.T(), mat.NewVecDense(len(y), y))
	for j, lambda := range r.lambda {
		ratio := a * lambda / r.noise
		w.SetVec(j, w.AtVec(j)*ratio/(1+ratio))
	}
	explained.MulVec(&r.u, &w)
	out := make([]float64, len(y))
	floats.SubTo(out, y, explained.RawVector().Data)
	floats.Scale(1/r.noise, out)
	return out
}

// tTest returns the two-sided p-value of Student's two-sample t-test with equal variances, from the means and standard deviations of n runs each, as in the
// paper. It returns NaN if the test is undefined.
func tTest(a, b spread, n int) float64 {
	t := math.Abs(a.mean-b.mean) / math.Sqrt((a.sd*a.sd+b.sd*b.sd)/float64(n))
	if n < 2 || math.IsInf(t, 0) {
		return math.NaN()
	}
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(2*n - 2)}.Survival(t)
}
