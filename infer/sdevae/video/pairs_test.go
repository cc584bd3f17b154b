package video_test

import (
	"slices"
	"testing"

	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
)

func TestSplitKeepsHeldOutFramesApart(t *testing.T) {
	for _, n := range []int{20, 79, 500, 999} {
		pairs := make([]video.Pair, n)
		for i := range pairs {
			pairs[i] = video.Pair{First: i, DT: 1}
		}
		train, held := video.Split(pairs)
		if len(held) == 0 || len(train) < 6*n/10 {
			t.Errorf("%d pairs: %d to train on, %d held out", n, len(train), len(held))
		}
		trained := video.FramesOf(train)
		for _, f := range video.FramesOf(held) {
			if slices.Contains(trained, f) {
				t.Errorf("%d pairs: frame %d is both trained on and held out", n, f)
			}
		}
	}
}

// TestPairsStopAtACut: two trajectories whose clocks both start at zero give no pair across the cut.
func TestPairsStopAtACut(t *testing.T) {
	c := sdevaetest.Walk(30, 3)
	for i := 10; i < 30; i++ {
		c.Trajectory[i], c.Times[i] = 1, c.Times[i]-c.Times[10]-0.05
	}
	c.Times[10] = c.Times[9] + 0.1 // not even if the times fit
	for _, p := range c.Pairs(c.MaxGap()) {
		if p.First == 9 {
			t.Error("a pair across two trajectories")
		}
	}
}
