package online

import (
	"math"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// BenchmarkUpdateOf16 times a frame of 16 latents, two of them moving, with its share of the refreshes, with zero drift and with a drift network. Refinement
// is blocked, so it takes no processor time from the measurement.
func BenchmarkUpdateOf16(b *testing.B) {
	for name, prior := range map[string]*drift.Network{"still": nil, "drift": anyNetwork(16, 1)} {
		b.Run(name, func(b *testing.B) {
			e := estimator(b, Config{Dim: 16, Seed: 1, Prior: prior})
			e.law.inFlight, e.law.due = true, math.MaxUint64
			rng, dst, l := onlinetest.Rand(1), new(latent.Estimate), latent.Latent{Mean: make([]float64, 16), SD: make([]float64, 16)}
			z, k := make([]float64, 2), int64(0)
			b.ReportAllocs()
			for b.Loop() {
				for i := range l.Mean {
					l.Mean[i] = 0.1 * rng.NormFloat64()
					if i < len(z) {
						z[i] += -4*z[i]*onlinetest.Step + math.Sqrt(onlinetest.Step)*rng.NormFloat64()
						l.Mean[i] += z[i]
					}
				}
				l.Seq, l.Time = uint64(k), time.Unix(0, k*1e7)
				k++
				if err := e.Update(dst, &l); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The steepest drift that a network may have causes no failure.
func TestSteepestDrift(t *testing.T) {
	steep := drift.NewNetwork(2, onlinetest.Rand(1))
	for i := range steep.Weights {
		steep.Weights[i] = 1e12 * float64(1-2*(i%2))
	}
	seen, _ := onlinetest.Stream(onlinetest.Still, 300, 0, onlinetest.Rand(1))
	feed(t, estimator(t, Config{Dim: 2, Prior: steep, Deterministic: true}), seen)
}
