package sdevae

import (
	"math"
	"slices"
	"testing"
)

func TestSplitKeepsHeldOutFramesApart(t *testing.T) {
	for _, n := range []int{20, 79, 500, 999} {
		pairs := make([]Pair, n)
		for i := range pairs {
			pairs[i] = Pair{i, 1}
		}
		train, held := split(pairs)
		if len(held) == 0 || len(train) < 6*n/10 {
			t.Errorf("%d pairs: %d to train on, %d held out", n, len(train), len(held))
		}
		trained := framesOf(train)
		for _, f := range framesOf(held) {
			if slices.Contains(trained, f) {
				t.Errorf("%d pairs: frame %d is both trained on and held out", n, f)
			}
		}
	}
}

// Two recordings whose clocks both start at zero give no pair across the cut, and are drawn one after another.
func TestPairsStopAtACut(t *testing.T) {
	c := walk(30, 3)
	for i := 10; i < 30; i++ {
		c.Trajectory[i], c.Times[i] = 1, c.Times[i]-c.Times[10]-0.05
	}
	c.Times[10] = c.Times[9] + 0.1 // not even where the times would fit
	for _, p := range c.Pairs(c.MaxGap()) {
		if p.First == 9 {
			t.Error("a pair across two trajectories")
		}
	}
	if times := elapsed(c); !slices.IsSorted(times) || math.Abs(times[10]-times[9]-c.DT()) > 1e-9 {
		t.Errorf("drawn at %v", times)
	}
}
