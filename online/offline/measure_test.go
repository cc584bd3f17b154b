package offline

import (
	"errors"
	"math"
	"testing"

	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// TestMeasure: for a spring of 4/s with noise of r = 16, Measure finds σ² = 1 with the drift. Without the drift it mistakes reversion for noise and finds
// about 0.73. A single σ² has a standard deviation of 0.18 (300 runs of a prototype in NumPy), the mean of twelve 0.05; both limits are three times this.
func TestMeasure(t *testing.T) {
	spring := drift.NewNetwork(2, onlinetest.Rand(1))
	skip := spring.Weights[spring.Size()-4:]
	skip[0], skip[3] = -4, -4
	const seeds = 6
	told, untold := 0.0, 0.0
	for seed := range uint64(seeds) {
		seen, _ := onlinetest.Stream(onlinetest.Spring, 1000, 16, onlinetest.Rand(seed))
		for prior, mean := range map[*drift.Network]*float64{spring: &told, nil: &untold} {
			law, err := Measure(seen, Config{Dim: 2, Prior: prior})
			if err != nil {
				t.Fatal(err)
			}
			if law.Transitions != 999 || law.ActiveCount != 2 {
				t.Errorf("%d transitions, %d active; want 999 and 2", law.Transitions, law.ActiveCount)
			}
			for _, sigma := range law.Sigma {
				*mean += sigma * sigma / (2 * seeds)
			}
		}
	}
	t.Logf("σ² %.3f, without the drift %.3f", told, untold)
	if math.Abs(told-1) > 0.16 || math.Abs(untold-0.73) > 0.16 {
		t.Errorf("σ² %.3f, without the drift %.3f; want 1 and 0.73", told, untold)
	}
	seen, _ := onlinetest.Stream(onlinetest.Still, 50, 0, onlinetest.Rand(1))
	seen[20].Mean[0] = math.NaN()
	if _, err := Measure(seen, Config{Dim: 2}); !errors.Is(err, diffusion.ErrLatent) {
		t.Errorf("for NaN, found %v", err)
	}
}
