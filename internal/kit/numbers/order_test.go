package numbers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNth: Nth agrees with sorting, also for equal values, and it terminates for NaN.
func TestNth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		v := make([]float32, 1+r.IntN(60))
		for i := range v {
			v[i] = float32(r.IntN(1+r.IntN(20)) - 5)
		}
		sorted := slices.Sorted(slices.Values(v))
		k := r.IntN(len(v))
		if got := Nth(slices.Clone(v), k); got != sorted[k] {
			t.Fatalf("Nth(%v, %d): found %g, expected %g", v, k, got, sorted[k])
		}
		if got := Median(slices.Clone(v)); got != sorted[len(v)/2] {
			t.Fatalf("Median(%v): found %g, expected %g", v, got, sorted[len(v)/2])
		}
		for i := range v {
			if r.IntN(2) == 0 {
				v[i] = float32(math.NaN())
			}
		}
		Nth(v, k) // must terminate
	}
}
