package online

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"driftscope/internal/latent"
	"driftscope/internal/suite"
	"driftscope/online/onlinetest"
)

// driven gives n latents of two free coordinates, dz = (-z/2 + (4h, 0)) dt + dW, which see nothing of h, dh = -h dt + dW, that moves the
// first, every 10 ms with noise of variance rΔt.
func driven(n int, r float64, seed uint64) []latent.Latent {
	rng, z, h := onlinetest.Rand(seed), make([]float64, 2), 0.0
	seen := make([]latent.Latent, n)
	for k := range seen {
		l := latent.Latent{Seq: uint64(k), Time: time.Unix(0, 0).Add(time.Duration(k) * 10 * time.Millisecond), Mean: make([]float64, 2)}
		force := []float64{4 * h, 0}
		for i := range z {
			l.Mean[i] = z[i] + math.Sqrt(r*onlinetest.Step)*rng.NormFloat64()
			z[i] += (force[i]-z[i]/2)*onlinetest.Step + math.Sqrt(onlinetest.Step)*rng.NormFloat64()
		}
		h += -h*onlinetest.Step + math.Sqrt(onlinetest.Step)*rng.NormFloat64()
		seen[k] = l
	}
	return seen
}

// TestColouredIsItsDefinition: the recursion gives the densities of the whole series.
func TestColouredIsItsDefinition(t *testing.T) {
	const n, memory, share = 30, 8, 0.3
	e, white, coloured30 := mat.NewDense(n, 1, onlinetest.Normals(n, onlinetest.Rand(1))), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		white.SetSym(i, i, 1)
		for j := range i {
			coloured30.SetSym(i, j, share*math.Exp(-float64(i-j)/memory))
		}
		coloured30.SetSym(i, i, 1)
	}
	want := 0.0
	for covariance, sign := range map[*mat.SymDense]float64{white: -1, coloured30: 1} {
		law, ok := distmv.NewNormal(make([]float64, n), covariance, nil)
		if !ok {
			t.Fatal("not a covariance")
		}
		want += sign * law.LogProb(e.RawMatrix().Data)
	}
	onlinetest.Within(t, "log likelihood ratio", coloured(e, memory, share), []float64{want}, 1e-10)
}

// TestTooFewDimensions: a coordinate that the latents do not show is reported, by an estimator that learns their law from nothing. Of
// 12 such paths each, 12 clear and 11 noisy ones were within 4000 frames.
func TestTooFewDimensions(t *testing.T) {
	suite.Long(t)
	for name, r := range map[string]float64{"clear": 0, "noisy": 1} {
		e := estimator(t, Config{Dim: 2, Seed: 1, Deterministic: true})
		dst, at := new(latent.Estimate), -1
		for k, z := range driven(4000, r, 3) {
			if err := e.Update(dst, &z); err != nil {
				t.Fatal(err)
			}
			count := map[string]int{}
			if begun(e, count); count[latent.TooFewDimensions] > 0 {
				at = k
				break
			}
		}
		t.Logf("%s: after %d frames", name, at)
		if at < 0 || !dst.SDE.TooFew {
			t.Errorf("%s: not reported in 4000 frames", name)
		}
	}
}

// TestEnoughDimensions: latents that are all there is are not reported, whatever their law and the noise. The alarm of the shortest
// period begins at a likelihood ratio of 20, which white surprises have at most once in 20 times; about a mean drift that was found in them,
// of 288 such recordings none had more than 2.
func TestEnoughDimensions(t *testing.T) {
	well := func(mu, z []float64) {
		for i, v := range z {
			mu[i] = 4 * v * (1 - v*v)
		}
	}
	for name, law := range map[string]onlinetest.Drift{"spring": onlinetest.Spring, "circle": onlinetest.Circle, "double well": well, "constant": onlinetest.Constant} {
		for k, r := range []float64{0, 0.5, 1, 9} {
			for seed := range uint64(2) {
				seen, _ := onlinetest.Stream(law, 1000, r, onlinetest.Rand(700+10*uint64(k)+seed))
				found, err := read(seen, OfflineConfig{Dim: 2})
				if err != nil {
					t.Fatal(err)
				}
				v := NewWhitener(found.found, found.sde.Activity, nil)
				s := v.Steps(found.track())
				p := &Posterior{dim: 2, active: v.active, root: v.root}
				if err := p.learn(s); err != nil {
					t.Fatal(err)
				}
				if h := p.Hidden(s); !(h < 20) {
					t.Errorf("%s, r = %g, seed %d: likelihood ratio %.3g", name, r, seed, h)
				} else if h > 1 {
					t.Logf("%s, r = %g, seed %d: likelihood ratio %.3g", name, r, seed, h)
				}
			}
		}
	}
}
