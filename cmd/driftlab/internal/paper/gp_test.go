package paper

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"driftscope/internal/suite"
	"driftscope/online/drift"
)

// The decomposed kernel gives the same results as the definitions.
func TestRegression(t *testing.T) {
	suite.Long(t)
	rng := rand.New(rand.NewPCG(1, 1))
	const n, d, noise = 40, 2, 3.
	x := mat.NewDense(n+1, d, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	at, y := make([]int, n), make([]float64, n)
	for i := range at {
		at[i], y[i] = i+1, 2*x.At(i+1, 0)+math.Sqrt(noise)*rng.NormFloat64()
	}
	for _, length := range []float64{0.1, 1, 5} { // full rank, and lower ranks
		k := kernel(squaredDistances(x), length)
		r := newRegression(k, at, noise)
		evidence, a := r.choose(y)

		covariance, still := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				covariance.SetSym(i, j, a*k.At(at[i], at[j]))
			}
			covariance.SetSym(i, i, covariance.At(i, i)+noise)
			still.SetSym(i, i, noise)
		}
		moving, ok := distmv.NewNormal(make([]float64, n), covariance, nil)
		idle, fine := distmv.NewNormal(make([]float64, n), still, nil)
		if !ok || !fine {
			t.Fatal("no such normal law")
		}
		// The factor omits 1e-8 of 1; multiplied by a/s² this is the error.
		tolerance := 1e-6 * max(1, a)
		if want := moving.LogProb(y) - idle.LogProb(y); math.Abs(evidence-want) > tolerance {
			t.Errorf("length %g: evidence %g, expected %g", length, evidence, want)
		}
		var factor mat.Cholesky
		factor.Factorize(covariance)
		var want mat.VecDense
		if err := factor.SolveVecTo(&want, mat.NewVecDense(n, y)); err != nil {
			t.Fatal(err)
		}
		if got := r.weights(y, a); floats.Distance(got, want.RawVector().Data, math.Inf(1)) > tolerance {
			t.Errorf("length %g: weights are off by %g", length, floats.Distance(got, want.RawVector().Data, math.Inf(1)))
		}
	}
}

// Over 10 s, a spring of 4 in two dimensions has a drift whose mean square, summed over coordinates, is 4. The 6 numbers of a linear law cost 6/10.
func TestGaussianProcessFindsASpring(t *testing.T) {
	suite.Long(t)
	const runs = 3
	total := 0.0
	for seed := range uint64(runs) {
		e, err := (&Options{Out: t.TempDir(), Seed: 10 + seed}).experiment(paperRow{scene: "balls-ou", latent: 2, frames: 1000}, 1)
		if err != nil {
			t.Fatal(err)
		}
		off, err := e.regress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if off.LMu != 2*off.LMuCoord {
			t.Errorf("%g is not twice %g", off.LMu, off.LMuCoord)
		}
		total += off.LMu / runs
	}
	if total > 1.5 {
		t.Errorf("L_mu is %g in the mean, expected about 0.6, no drift would have 4", total)
	}
}

// There is no transition between two trajectories, and the result does not depend on the scale of the coordinates.
func TestGaussianProcessScales(t *testing.T) {
	suite.Long(t)
	law := &drift.Law{Sigma: []float64{1}, Step: 0.01}
	path, err := law.Path([]float64{0}, 0.01, 200, rand.New(rand.NewPCG(2, 2)))
	if err != nil {
		t.Fatal(err)
	}
	p := &truePath{z: path, trajectory: make([]uint64, 200), dt: 0.01}
	for i := 100; i < 200; i++ {
		p.trajectory[i] = 1
		path.Set(i, 0, path.At(i, 0)+50) // a jump that would be a drift of 5000
	}
	drift := p.drift()
	if m := max(mat.Max(drift), -mat.Min(drift)); m > 20 {
		t.Errorf("a drift of %g beside a cut", m)
	}
	path.Scale(7, path)
	seven := p.drift()
	drift.Scale(7, drift)
	if !mat.EqualApprox(seven, drift, 1e-6) {
		t.Error("in sevenths the drift is another")
	}
}

// The paper's p-values follow from its means and standard deviations by this test, up to rounding.
func TestPaperPValues(t *testing.T) {
	printed := map[string]float64{"balls-constant": 0.0783, "balls-ou": 0.0001, "balls-circle": 0.0001, "multiple-balls-ou": 0.6975,
		"digits-constant": 0.0238, "digits-ou": 0.3839, "digits-circle": 0.0089, "wasserstein-ou": 0, "wasserstein-double-well": 0.0091,
		"ball-wasserstein-ou": 0.5661, "ball-wasserstein-cauchy": 0.2899}
	for _, r := range paperRows {
		q := r.paper.quote()
		want, there := printed[r.scene]
		if there != (q.GP != nil) {
			t.Errorf("%s: a Gaussian process %t, expected %t", r.scene, q.GP != nil, there)
		} else if there && math.Abs(q.GP.P-want) > 2e-4 {
			t.Errorf("%s: p is %.4f, the paper has %.4f", r.scene, q.GP.P, want)
		}
	}
	for _, n := range []int{1, 5} { // one run, and runs without any spread
		if p := tTest(spread{mean: 1}, spread{mean: 2}, n); !math.IsNaN(p) {
			t.Errorf("%d runs: p is %g", n, p)
		}
	}
}
