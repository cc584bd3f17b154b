package natsink

import (
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// TestSampler: at most thirty latents per second are sampled, always the newest. All frames of a slower camera are sampled, and the last one before a pause.
func TestSampler(t *testing.T) {
	for name, c := range map[string]struct {
		fps, tremble float64 // tremble is a fraction of the frame interval
		low, high    int     // samples in ten seconds
	}{
		"a thousand a second": {1000, 0, 299, 302},
		"sixty":               {60, 0.2, 290, 302},
		"thirty":              {30, 0.4, 299, 301},
		"ten":                 {10, 0.4, 100, 100},
	} {
		g, n := sampler{kind: latent.KindLatent}, 0
		for i := range int(10 * c.fps) {
			at := (float64(i) + c.tremble*float64(i%2)) / c.fps
			if g.take(latent.KindLatent, sinktest.Noon.Add(time.Duration(at*1e9))) {
				n++
			}
		}
		if n < c.low || n > c.high {
			t.Errorf("%s: %d taken in ten seconds, expected %d to %d", name, n, c.low, c.high)
		}
	}
	g := sampler{kind: latent.KindLatent}
	for i, want := range []bool{true, true, false} { // one sample in advance
		if g.take(latent.KindLatent, sinktest.Noon) != want {
			t.Errorf("latent %d of one moment: expected %v", i, want)
		}
	}
	for i, want := range []bool{true, false} {
		if g.take(latent.KindEvent, sinktest.Noon) || g.take(latent.KindHealth, sinktest.Noon) != want {
			t.Errorf("health %d after a latent that was left out: expected %v", i, want)
		}
	}
}
