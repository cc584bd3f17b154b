package diffusion

import (
	"math"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// A decision stays until the estimate has crossed the threshold, 0.01 here, or motion has become doubtful.
func TestDecisionsStand(t *testing.T) {
	largest := Estimate{V: 1, Low: 0.9, High: 1.1, Ratio: 500}
	clear := Estimate{V: 0.02, Low: 0.015, High: 0.03, Ratio: 30}
	none := Estimate{V: 0.001, High: 0.005}
	for _, c := range []struct {
		name   string
		before Estimate
		d      Estimate
		want   latent.Activity
	}{
		{"active, its lower limit below", clear, Estimate{V: 0.015, Low: 0.009, High: 0.03, Ratio: 30}, latent.Active},
		{"active, its evidence less", clear, Estimate{V: 0.015, Low: 0.011, High: 0.03, Ratio: 5}, latent.Active},
		{"active, now below", clear, Estimate{V: 0.009, Low: 0.005, High: 0.03, Ratio: 30}, latent.Undecided},
		{"active, now doubtful", clear, Estimate{V: 0.015, Low: 0, High: 0.03, Ratio: 4}, latent.Undecided},
		{"active, now clearly below", clear, none, latent.Inactive},
		{"inactive, its upper limit above", none, Estimate{V: 0.008, High: 0.02, Ratio: 8}, latent.Inactive},
		{"inactive, now above", none, Estimate{V: 0.012, Low: 0.008, High: 0.02, Ratio: 20}, latent.Undecided},
		{"inactive, now clearly above", none, clear, latent.Active},
	} {
		dst := make([]latent.Activity, 2)
		decide(dst, []Estimate{largest, c.before}, 300)
		for range 2 { // the second call changes nothing
			if decide(dst, []Estimate{largest, c.d}, 300); dst[1] != c.want {
				t.Errorf("%s: %s, want %s", c.name, dst[1], c.want)
			}
		}
	}
}

// If the true value is at the threshold, the estimate crosses it again and again. Decisions then change 0.5 times in 2000 frames, instead of 2.0 times
// without hysteresis (measured on 900 dimensions). Dimensions of pure noise stay inactive (0 changes in 900). The limits are twice the measured rate, and 1.
func TestDecisionsDoNotFlicker(t *testing.T) {
	const dimensions = 16
	for v, limit := range map[float64]int{0.01: 45, 0: 1} {
		changes := 0
		for seed := range uint64(3) {
			rng, q, z := onlinetest.Rand(seed), new(profile), make([]float64, dimensions)
			var banks []*bank
			for range dimensions {
				banks = append(banks, newBank(newGrid(), 1))
			}
			found, dst := make([]Estimate, dimensions), make([]latent.Activity, dimensions)
			last := make([]latent.Activity, dimensions)
			for k := range 2000 {
				for i, b := range banks {
					root := math.Sqrt(v * onlinetest.Step)
					if i == 0 {
						root = math.Sqrt(onlinetest.Step)
					}
					z[i] += root * rng.NormFloat64()
					b.step(z[i]+math.Sqrt(0.1*onlinetest.Step)*rng.NormFloat64(), onlinetest.Step, drift.Line{})
				}
				if k < DecideAfter || k%20 != 0 {
					continue
				}
				for i, b := range banks {
					found[i] = q.estimate(b)
				}
				decide(dst, found, banks[0].n)
				for i := 1; i < dimensions; i++ {
					if last[i] != "" && dst[i] != last[i] {
						changes++
					}
				}
				copy(last, dst)
			}
		}
		t.Logf("v %g: %d changes in 45 dimensions", v, changes)
		if changes > limit {
			t.Errorf("v %g: %d changes in 45 dimensions, want at most %d", v, changes, limit)
		}
	}
}

func TestDecide(t *testing.T) {
	moving := Estimate{V: 1, Low: 0.9, High: 1.1, Ratio: 500}
	for _, c := range []struct {
		name string
		d    Estimate
		n    float64
		want latent.Activity
	}{
		{"clear", moving, 300, latent.Active},
		{"too few", moving, 99, latent.Undecided},
		{"no motion", Estimate{High: 0.001}, 300, latent.Inactive},
		{"wide", Estimate{High: 0.5}, 300, latent.Undecided},
		{"straddles", Estimate{V: 0.01, Low: 0.005, High: 0.02, Ratio: 20}, 300, latent.Undecided},
		{"weak evidence", Estimate{V: 0.5, Low: 0.02, High: 1, Ratio: 9}, 300, latent.Undecided},
		{"leak", Estimate{V: 0.004, Low: 0.003, High: 0.006, Ratio: 100}, 300, latent.Inactive},
	} {
		dst := make([]latent.Activity, 2)
		decide(dst, []Estimate{moving, c.d}, c.n)
		if dst[1] != c.want {
			t.Errorf("%s: %s, want %s", c.name, dst[1], c.want)
		}
	}
}
