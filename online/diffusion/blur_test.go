package diffusion

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/suite"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// film returns n measurements of a walk with σ = 1 and noise of variance rΔt. Each is the mean over the whole time since the last, in 20 steps.
func film(n int, r float64, seed uint64) []float64 {
	const inside = 20
	rng, z, m := onlinetest.Rand(seed), 0.0, make([]float64, n)
	for k := range m {
		for range inside {
			z += math.Sqrt(onlinetest.Step/inside) * rng.NormFloat64()
			m[k] += z / inside
		}
		m[k] += math.Sqrt(r*onlinetest.Step) * rng.NormFloat64()
	}
	return m
}

// filmed returns the diffusion that a bank with the given exposure finds in a film.
func filmed(n int, r, exposure float64, seed uint64) Estimate {
	b := newBank(newGrid(), 1)
	b.setExposure(exposure)
	for k, m := range film(n+1, r, seed) {
		if k == 0 {
			b.start(m)
		} else {
			b.step(m, onlinetest.Step, drift.Line{})
		}
	}
	return new(profile).estimate(b)
}

// TestBlurredBankIsTheLikelihood: filters of R < 0 give the exact density of increments with positively correlated neighbours, at unequal time steps.
func TestBlurredBankIsTheLikelihood(t *testing.T) {
	rng := onlinetest.Rand(2)
	const n, k = 40, 1 + gridSize + 35
	m, steps := onlinetest.Normals(n+1, rng), make([]float64, n)
	b := newBank(newGrid(), 1)
	b.setExposure(onlinetest.Step)
	b.start(m[0])
	for k := range steps {
		steps[k] = onlinetest.Step * (1 + rng.Float64())
		if k == 0 {
			steps[k] = onlinetest.Step
		}
		b.step(m[k+1], steps[k], drift.Line{})
	}
	c, d := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		c.SetSym(i, i, b.psi[k]*steps[i]/steps[0]-2)
		if i > 0 {
			c.SetSym(i, i-1, 1)
		}
		d.SetVec(i, m[i+1]-m[i])
	}
	var ch mat.Cholesky
	if !ch.Factorize(c) {
		t.Fatal("covariance is not positive definite")
	}
	var x mat.VecDense
	if err := ch.SolveVecTo(&x, d); err != nil {
		t.Fatal(err)
	}
	onlinetest.Within(t, "A", []float64{b.a[k]}, []float64{mat.Dot(d, &x)}, 1e-9)
	onlinetest.Within(t, "L", []float64{b.logS(k)}, []float64{ch.LogDet()}, 1e-9)
	onlinetest.Within(t, "least R", []float64{-onlinetest.Step / b.psi[len(b.psi)-1]}, []float64{-onlinetest.Step / 6}, 1e-12)
}

// TestExposure: with the right exposure, the intervals cover σ² and the mean is right at any noise. 400 runs give the mean to sd/20 and a coverage of 0.95 to
// 0.011. At R = 0 the mean is too small by 3 % for 1000 transitions, as it is without blur. The noise found is the measurement's noise. Without the exposure,
// figures are too small if blur and noise nearly cancel; the table is in docs/lab/2026-11-21-online-estimator.md.
func TestExposure(t *testing.T) {
	suite.Long(t)
	for _, n := range []int{100, 300, 1000} {
		for _, r := range []float64{0, 0.1, 0.2, 1} {
			spot := 0.0
			told := measure(400, func(seed uint64) Estimate {
				d := filmed(n, r, onlinetest.Step, seed)
				spot += d.Noise / onlinetest.Step / 400
				return d
			})
			not := measure(400, func(seed uint64) Estimate { return filmed(n, r, 0, seed) })
			t.Logf("N=%d r=%g: %.3f±%.3f, covers %.3f, found r %.3f; without the exposure %.3f±%.3f, covers %.3f", n, r, told.mean, told.sd, told.coverage, spot, not.mean, not.sd, not.coverage)
			if n < 1000 {
				continue
			}
			if told.coverage < 0.92 || told.coverage > 0.995 || math.Abs(told.mean-1) > 0.04 {
				t.Errorf("N=%d r=%g: %.3f±%.3f, covers %.3f; want 1 and 0.95", n, r, told.mean, told.sd, told.coverage)
			}
			if math.Abs(spot-r) > 0.03+0.05*r {
				t.Errorf("N=%d r=%g: found r %.3f", n, r, spot)
			}
		}
	}
}
