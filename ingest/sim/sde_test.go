package sim

import (
	"math"
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
	} {
		k, _ := find(c.scene)
		got := make([]float64, 2)
		k.law.Drift(got, c.z)
		if got[0] != c.want[0] || got[1] != c.want[1] {
			t.Errorf("%s: drift at %v is %v; want %v", c.scene, c.z, got, c.want)
		}
	}
}

// Long paths against the law's own figures. Tolerances are 4.5 standard errors: of the increments' residual, n steps each
// independent; of mean and variance, T/τ independent pieces, τ = 2/κ and 1/κ the integrated correlation times.
func TestPathStatistics(t *testing.T) {
	const n = 400_000
	for _, c := range []struct {
		scene string
		sigma float64
		rate  float64 // κ; 0: not stationary
		sd    float64 // of the Euler-Maruyama chain
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

// E|μ|² along 1000 frames, the loss L_mu of the zero drift, against the NumPy reference's means over 48 realisations. A
// realisation's relative sd is 0.16 (OU) and 0.32 (circle), from 20 and 10 independent pieces an axis, so 4.5 standard errors
// of our mean and the reference's together are 0.15 and 0.29 of the value.
func TestReferenceDrift(t *testing.T) {
	const realisations, frames = 48, 1000
	for _, c := range []struct {
		scene           string
		want, tolerance float64
	}{
		{"balls-constant", 0.125, 1e-12},
		{"balls-ou", 4.18, 0.15},
		{"balls-circle", 9.6, 0.29},
	} {
		k, _ := find(c.scene)
		got := 0.0
		for seed := range uint64(realisations) {
			p := newPath(&k.law, k.length, seed)
			for range frames {
				p.next()
				got += (p.mu[0]*p.mu[0] + p.mu[1]*p.mu[1]) / (realisations * frames)
			}
		}
		if math.Abs(got/c.want-1) > c.tolerance {
			t.Errorf("%s: E|μ|² is %g; want %g", c.scene, got, c.want)
		}
	}
}
