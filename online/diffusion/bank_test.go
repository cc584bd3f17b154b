package diffusion

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// observed returns n measurements of dz = -kappa z dt + dW with v = 1 and noise R = r v dt. The path starts in its stationary law, or at 0 without one.
func observed(n int, r, kappa float64, rng *rand.Rand) []float64 {
	m, z := make([]float64, n), 0.0
	if kappa > 0 {
		z = rng.NormFloat64() / math.Sqrt(2*kappa)
	}
	for k := range m {
		if k > 0 {
			z += -kappa*z*onlinetest.Step + math.Sqrt(onlinetest.Step)*rng.NormFloat64()
		}
		m[k] = z + math.Sqrt(r*onlinetest.Step)*rng.NormFloat64()
	}
	return m
}

// banked returns a bank that has learnt from m with the drift slope·z.
func banked(m []float64, slope, forget float64) *bank {
	b := newBank(newGrid(), forget)
	b.start(m[0])
	for k := 1; k < len(m); k++ {
		c := m[k-1]
		b.step(m[k], onlinetest.Step, drift.Line{Mu: slope * c, Slope: slope, Centre: c})
	}
	return b
}

// The bank's A and L are the quadratic form and log-determinant of the increments' exact Gaussian law, whose covariance in
// units of R is tridiagonal, ψ + 2 and -1.
func TestBankIsTheExactLikelihood(t *testing.T) {
	m := observed(60, 0.7, 0, onlinetest.Rand(1))
	b := banked(m, 0, 1)
	n := len(m) - 1
	for _, k := range []int{0, 1, 40, 90, 121} {
		c, d := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		for i := range n {
			c.SetSym(i, i, b.psi[k]+2)
			if i > 0 {
				c.SetSym(i, i-1, -1)
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
		// The two sums have 60 terms whose sizes differ by the condition number, up to 1e4.
		onlinetest.Within(t, "A", []float64{b.a[k]}, []float64{mat.Dot(d, &x)}, 1e-9)
		onlinetest.Within(t, "L", []float64{b.logS(k)}, []float64{ch.LogDet()}, 1e-9)
	}
}

func TestUnequalStepsAreTheExactLikelihood(t *testing.T) {
	rng := onlinetest.Rand(2)
	const n = 40
	m, steps := onlinetest.Normals(n+1, rng), make([]float64, n)
	b := newBank(newGrid(), 1)
	b.start(m[0])
	for k := range steps {
		steps[k] = onlinetest.Step * math.Exp(rng.NormFloat64())
		b.step(m[k+1], steps[k], drift.Line{})
	}
	const k = 70
	c, d := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		c.SetSym(i, i, b.psi[k]*steps[i]/steps[0]+2)
		if i > 0 {
			c.SetSym(i, i-1, -1)
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
}

// Forgetting weights a transition by γ³² for every block that has ended since. An estimate may be read within a block.
func TestForgettingInBlocks(t *testing.T) {
	const gamma, k = 0.995, 60
	rng := onlinetest.Rand(3)
	whole, forgetting := newBank(newGrid(), 1), newBank(newGrid(), gamma)
	a, l, n, n2, square := 0.0, 0.0, 0.0, 0.0, 0.0
	for i := range 75 {
		m, before, beforeL, beforeSquare := rng.NormFloat64(), whole.a[k], whole.logS(k), whole.cve.square
		whole.step(m, onlinetest.Step, drift.Line{})
		forgetting.step(m, onlinetest.Step, drift.Line{})
		if i > 0 && i%32 == 0 {
			keep := math.Pow(gamma, 32)
			a, l, n, n2, square = keep*a, keep*l, keep*n, keep*keep*n2, keep*square
		}
		a, l, n, n2, square = a+whole.a[k]-before, l+whole.logS(k)-beforeL, n+1, n2+1, square+whole.cve.square-beforeSquare
		b := forgetting
		onlinetest.Within(t, "sums", []float64{b.a[k], b.logS(k), b.n, b.n2, b.seconds, b.cve.square}, []float64{a, l, n, n2, n * onlinetest.Step, square}, 1e-12)
	}
}

// summary holds the figures of an estimator over many runs.
type summary struct{ mean, sd, coverage float64 }

// measure runs an estimator of v = 1 on many seeds.
func measure(runs int, one func(seed uint64) Estimate) summary {
	v, covered := make([]float64, runs), 0
	for run := range v {
		d := one(uint64(run))
		v[run] = d.V
		if d.Low <= 1 && 1 <= d.High {
			covered++
		}
	}
	mean, sd := stat.MeanStdDev(v, nil)
	return summary{mean, sd, float64(covered) / float64(runs)}
}

// TestTable compares with the standard deviations of a prototype in NumPy, from 300 runs per row. 100 runs give a mean to sd/10 and a coverage of 0.95 to
// 0.022. The mean may differ from 1 by 0.02, the bias of a likelihood maximum at these N, plus three standard errors, and the coverage from 0.95 by three.
func TestTable(t *testing.T) {
	const runs = 100
	q := new(profile)
	for _, c := range []struct {
		n        int
		r, kappa float64
		sd       float64 // sd of the prototype
	}{
		{1000, 0.02, 0, 0.07}, {1000, 0.1, 0, 0.08}, {1000, 1, 0, 0.11}, {1000, 16, 0, 0.18}, {300, 4, 0, 0.24},
		{1000, 1, 4, 0.11}, {1000, 16, 4, 0.20}, // strong mean reversion; the bank needs the drift
	} {
		s := measure(runs, func(seed uint64) Estimate {
			return q.estimate(banked(observed(c.n, c.r, c.kappa, onlinetest.Rand(seed)), -c.kappa, 1))
		})
		t.Logf("N=%d r=%g kappa=%g: %.3f±%.3f, covers %.2f", c.n, c.r, c.kappa, s.mean, s.sd, s.coverage)
		if math.Abs(s.mean-1) > 0.02+3*c.sd/math.Sqrt(runs) {
			t.Errorf("N=%d r=%g kappa=%g: mean %.3f, want 1", c.n, c.r, c.kappa, s.mean)
		}
		if s.sd > 1.25*c.sd { // 100 runs give a standard deviation to 7 %
			t.Errorf("N=%d r=%g kappa=%g: sd %.3f, want %.2f", c.n, c.r, c.kappa, s.sd, c.sd)
		}
		if math.Abs(s.coverage-0.95) > 0.066 {
			t.Errorf("N=%d r=%g kappa=%g: the 95 %% interval covers %.2f", c.n, c.r, c.kappa, s.coverage)
		}
	}
}

// A bank without the drift mistakes mean reversion for noise: a prototype in NumPy gave 0.73.
func TestDriftlessBankIsBiased(t *testing.T) {
	q := new(profile)
	s := measure(100, func(seed uint64) Estimate {
		return q.estimate(banked(observed(1000, 16, 4, onlinetest.Rand(seed)), 0, 1))
	})
	if math.Abs(s.mean-0.73) > 0.08 {
		t.Errorf("mean %.3f, want 0.73", s.mean)
	}
}

// With forgetting the interval must widen to the information of the remembered transitions; a prototype in NumPy covered 0.94 to 0.98.
func TestForgettingKeepsCoverage(t *testing.T) {
	q := new(profile)
	s := measure(100, func(seed uint64) Estimate {
		return q.estimate(banked(observed(1500, 1, 0, onlinetest.Rand(seed)), 0, 1-1.0/300))
	})
	if math.Abs(s.coverage-0.95) > 0.066 {
		t.Errorf("covers %.2f", s.coverage)
	}
}

// Motion blur over the full exposure correlates neighbouring increments by +1/6 of σ²Δt, which no R ≥ 0 explains.
func TestBlurFallsBackOnCovariances(t *testing.T) {
	const n, inside = 1000, 20
	q := new(profile)
	s := measure(100, func(seed uint64) Estimate {
		rng, z, m := onlinetest.Rand(seed), 0.0, make([]float64, n)
		for k := range m {
			for range inside {
				z += math.Sqrt(onlinetest.Step/inside) * rng.NormFloat64()
				m[k] += z / inside
			}
		}
		return q.estimate(banked(m, 0, 1))
	})
	if math.Abs(s.mean-1) > 0.02+3*0.08/10 || math.Abs(s.coverage-0.95) > 0.066 {
		t.Errorf("%.3f±%.3f, covers %.2f; want 1 and 0.95", s.mean, s.sd, s.coverage)
	}
}

func BenchmarkBankStep(b *testing.B) {
	k := newBank(newGrid(), 1)
	k.start(0)
	rng := onlinetest.Rand(1)
	for b.Loop() {
		k.step(rng.NormFloat64(), onlinetest.Step, drift.Line{Slope: -1})
	}
}

func BenchmarkFigures(b *testing.B) {
	for _, n := range []int{30, 1000, 30000} {
		k, q := banked(observed(n, 1, 0, onlinetest.Rand(1)), 0, 1), new(profile)
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				q.estimate(k)
			}
		})
	}
}

// A bank after an overflowing drift gives no figures.
func TestFiguresOfNoNumbers(t *testing.T) {
	b := newBank(newGrid(), 1)
	b.start(0)
	for k := range 20 {
		b.step(float64(k%3), onlinetest.Step, drift.Line{Mu: math.NaN()})
	}
	if d := new(profile).estimate(b); d != (Estimate{}) {
		t.Errorf("found figures %+v from a bank without finite sums", d)
	}
}
