package drift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// spring returns a small network of μ(z) = -κz in d dimensions.
func spring(d int, kappa float64) *Network {
	n := &Network{Dim: d, Hidden: []int{1}, Centre: make([]float64, d), Scale: 1}
	n.Weights = make([]float64, n.Size())
	skip := n.Weights[len(n.Weights)-d*d:]
	for i := range d {
		skip[i*d+i] = -kappa
	}
	return n
}

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestPathIncrements(t *testing.T) {
	const n, dt = 20001, 0.01
	l := &Law{Sigma: []float64{1, 0.3}, Step: dt}
	path, err := l.Path([]float64{5, -5}, dt, n, generator(1))
	if err != nil {
		t.Fatal(err)
	}
	if path.At(0, 0) != 5 || path.At(0, 1) != -5 {
		t.Errorf("the path begins at %v", path.RawRowView(0))
	}
	for c, sigma := range l.Sigma {
		var square float64
		for i := range n - 1 {
			step := path.At(i+1, c) - path.At(i, c)
			square += step * step / ((n - 1) * dt)
		}
		// Relative sd √(2/n) = 0.01.
		if got := square / (sigma * sigma); math.Abs(got-1) > 0.04 {
			t.Errorf("σ²[%d] is %g times the true value, expected 1 ± 0.04, four standard errors", c, got)
		}
	}
}

// A spring of κ has the stationary variance σ²/2κ, or in steps of h the autoregression's variance σ²h/(1 - (1-κh)²).
func TestPathOfASpring(t *testing.T) {
	const n, kappa, sigma, h = 200_000, 4, 0.5, 0.01
	for _, dt := range []float64{h, 3 * h} { // without and with substeps
		l := &Law{Drift: spring(1, kappa), Sigma: []float64{sigma}, Step: h}
		path, err := l.Path([]float64{0}, dt, n, generator(2))
		if err != nil {
			t.Fatal(err)
		}
		f := 1 - kappa*h
		want := sigma * sigma * h / (1 - f*f)
		// The relative sd of the variance over T seconds is √(2/(κT)): 0.016 and 0.009.
		if got := stat.Variance(mat.Col(nil, 0, path), nil); math.Abs(got/want-1) > 0.06 {
			t.Errorf("dt %g: variance %g, expected %g ± 6 %%", dt, got, want)
		}
	}
}

func TestBrownianBridge(t *testing.T) {
	const n, dt, runs = 41, 0.05, 4000
	l := &Law{Sigma: []float64{1, 0.5}, Step: 0.01}
	from, to := []float64{0, 1}, []float64{2, -1}
	quarter, middle := make([][]float64, 2), make([][]float64, 2)
	for seed := range uint64(runs) {
		path, err := l.Bridge(from, to, dt, n, generator(seed))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(path.RawRowView(0), from) || !slices.Equal(path.RawRowView(n-1), to) {
			t.Fatalf("from %v to %v, expected %v to %v", path.RawRowView(0), path.RawRowView(n-1), from, to)
		}
		for c := range 2 {
			quarter[c], middle[c] = append(quarter[c], path.At(n/4, c)), append(middle[c], path.At(n/2, c))
		}
	}
	const whole = (n - 1) * dt
	for c, sigma := range l.Sigma {
		for _, of := range []struct {
			share  float64
			values []float64
		}{{0.25, quarter[c]}, {0.5, middle[c]}} {
			mean, variance := stat.MeanVariance(of.values, nil)
			wantMean := from[c] + of.share*(to[c]-from[c])
			want := sigma * sigma * whole * of.share * (1 - of.share)
			// Four standard errors of a mean and of a variance over the runs.
			if math.Abs(mean-wantMean) > 4*math.Sqrt(want/runs) || math.Abs(variance/want-1) > 4*math.Sqrt(2./runs) {
				t.Errorf("coordinate %d at the fraction %g of the path: mean %g, variance %g, expected %g and %g", c, of.share, mean, variance, wantMean, want)
			}
		}
	}
}

// springBridge returns the exact mean and variance, at every step, of the autoregression z' = fz + σ√h ξ between fixed ends. Its law is Gaussian with a
// tridiagonal precision.
func springBridge(kappa, sigma, h, from, to float64, steps int) (mean, variance []float64) {
	f, q := 1-kappa*h, sigma*sigma*h
	m := steps - 1
	precision, right := mat.NewSymDense(m, nil), mat.NewVecDense(m, nil)
	for i := range m {
		precision.SetSym(i, i, (1+f*f)/q)
		if i+1 < m {
			precision.SetSym(i, i+1, -f/q)
		}
	}
	right.SetVec(0, right.AtVec(0)+f*from/q)
	right.SetVec(m-1, right.AtVec(m-1)+f*to/q)
	var factor mat.Cholesky
	factor.Factorize(precision)
	var covariance mat.SymDense
	factor.InverseTo(&covariance)
	var centre mat.VecDense
	factor.SolveVecTo(&centre, right)
	for i := range m {
		mean, variance = append(mean, centre.AtVec(i)), append(variance, covariance.At(i, i))
	}
	return mean, variance
}

// The bridge of a spring is known exactly. A Brownian bridge would have 3 to 10 times its variance in the middle, and its mean would not sag.
func TestBridgeOfASpring(t *testing.T) {
	const sigma, h = 0.7, 0.01
	for _, test := range []struct {
		kappa          float64
		steps, between int
		runs           int
	}{{4, 100, 1, 200}, {4, 240, 3, 80}, {10, 200, 1, 80}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			t.Parallel()
			const from, to = 1, -0.5
			l := &Law{Drift: spring(1, test.kappa), Sigma: []float64{sigma}, Step: h}
			n := test.steps/test.between + 1
			var quarter, middle []float64
			for seed := range uint64(test.runs) {
				path, err := l.Bridge([]float64{from}, []float64{to}, h*float64(test.between), n, generator(seed))
				if err != nil {
					t.Fatal(err)
				}
				if path.At(0, 0) != from || path.At(n-1, 0) != to {
					t.Fatalf("from %g to %g", path.At(0, 0), path.At(n-1, 0))
				}
				quarter, middle = append(quarter, path.At(n/4, 0)), append(middle, path.At(n/2, 0))
			}
			means, variances := springBridge(test.kappa, sigma, h, from, to, test.steps)
			runs := float64(test.runs)
			for _, of := range []struct {
				step   int
				values []float64
			}{{n / 4 * test.between, quarter}, {n / 2 * test.between, middle}} {
				mean, variance := stat.MeanVariance(of.values, nil)
				wantMean, want := means[of.step-1], variances[of.step-1]
				t.Logf("step %d: mean %.4f for %.4f, variance %.4f for %.4f", of.step, mean, wantMean, variance, want)
				// Four standard errors of a mean and of a variance over the runs.
				if math.Abs(mean-wantMean) > 4*math.Sqrt(want/runs) || math.Abs(variance/want-1) > 4*math.Sqrt(2/runs) {
					t.Errorf("step %d: mean %g, variance %g, expected %g and %g", of.step, mean, variance, wantMean, want)
				}
			}
		})
	}
}

func TestPathsRepeat(t *testing.T) {
	l := &Law{Drift: spring(2, 4), Sigma: []float64{1, 1}, Step: 0.01}
	draw := func(seed uint64) (*mat.Dense, *mat.Dense) {
		path, err := l.Path([]float64{0, 0}, 0.01, 20, generator(seed))
		if err != nil {
			t.Fatal(err)
		}
		bridge, err := l.Bridge([]float64{0, 0}, []float64{1, 1}, 0.01, 20, generator(seed))
		if err != nil {
			t.Fatal(err)
		}
		return path, bridge
	}
	path, bridge := draw(3)
	again, anew := draw(3)
	if !mat.Equal(path, again) || !mat.Equal(bridge, anew) {
		t.Error("the same seed gave a different path")
	}
	if other, third := draw(4); mat.Equal(path, other) || mat.Equal(bridge, third) {
		t.Error("a different seed gave the same path")
	}
}

func TestPathsRefuse(t *testing.T) {
	for want, l := range map[string]*Law{
		"to infinity":  {Drift: spring(1, -1e8), Sigma: []float64{1}, Step: 0.01},
		"at most 1000": {Sigma: []float64{1}, Step: 1e-9},
	} {
		if _, err := l.Path([]float64{1}, 0.01, 1000, generator(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected one with %q", err, want)
		}
	}
	l := &Law{Sigma: []float64{1}, Step: 0.01}
	for want, n := range map[string]int{"2 or more": 1, "too many values": 1 << 27} {
		if _, err := l.Bridge([]float64{1}, []float64{1}, 0.01, n, generator(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d latents: error %v, expected one with %q", n, err, want)
		}
	}
}

func BenchmarkBridge(b *testing.B) {
	l := &Law{Drift: spring(2, 4), Sigma: []float64{1, 1}, Step: 0.01}
	for b.Loop() {
		if _, err := l.Bridge([]float64{0, 0}, []float64{1, 1}, 0.01, 101, generator(1)); err != nil {
			b.Fatal(err)
		}
	}
}
