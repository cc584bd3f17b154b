package online

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// column is a field at every step, as one column of the regression, with the variance of its coefficient.
type column struct {
	field []float64 // n×d
	tau   float64
}

// columns are doc.go's (10) to (12) written out for one choice of prior variances: constant, dilation, rotation, shear, radial, bump.
func columns(s *steps, b *basis, f *bumps, tau [6]float64) (all []column) {
	d, n := s.dim, s.len()
	u := mat.NewDense(n, d, nil)
	for k := range n {
		x, _, _ := s.row(k)
		b.scaled(u.RawRowView(k), x)
	}
	add := func(tau float64, field func(dst, u []float64)) {
		c := column{make([]float64, n*d), tau}
		for k := range n {
			field(c.field[k*d:(k+1)*d], u.RawRowView(k))
		}
		all = append(all, c)
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
	curved := scalars(s, f, u)
	_, rank := curved.Dims()
	for r := range rank {
		for i := range d {
			c := column{make([]float64, n*d), tau[5]}
			for k := range n {
				c.field[k*d+i] = curved.At(k, r)
			}
			all = append(all, c)
		}
	}
	return all
}

// scalars are the whitened kernel at every step less its least-squares fit by [1,u], n×rank. All time steps are equal.
func scalars(s *steps, f *bumps, u *mat.Dense) *mat.Dense {
	n, size := s.len(), f.points.RawMatrix().Rows
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
	var out, weights, fitted mat.Dense
	out.Mul(k, white)
	if err := weights.Solve(affine, &out); err != nil {
		panic(err)
	}
	fitted.Mul(affine, &weights)
	out.Sub(&out, &fitted)
	return &out
}

// regress gives the log evidence of the columns with variance and the mean drift at the steps, doc.go (11), by one factorisation.
func regress(t *testing.T, s *steps, all []column) (logEvidence float64, drift []float64) {
	t.Helper()
	n, d := s.len(), s.dim
	var design []float64
	for _, c := range all {
		if c.tau > 0 {
			for _, v := range c.field {
				design = append(design, math.Sqrt(c.tau)*v)
			}
		}
	}
	p := len(design) / (n * d)
	if p == 0 {
		return 0, make([]float64, n*d)
	}
	psi := mat.NewDense(p, n*d, design)
	k := mat.NewSymDense(p, nil)
	k.SymOuterK(testStep, psi)
	for i := range p {
		k.SetSym(i, i, k.At(i, i)+1)
	}
	var factor mat.Cholesky
	if !factor.Factorize(k) {
		t.Fatal("K is not positive")
	}
	var b, w, mu mat.VecDense
	b.MulVec(psi, mat.NewVecDense(n*d, s.dx))
	if err := factor.SolveVecTo(&w, &b); err != nil {
		t.Fatal(err)
	}
	mu.MulVec(psi.T(), &w)
	return mat.Dot(&b, &w)/2 - factor.LogDet()/2, mu.RawVector().Data
}

// TestClosedFormsAgainstRegression: every part of (11) that is solved in closed form, in combinations that leave none out, equals the
// plain regression on all features at once. Features of a kernel's smallest eigenvalues cost five digits of the sixteen.
func TestClosedFormsAgainstRegression(t *testing.T) {
	for _, name := range []string{"Wasserstein double well", "balls circle", "ball + Wasserstein anisotropic", "5 balls OU"} {
		s := named(name)
		seen, _ := s.film(200, 0, newRand(20))
		all := s.steps(seen, 0)
		b := newBasis(all)
		m := newMoments(all, b)
		q, lambda, err := m.axes(all.noise, b.scale)
		if err != nil {
			t.Fatal(err)
		}
		bumps, err := allBumps(all, b, m)
		if err != nil {
			t.Fatal(err)
		}
		x, k, taus := newMixture(m, &linear{q: q, lambda: lambda}, bumps), 0, priorVariances(m.seconds)
		for c := range x.all {
			if k++; k%211 != 5 {
				continue
			}
			tau := [6]float64{taus[c.at[0]], taus[c.at[1]%len(taus)]}
			if all.dim > 1 { // the order of linearOptions
				tau[1], tau[2], tau[3] = taus[c.at[1]/16], taus[c.at[1]/4%4], taus[c.at[1]%4]
			}
			tau[4] = x.taus[(k-1)%len(x.taus)]
			f := x.options[2][c.at[2]].bumps
			if f != nil {
				tau[5] = taus[1+(c.at[2]-1)%levels]
			}
			want, drift := regress(t, all, columns(all, b, f, tau))
			if math.Abs(c.logEvidence-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s, τ² = %v: log evidence %.9g, want %.9g", name, tau, c.logEvidence, want)
			}
			got := alone(x, c, q, bumps, b, all)
			if gap := floats.Distance(got, drift, math.Inf(1)); gap > 1e-6*(1+floats.Norm(drift, math.Inf(1))) {
				t.Errorf("%s, τ² = %v: drift is %g off", name, tau, gap)
			}
		}
	}
}

// alone is the drift at the steps by one combination.
func alone(x *mixture, c combination, q *mat.Dense, bumps []*bumps, b *basis, s *steps) []float64 {
	only := &mixture{radial: c.mean}
	for part, i := range c.at {
		o := x.options[part][i]
		o.share, o.claimed = 1, c.mean
		only.options[part] = []option{o}
	}
	p := &posterior{dim: s.dim, root: repeat(1, s.dim), basis: b}
	for i := range s.dim {
		p.active = append(p.active, i)
	}
	p.average(only, q, bumps)
	out := make([]float64, len(s.x))
	for k := range s.len() {
		x, _, _ := s.row(k)
		p.drift(out[k*s.dim:(k+1)*s.dim], x)
	}
	return out
}

// TestPriorAddsUp: over every choice of sizes for every set of groups.
func TestPriorAddsUp(t *testing.T) {
	for n := 3; n <= 6; n++ {
		sum := 0.0
		for set := range 1 << n {
			k := 0
			for bit := set; bit > 0; bit >>= 1 {
				k += bit & 1
			}
			sum += math.Exp(logPrior(k, n)) * math.Pow(levels, float64(k))
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%d groups: %g", n, sum)
		}
	}
}
