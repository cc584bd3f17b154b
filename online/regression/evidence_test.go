package regression

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/online/onlinetest"
)

// column is a field as one column of the regression, with the prior variance of its coefficient.
type column struct {
	field    []float64 // n×d, at the start of each step
	averaged []float64 // n×d, the average that acts on the innovation
	tau      float64
}

// average returns the averages that Steps.averaged makes from values at the starts of the steps, n×width.
func average(s *Steps, values []float64) []float64 {
	width, k, out := len(values)/s.Len(), 0, []float64{}
	for _, mean := range s.averaged(width, func(dst, _ []float64) {
		copy(dst, values[k*width:])
		k++
	}) {
		out = append(out, mean...)
	}
	return out
}

// columns returns the fields (7) and (9) for one choice of prior variances: constant, dilation, rotation, shear, radial, bump.
func columns(s *Steps, b *basis, f *rbf, tau [6]float64) (all []column) {
	d, n := s.dim, s.Len()
	u := mat.NewDense(n, d, nil)
	for k := range n {
		b.scaled(u.RawRowView(k), s.x[k*d:(k+1)*d])
	}
	add := func(tau float64, field func(dst, u []float64)) {
		at := make([]float64, n*d)
		for k := range n {
			field(at[k*d:(k+1)*d], u.RawRowView(k))
		}
		all = append(all, column{at, average(s, at), tau})
	}
	add(tau[1], func(dst, u []float64) { copy(dst, u) })
	add(tau[4], func(dst, u []float64) { floats.AddScaled(dst, (floats.Dot(u, u)-b.radius)/2, u) })
	for i := range d {
		add(tau[0], func(dst, _ []float64) { dst[i] = 1 })
		for j := range i {
			add(tau[2], func(dst, u []float64) { dst[i], dst[j] = u[j], -u[i] })
			add(tau[3], func(dst, u []float64) { dst[i], dst[j] = u[j], u[i] })
		}
		if i > 0 {
			a := math.Sqrt(2 / float64(i*(i+1)))
			add(tau[3], func(dst, u []float64) {
				for k := range i {
					dst[k] = a * u[k]
				}
				dst[i] = -a * float64(i) * u[i]
			})
		}
	}
	if f == nil {
		return all
	}
	at, averaged := scalars(s, f, u)
	_, rank := at.Dims()
	for r := range rank {
		for i := range d {
			c := column{make([]float64, n*d), make([]float64, n*d), tau[5]}
			for k := range n {
				c.field[k*d+i], c.averaged[k*d+i] = at.At(k, r), averaged.At(k, r)
			}
			all = append(all, c)
		}
	}
	return all
}

// scalars returns the whitened kernel at every step minus its least-squares fit by [1,u], n×rank: at the start of the step, and averaged. The fit uses
// averages, each weighted by its time.
func scalars(s *Steps, f *rbf, u *mat.Dense) (at, averaged *mat.Dense) {
	n, size := s.Len(), f.points.RawMatrix().Rows
	k, affine := mat.NewDense(n, size, nil), mat.NewDense(n, 1+s.dim, nil)
	for r := range n {
		f.kernel(k.RawRowView(r), u.RawRowView(r))
		affine.Set(r, 0, 1)
		copy(affine.RawRowView(r)[1:], u.RawRowView(r))
	}
	white, err := f.whiten()
	if err != nil {
		panic(err)
	}
	mean := func(x *mat.Dense) *mat.Dense {
		_, width := x.Dims()
		return mat.NewDense(n, width, average(s, x.RawMatrix().Data))
	}
	weighed := func(x *mat.Dense) *mat.Dense {
		y := mat.DenseCopyOf(x)
		for r := range n {
			floats.Scale(math.Sqrt(s.dt[r]), y.RawRowView(r))
		}
		return y
	}
	at, averaged = new(mat.Dense), new(mat.Dense)
	at.Mul(k, white)
	averaged.Mul(mean(k), white)
	var weights, fitted mat.Dense
	if err := weights.Solve(weighed(mean(affine)), weighed(averaged)); err != nil {
		panic(err)
	}
	fitted.Mul(affine, &weights)
	at.Sub(at, &fitted)
	fitted.Mul(mean(affine), &weights)
	averaged.Sub(averaged, &fitted)
	return at, averaged
}

// regress returns the ln evidence of the columns with a variance above 0, and the mean drift at the starts of the steps, (8), by one factorisation.
func regress(t *testing.T, s *Steps, all []column) (logEvidence float64, drift []float64) {
	t.Helper()
	n, d := s.Len(), s.dim
	var design, field []float64
	for _, c := range all {
		if c.tau > 0 {
			for i, v := range c.averaged {
				design = append(design, math.Sqrt(c.tau*s.dt[i/d])*v)
				field = append(field, math.Sqrt(c.tau)*c.field[i])
			}
		}
	}
	p := len(design) / (n * d)
	if p == 0 {
		return 0, make([]float64, n*d)
	}
	moved := make([]float64, n*d)
	for i, v := range s.dx {
		moved[i] = v / math.Sqrt(s.dt[i/d])
	}
	psi := mat.NewDense(p, n*d, design)
	k := mat.NewSymDense(p, nil)
	k.SymOuterK(1, psi)
	for i := range p {
		k.SetSym(i, i, k.At(i, i)+1)
	}
	var factor mat.Cholesky
	if !factor.Factorize(k) {
		t.Fatal("K is not positive definite")
	}
	var b, w, mu mat.VecDense
	b.MulVec(psi, mat.NewVecDense(n*d, moved))
	if err := factor.SolveVecTo(&w, &b); err != nil {
		t.Fatal(err)
	}
	mu.MulVec(mat.NewDense(p, n*d, field).T(), &w)
	return mat.Dot(&b, &w)/2 - factor.LogDet()/2, mu.RawVector().Data
}

// TestClosedFormsAgainstRegression: the closed forms equal the plain regression on all features at once, with and without noise, for combinations that cover
// every option. Features of a kernel's smallest eigenvalues cost five of the sixteen digits.
func TestClosedFormsAgainstRegression(t *testing.T) {
	for name, r := range map[string]float64{"Wasserstein double well": 2, "balls circle": 0, "ball + Wasserstein anisotropic": 1, "5 balls OU": 0.5} {
		s := onlinetest.Named(name)
		s.Paths = 2
		seen, _ := s.Film(200, r, onlinetest.Rand(20))
		all := stepsOf(s, seen, r)
		b := newBasis(all)
		m := newMoments(all, b)
		q, lambda, err := m.axes()
		if err != nil {
			t.Fatal(err)
		}
		rbfs, err := allRBFs(all, b, m)
		if err != nil {
			t.Fatal(err)
		}
		x, k, taus := newMixture(m, &linear{q: q, lambda: lambda}, rbfs), 0, priorVariances(m.seconds)
		for c := range x.all {
			if k++; k%211 != 5 {
				continue
			}
			tau := [6]float64{taus[c.at[0]], taus[c.at[1]%len(taus)]}
			if all.dim > 1 { // the order of linearOptions
				tau[1], tau[2], tau[3] = taus[c.at[1]/16], taus[c.at[1]/4%4], taus[c.at[1]%4]
			}
			tau[4] = x.taus[(k-1)%len(x.taus)]
			f := x.options[2][c.at[2]].rbf
			if f != nil {
				tau[5] = taus[1+(c.at[2]-1)%priorLevels]
			}
			want, drift := regress(t, all, columns(all, b, f, tau))
			if math.Abs(c.logEvidence-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s, τ² = %v: log evidence %.9g, want %.9g", name, tau, c.logEvidence, want)
			}
			got := alone(x, c, q, rbfs, b, all)
			if gap := floats.Distance(got, drift, math.Inf(1)); gap > 1e-6*(1+floats.Norm(drift, math.Inf(1))) {
				t.Errorf("%s, τ² = %v: the drift has an error of %g", name, tau, gap)
			}
		}
	}
}

// alone returns the drift at the steps for one combination.
func alone(x *mixture, c combination, q *mat.Dense, rbfs []*rbf, b *basis, s *Steps) []float64 {
	only := &mixture{radial: c.mean}
	for part, i := range c.at {
		o := x.options[part][i]
		o.share, o.radialMean = 1, c.mean
		only.options[part] = []option{o}
	}
	p := &Posterior{dim: s.dim, root: onlinetest.Repeat(1, s.dim), basis: b, mixture: only, axes: q}
	for i := range s.dim {
		p.active = append(p.active, i)
	}
	p.average(rbfs)
	out := make([]float64, len(s.x))
	for k := range s.Len() {
		p.Drift(out[k*s.dim:(k+1)*s.dim], s.x[k*s.dim:(k+1)*s.dim])
	}
	return out
}

// TestPriorAddsUp: the prior probabilities over all sizes of all sets of groups add up to 1.
func TestPriorAddsUp(t *testing.T) {
	for n := 3; n <= 6; n++ {
		sum := 0.0
		for set := range 1 << n {
			k := 0
			for bit := set; bit > 0; bit >>= 1 {
				k += bit & 1
			}
			sum += math.Exp(logPrior(k, n)) * math.Pow(priorLevels, float64(k))
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%d groups: the prior adds up to %g", n, sum)
		}
	}
}
