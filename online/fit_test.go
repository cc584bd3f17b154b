package online

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"driftscope/internal/latent"
)

// ouPath is n latents of dz = -4 z dt + dW in two dimensions, dt = 0.01, without noise.
func ouPath(n int, seed uint64) []latent.Latent {
	rng := rand.New(rand.NewPCG(seed, 0))
	path, z := make([]latent.Latent, n), [2]float64{}
	for k := range path {
		path[k] = latent.Latent{Seq: uint64(k), Time: time.Unix(0, int64(k)*1e7), Mean: []float64{z[0], z[1]}, SD: []float64{1e-3, 1e-3}}
		for i := range z {
			z[i] += -4*z[i]*0.01 + 0.1*rng.NormFloat64()
		}
	}
	return path
}

func TestFitIsWhatTheEstimatorPublishes(t *testing.T) {
	path := ouPath(600, 3)
	n, err := Fit(path, Config{Dim: 2, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(Config{Dim: 2, Seed: 5, Deterministic: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var last latent.Estimate
	for i := range path {
		if err := e.Update(&last, &path[i]); err != nil {
			t.Fatal(err)
		}
	}
	mu, s := make([]float64, 2), new(Scratch)
	n.Drift(mu, last.Latent.Mean, s)
	for i := range mu { // the same sums in another order
		if math.Abs(mu[i]-last.Drift[i]) > 1e-12*(1+math.Abs(mu[i])) {
			t.Errorf("drift %v, the estimator published %v", mu, last.Drift)
		}
	}
	if last.Drift[0] == 0 && last.Drift[1] == 0 {
		t.Error("nothing was learnt from 600 frames of strong mean reversion")
	}
}

// TestResetForgetsEverything: after Reset the same latents give the same estimates as they gave a new estimator.
func TestResetForgetsEverything(t *testing.T) {
	path := ouPath(300, 8)
	e, err := New(Config{Dim: 2, Seed: 5, Deterministic: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var first, again latent.Estimate
	for _, dst := range []*latent.Estimate{&first, &again} {
		for i := range path {
			if err := e.Update(dst, &path[i]); err != nil {
				t.Fatal(err)
			}
		}
		e.Reset()
	}
	if again.SDE.Revision <= first.SDE.Revision {
		t.Errorf("the revision went from %d to %d: it must grow", first.SDE.Revision, again.SDE.Revision)
	}
	again.SDE.Revision = first.SDE.Revision
	if !reflect.DeepEqual(first, again) {
		t.Errorf("before %+v\nafter %+v", first, again)
	}
}
