package estimator

import (
	"errors"
	"math"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/onlinetest"
)

// Few frames of two coordinates: the interval covers σ as often as it says, within three standard errors of 300 runs (0.013), and what
// rests is not said to move.
func TestFreeWalk(t *testing.T) {
	const runs = 300
	for _, c := range []struct {
		name         string
		n            int
		sigma, noise float64
	}{{"twenty frames", 20, 1, 0.5}, {"five frames", 5, 1, 0.3}, {"at rest", 5, 0, 0.1}} {
		covered, moving := 0, 0
		for run := range uint64(runs) {
			rng := onlinetest.Rand(run)
			path, z := trap(c.n, 1, 0, 0, rng), []float64{3, 4}
			for k := range path {
				for i := range z {
					path[k].Mean[i] = z[i] + c.noise*rng.NormFloat64()
					z[i] += c.sigma * rng.NormFloat64()
				}
			}
			w, err := FreeWalk(path)
			if err != nil {
				t.Fatal(err)
			}
			if w.SigmaLow <= c.sigma && c.sigma <= w.SigmaHigh {
				covered++
			}
			if w.SigmaLow > 0 {
				moving++
			}
			if w.Transitions != 2*(c.n-1) {
				t.Fatalf("%s: %d transitions", c.name, w.Transitions)
			}
		}
		t.Logf("%s: covered in %d of %d, moving in %d", c.name, covered, runs, moving)
		if covered < runs*91/100 {
			t.Errorf("%s: σ is in %d of %d intervals", c.name, covered, runs)
		}
		if c.sigma == 0 && moving > runs/20 {
			t.Errorf("%s: moving in %d of %d", c.name, moving, runs)
		}
	}
}

func TestFreeWalkRefuses(t *testing.T) {
	late := trap(5, 1, 1, 0, onlinetest.Rand(1))
	late[3].Time = late[1].Time
	if _, err := FreeWalk(late); !errors.Is(err, diffusion.ErrTimeOrder) {
		t.Errorf("set back: %v", err)
	}
	for name, path := range map[string][]latent.Latent{
		"none": nil, "one": trap(1, 1, 1, 0, onlinetest.Rand(1)), "apart": {{Mean: []float64{1}}, {Trajectory: 1, Mean: []float64{1}}},
		"shrinks": {{Mean: []float64{1, 2}}, {Time: time.Unix(1, 0), Mean: []float64{1}}}, "infinite": {{Mean: []float64{math.Inf(1)}}},
	} {
		if _, err := FreeWalk(path); !errors.Is(err, diffusion.ErrLatent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
