package estimator

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/onlinetest"
)

// trap is a path of an exact Ornstein-Uhlenbeck process about 50 with κ and σ, one frame a second, measured with noise.
func trap(n int, rate, sigma, noise float64, rng *rand.Rand) []latent.Latent {
	f := math.Exp(-rate)
	sd := sigma / math.Sqrt(2*rate)
	z := sd * rng.NormFloat64()
	path := make([]latent.Latent, n)
	for k := range path {
		path[k] = latent.Latent{Seq: uint64(k), Time: time.Unix(int64(k), 0), Mean: []float64{0, 50 + z + noise*rng.NormFloat64()}}
		z = f*z + sd*math.Sqrt(1-f*f)*rng.NormFloat64()
	}
	return path
}

// The filter's likelihood is that of the path's exact Gaussian law, its constant integrated out.
func TestRelaxationIsTheExactLikelihood(t *testing.T) {
	const n, rate, noise = 12, 0.3, 0.4
	p, err := newTrapPath(trap(n, 0.2, 1, 0.1, onlinetest.Rand(1)), 1)
	if err != nil {
		t.Fatal(err)
	}
	p.series.DT[5] = 2.5
	times, now := make([]float64, n), 0.0
	for i, dt := range p.series.DT {
		now += dt
		times[i] = now
	}
	c := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			c.SetSym(i, j, math.Exp(-rate*math.Abs(times[i]-times[j])))
		}
		c.SetSym(i, i, 1+noise)
	}
	var ch mat.Cholesky
	if !ch.Factorize(c) {
		t.Fatal("covariance is not positive definite")
	}
	m, ones := mat.NewVecDense(n, p.series.M), mat.NewVecDense(n, nil)
	for i := range n {
		ones.SetVec(i, 1)
	}
	var x, y mat.VecDense
	if err := errors.Join(ch.SolveVecTo(&x, m), ch.SolveVecTo(&y, ones)); err != nil {
		t.Fatal(err)
	}
	information := mat.Dot(ones, &y)
	variance := (mat.Dot(m, &x) - math.Pow(mat.Dot(ones, &x), 2)/information) / (n - 1)
	want := -((n-1)*(math.Log(variance)+1) + ch.LogDet() + math.Log(information)) / 2
	ln, found := p.likelihood(rate, noise)
	onlinetest.Within(t, "ln L and S", []float64{ln, found}, []float64{want, variance}, 1e-10)
}

// Of 40 runs a coverage of 0.95 is known to 0.034, and may miss it by three of those: 34 of 40 is the limit.
func TestRelaxation(t *testing.T) {
	const runs = 40
	for _, c := range []struct {
		name               string
		n                  int
		rate, sigma, noise float64
	}{
		{"as the trapped bead", 100, 0.16, 0.45, 0.03},
		{"in noise", 400, 0.1, 0.5, 0.5},
		{"slow", 100, 0.02, 1, 0.1},
		{"fast", 400, 1, 1, 0.2},
	} {
		n, rates, sigmas, stiffnesses := c.n, 0, 0, 0
		for run := range uint64(runs) {
			s, err := Relaxation(trap(n, c.rate, c.sigma, c.noise, onlinetest.Rand(run+1)), 1)
			if err != nil {
				t.Fatal(err)
			}
			covers := func(low, v, high float64) int {
				if low <= v && v <= high {
					return 1
				}
				return 0
			}
			rates += covers(s.RateLow, c.rate, s.RateHigh)
			sigmas += covers(s.SigmaLow, c.sigma, s.SigmaHigh)
			stiffnesses += covers(s.StiffnessLow, 2*c.rate/(c.sigma*c.sigma), s.StiffnessHigh)
			if covers(s.RateLow, s.Rate, s.RateHigh)+covers(s.SigmaLow, s.Sigma, s.SigmaHigh)+covers(s.StiffnessLow, s.Stiffness, s.StiffnessHigh) != 3 {
				t.Fatalf("%s: %+v", c.name, s)
			}
		}
		t.Logf("%s: of %d intervals κ is in %d, σ in %d, stiffness in %d", c.name, runs, rates, sigmas, stiffnesses)
		if min(rates, sigmas, stiffnesses) < 34 {
			t.Errorf("%s: of %d intervals κ is in %d, σ in %d, stiffness in %d", c.name, runs, rates, sigmas, stiffnesses)
		}
	}
}

func TestRelaxationLimits(t *testing.T) {
	free, err := Relaxation(trap(200, 1e-6, 1, 0, onlinetest.Rand(3)), 1)
	if err != nil || free.RateLow != 0 || free.StiffnessLow != 0 || math.Abs(free.Sigma-1) > 0.2 {
		t.Errorf("a free path: %+v, %v", free, err)
	}
	white, err := Relaxation(trap(200, 20, 1, 0, onlinetest.Rand(3)), 1)
	if err != nil || !math.IsInf(white.RateHigh, 1) || !math.IsInf(white.SigmaHigh, 1) {
		t.Errorf("a path without memory: %+v, %v", white, err)
	}
	path := trap(20, 1, 1, 0, onlinetest.Rand(3))
	path[7].Time = path[6].Time
	if _, err := Relaxation(path, 1); !errors.Is(err, diffusion.ErrTimeOrder) {
		t.Errorf("twice the same time: %v", err)
	}
	for name, path := range map[string][]latent.Latent{
		"short":    path[:5],
		"at rest":  trap(20, 1, 0, 0, onlinetest.Rand(3)),
		"no such":  {{}, {}, {}, {}, {}, {}, {}, {}, {}, {}},
		"infinite": append(trap(20, 1, 1, 0, onlinetest.Rand(3)), latent.Latent{Mean: []float64{0, math.Inf(1)}}),
	} {
		if _, err := Relaxation(path, 1); !errors.Is(err, diffusion.ErrLatent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
