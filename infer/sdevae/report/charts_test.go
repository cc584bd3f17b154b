package report

import (
	"math"
	"slices"
	"testing"

	"driftscope/infer/sdevae/sdevaetest"
)

// TestElapsed: two trajectories whose clocks both start at zero are drawn one after another.
func TestElapsed(t *testing.T) {
	c := sdevaetest.Walk(30, 3)
	for i := 10; i < 30; i++ {
		c.Trajectory[i], c.Times[i] = 1, c.Times[i]-c.Times[10]-0.05
	}
	c.Times[10] = c.Times[9] + 0.1
	if times := elapsed(c); !slices.IsSorted(times) || math.Abs(times[10]-times[9]-c.DT()) > 1e-9 {
		t.Errorf("drawn at %v", times)
	}
}
