package online

import (
	"math"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/onlinetest"
)

// whirling returns n latents every 10 ms of a whirl, dz = Az dt + σ dW with A = (-κ, -ω; ω, -κ), from its stationary law and exactly sampled. At three turns
// per second the drift of a step is 1.9 times its mean diffusion. The measurement noise has r = 0.25.
func whirling(n int, sigma float64, seed uint64) []latent.Latent {
	const kappa, omega, r = 0.5, 2 * math.Pi * 3, 0.25
	rho, spread := math.Exp(-kappa*onlinetest.Step), sigma/math.Sqrt(2*kappa)
	sin, cos := math.Sincos(omega * onlinetest.Step)
	added, noise := spread*math.Sqrt(1-rho*rho), sigma*math.Sqrt(r*onlinetest.Step)
	rng := onlinetest.Rand(seed)
	z, seen := [2]float64{spread * rng.NormFloat64(), spread * rng.NormFloat64()}, make([]latent.Latent, n)
	for k := range seen {
		seen[k] = latent.Latent{Seq: uint64(k), Time: time.Unix(0, 0).Add(time.Duration(k) * 10 * time.Millisecond),
			Mean: []float64{z[0] + noise*rng.NormFloat64(), z[1] + noise*rng.NormFloat64()}}
		z = [2]float64{rho*(cos*z[0]-sin*z[1]) + added*rng.NormFloat64(), rho*(sin*z[0]+cos*z[1]) + added*rng.NormFloat64()}
	}
	return seen
}

// TestNoAlarmsOfALearntWhirl: learning a law from nothing raises no alarm about a change, and σ is right as soon as the drift is known. A false alarm of a
// kind is allowed once in 1e5 frames, so one in sixteen such tests of 6,000 frames may see one. When the still unknown drift counted as σ, eight of these
// paths had ten alarms, and σ was up to twice too large after 300 frames.
func TestNoAlarmsOfALearntWhirl(t *testing.T) {
	suite.Calculation(t)
	paths := 4
	if testing.Short() {
		paths = 1
	}
	const n, sigma = 1500, 0.5
	count, off := map[string]int{}, 0
	for seed := range uint64(paths) {
		e := estimator(t, Config{Dim: 2, Seed: 1, Deterministic: true})
		dst := new(latent.Estimate)
		for k, l := range whirling(n, sigma, 2+seed) {
			if err := e.Update(dst, &l); err != nil {
				t.Fatal(err)
			}
			begun(e, count)
			if k >= 300 && k%100 == 0 {
				for i := range 2 {
					if s := &dst.SDE; s.Sigma[i] > 1.35*sigma || s.Sigma[i] < sigma/1.35 { // three times the smallest standard deviation at frame 300, 0.1
						off++
						t.Logf("path %d, frame %d: σ%d is %.3f, %.3f to %.3f", seed, k, i+1, s.Sigma[i], s.SigmaLow[i], s.SigmaHigh[i])
					}
				}
			}
		}
	}
	t.Logf("%v in %d frames", count, paths*n)
	if count[latent.DiffusionChanged]+count[latent.DriftChanged] > 0 || off > 0 {
		t.Errorf("found %v in %d frames, and σ wrong %d times; expected no alarm and the true σ", count, paths*n, off)
	}
}
