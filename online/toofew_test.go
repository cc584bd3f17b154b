package online

import (
	"math"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/onlinetest"
)

// driven returns n latents of two coordinates, dz = (-z/2 + (4h, 0)) dt + dW, every 10 ms with noise of variance rΔt. The hidden coordinate h, dh = -h dt +
// dW, drives the first.
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

// TestTooFewDimensions: an estimator without a prior reports a coordinate that the latents do not show. It did so within 4000 frames for 12 of 12 clear and
// for 11 of 12 noisy paths.
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
