package sim

import (
	"math"
	"slices"
	"testing"
)

func TestDrifts(t *testing.T) {
	for _, c := range []struct {
		scene   string
		z, want []float64
	}{
		{"balls-constant", []float64{3, -2}, []float64{-0.25, 0.25}},
		{"balls-ou", []float64{0.5, -2}, []float64{-2, 8}},
		{"balls-circle", []float64{1, 2}, []float64{-7, 1}},
		{"molecule", []float64{1.5, -1}, []float64{-1.5, 1}},
		{"digits-constant", []float64{1, 2, 3, 4}, []float64{0, 0, 0, 0}},
		{"digits-ou", []float64{1, 1, -1, -1}, []float64{-2, -2, 2, 2}},
		{"digits-circle", []float64{1, 2, 3, -4}, []float64{-5, 0, 5, 10}},
		{"wasserstein-ou", []float64{1.5}, []float64{-3}},
		{"wasserstein-double-well", []float64{2}, []float64{-12}},
		{"wasserstein-double-well", []float64{-0.5}, []float64{-0.75}},
		{"wasserstein-gbm", []float64{2}, []float64{0}},
		{"ball-wasserstein-ou", []float64{1, 2, 3}, []float64{-1, -4, -9}},
		{"ball-wasserstein-cauchy", []float64{1, -1, 3}, []float64{-0.5, 1, -0.9}},
		{"ball-wasserstein-anisotropic", []float64{2, -4, 2}, []float64{5, 0.5, 0.05}},
	} {
		k, _ := find(c.scene)
		got := make([]float64, k.law.Dim())
		k.law.Drift(got, c.z)
		// 1.4 - 0.3·4 differs from 0.2 in the last bit.
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("%s: drift at %v is %v; want %v", c.scene, c.z, got, c.want)
		}
	}
}

// Long paths have the drift, mean and variance of their law. Tolerances are 4.5 standard errors. For residuals of increments, n steps are independent. For mean
// and variance, T/τ pieces are independent, with the integrated correlation times τ = 2/κ and 1/κ.
func TestPathStatistics(t *testing.T) {
	const n = 400_000
	for _, c := range []struct {
		scene string
		sigma float64
		rate  float64 // κ; 0: not stationary
		sd    float64 // stationary sd of the Euler-Maruyama chain
	}{
		{scene: "balls-constant", sigma: 1},
		{scene: "balls-ou", sigma: 1, rate: 4, sd: 1 / math.Sqrt(4*(2-0.04))},
		{scene: "balls-circle", sigma: 1, rate: 1, sd: 1 / math.Sqrt(2-0.1)},
		{scene: "molecule", sigma: 2, rate: 1, sd: 2 / math.Sqrt(2-1.0/56)},
	} {
		t.Run(c.scene, func(t *testing.T) {
			k, _ := find(c.scene)
			dt, pieces := k.law.DT, n*k.law.DT*c.rate
			p := newPath(&k.law, 0, 11)
			var before, drift [2]float64
			var residual, residual2, mean, square [2]float64
			for f := range n {
				p.next()
				for i := range p.z {
					if f > 0 {
						e := p.z[i] - before[i] - drift[i]*dt
						residual[i] += e
						residual2[i] += e * e
					}
					mean[i] += p.z[i] / n
					square[i] += p.z[i] * p.z[i] / n
				}
				copy(before[:], p.z)
				copy(drift[:], p.mu)
			}
			for i := range mean {
				if got, limit := residual[i]/(n*dt), 4.5*c.sigma/math.Sqrt(n*dt); math.Abs(got) > limit {
					t.Errorf("axis %d: the drift is %g off; want at most %g", i, got, limit)
				}
				if got, want := residual2[i]/(n*dt), c.sigma*c.sigma; math.Abs(got/want-1) > 4.5*math.Sqrt(2.0/n) {
					t.Errorf("axis %d: σ² is %g; want %g", i, got, want)
				}
				if c.rate == 0 {
					continue
				}
				if limit := 4.5 * c.sd * math.Sqrt(2/pieces); math.Abs(mean[i]) > limit {
					t.Errorf("axis %d: the mean is %g; want 0 within %g", i, mean[i], limit)
				}
				if got := square[i] / (c.sd * c.sd); math.Abs(got-1) > 4.5*math.Sqrt(2/pieces) {
					t.Errorf("axis %d: the variance is %g of the stationary one; want 1", i, got)
				}
				if got := k.law.Stationary.SD[i]; math.Abs(got/c.sd-1) > 1e-12 {
					t.Errorf("axis %d: the stationary sd is %g; want %g", i, got, c.sd)
				}
			}
		})
	}
}

func TestPathStart(t *testing.T) {
	k, _ := find("balls-circle")
	p := newPath(&k.law, 3, 1)
	for f := range 9 {
		p.next()
		if p.frame != f || p.trajectory != uint64(f/3) || p.age != float64(f%3)*0.01 {
			t.Fatalf("frame %d: %d, trajectory %d, age %g", f, p.frame, p.trajectory, p.age)
		}
		if atStart := p.z[0] == 0 && p.z[1] == 0; atStart != (f%3 == 0) {
			t.Fatalf("frame %d: z = %v", f, p.z)
		}
	}
}

func TestExtentHoldsThePath(t *testing.T) {
	k, _ := find("balls-constant")
	e := newPath(&k.law, 0, 5).extent(500)
	p := newPath(&k.law, 0, 5)
	touched := [4]bool{}
	for range 500 {
		p.next()
		for i, z := range p.z {
			if z < e.lo[i] || z > e.hi[i] {
				t.Fatalf("z%d = %g outside [%g, %g]", i+1, z, e.lo[i], e.hi[i])
			}
			touched[2*i] = touched[2*i] || z == e.lo[i]
			touched[2*i+1] = touched[2*i+1] || z == e.hi[i]
		}
	}
	if touched != [4]bool{true, true, true, true} {
		t.Errorf("the box is too wide: sides touched %v", touched)
	}
}

// E|μ|² along 1000 frames, which is the loss L_mu of the zero drift, agrees with the means of the NumPy reference over 48 realisations. The relative sd of one
// realisation was measured over 400. 4.5 standard errors of both means together are sd·4.5·√(2/48) of the value. The reference gives two digits.
func TestReferenceDrift(t *testing.T) {
	const realisations, frames = 48, 1000
	for _, c := range []struct {
		scene    string
		want, sd float64
	}{
		{"balls-constant", 0.125, 0},
		{"balls-ou", 4.18, 0.16},
		{"balls-circle", 9.6, 0.32},
		{"digits-constant", 0, 0},
		{"digits-ou", 8.2, 0.076},
		{"digits-circle", 14.7, 0.12},
		{"wasserstein-ou", 1.1, 0.27},
		{"wasserstein-double-well", 1.5, 0.38},
		{"wasserstein-gbm", 0, 0},
		{"ball-wasserstein-ou", 3.2, 0.18},
		{"ball-wasserstein-cauchy", 1.6, 0.12},
		{"ball-wasserstein-anisotropic", 5.1, 0.25},
	} {
		k, _ := find(c.scene)
		got := 0.0
		for seed := range uint64(realisations) {
			p := newPath(&k.law, k.length, seed)
			for range frames {
				p.next()
				for _, mu := range p.mu {
					got += mu * mu / (realisations * frames)
				}
			}
		}
		if math.Abs(got-c.want) > c.want*c.sd*4.5*math.Sqrt(2.0/realisations)+1e-12 {
			t.Errorf("%s: E|μ|² is %g; want %g", c.scene, got, c.want)
		}
	}
}

// The values that a picture shows for Lamperti coordinates obey the published law: by Itô's formula y = φ(z) has the drift Σⱼ (∂φ/∂zⱼ μⱼ + ½ ∂²φ/∂zⱼ²) and the
// diffusion ∂φ/∂z. The derivatives are central differences over 1e-3. Their error is 1e-6/6 times a third derivative of at most 8, and 1e-9 from rounding.
func TestShownLaws(t *testing.T) {
	const h, tolerance = 1e-3, 1e-5
	for _, c := range []struct {
		scene string
		z     []float64
		law   func(y []float64) (drift []float64, diffusion [][]float64)
	}{
		{"wasserstein-gbm", []float64{0.7}, func(y []float64) ([]float64, [][]float64) {
			return []float64{y[0] / 2}, [][]float64{{y[0]}}
		}},
		{"wasserstein-gbm", []float64{-2}, func(y []float64) ([]float64, [][]float64) {
			return []float64{y[0] / 2}, [][]float64{{y[0]}}
		}},
		{"ball-wasserstein-anisotropic", []float64{0.3, -1.2, 1.7}, publishedAnisotropic},
		{"ball-wasserstein-anisotropic", []float64{-2, 0.4, 0.6}, publishedAnisotropic},
	} {
		k, _ := find(c.scene)
		d := k.law.Dim()
		shown := func(j int, by float64) []float64 {
			z, y := slices.Clone(c.z), make([]float64, d)
			z[j] += by
			k.law.Shows(y, z)
			return y
		}
		mu := make([]float64, d)
		k.law.Drift(mu, c.z)
		here := shown(0, 0)
		drift, diffusion := c.law(here)
		for i := range d {
			got := 0.0
			for j := range d {
				before, after := shown(j, -h)[i], shown(j, h)[i]
				slope, bend := (after-before)/(2*h), (after-2*here[i]+before)/(h*h)
				got += slope*mu[j] + bend/2
				if math.Abs(slope-diffusion[i][j]) > tolerance {
					t.Errorf("%s at %v: σ%d%d is %g; want %g", c.scene, c.z, i+1, j+1, slope, diffusion[i][j])
				}
			}
			if math.Abs(got-drift[i]) > tolerance {
				t.Errorf("%s at %v: μ%d is %g; want %g", c.scene, c.z, i+1, got, drift[i])
			}
		}
	}
}

func publishedAnisotropic(y []float64) (drift []float64, diffusion [][]float64) {
	return []float64{-y[0], -2 * y[1], 0.6 - 0.3*y[2]}, [][]float64{{1, 2, 0}, {2.5, 3, 0}, {0, 0, math.Sqrt(y[2])}}
}

// In the anisotropic law, the picture still determines the truth if a step takes z₃ below 0, and the drift stays bounded.
func TestAnisotropicBelowZero(t *testing.T) {
	k, _ := find("ball-wasserstein-anisotropic")
	before, mu, y := math.Inf(-1), make([]float64, 3), make([]float64, 3)
	for _, z3 := range []float64{-0.2, -0.05, 0, 0.01, 0.05, 0.1} {
		z := []float64{0, 0, z3}
		k.law.Drift(mu, z)
		k.law.Shows(y, z)
		if y[2] <= before || math.Abs(mu[2]) > 14 {
			t.Errorf("z₃ = %g shows %g after %g and drifts by %g; want more and at most 14", z3, y[2], before, mu[2])
		}
		before = y[2]
	}
}

// The chain x ← x - κ (x - c) Δt + √Δt ξ has the stationary mean c and variance Δt / (1 - (1-κΔt)²).
func TestRevertingSettles(t *testing.T) {
	for scene, want := range map[string]Gaussian{
		"digits-ou":           {Mean: []float64{-1, -1, 1, 1}, SD: []float64{0.70888, 0.70888, 0.70888, 0.70888}},
		"digits-circle":       {Mean: []float64{0, 0, 0, 0}, SD: []float64{0.71612, 0.71612, 0.71612, 0.71612}},
		"wasserstein-ou":      {Mean: []float64{0}, SD: []float64{0.50252}},
		"ball-wasserstein-ou": {Mean: []float64{0, 0, 0}, SD: []float64{0.70888, 0.50252, 0.41135}},
	} {
		k, _ := find(scene)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-5 } // the expected values have five digits
		if got := k.law.Stationary; !slices.EqualFunc(got.Mean, want.Mean, near) || !slices.EqualFunc(got.SD, want.SD, near) {
			t.Errorf("%s settles to %+v; want %+v", scene, *got, want)
		}
	}
}
