package diffusion

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
)

func at(ms int, trajectory uint64) latent.Latent {
	return latent.Latent{Time: time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond), Trajectory: trajectory, Mean: []float64{float64(ms)}}
}

// want lists the time of each increment, 0 for a latent without one, and -1 for a refused time.
func TestClock(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []latent.Latent
		want   []float64
	}{
		{"regular", []latent.Latent{at(0, 0), at(10, 0), at(40, 0)}, []float64{0, 0.01, 0.03}},
		{"cut", []latent.Latent{at(0, 0), at(10, 1), at(20, 1)}, []float64{0, 0, 0.01}},
		{"gap", []latent.Latent{at(0, 0), at(200, 0), at(210, 0)}, []float64{0, 0, 0.01}},
		{"stands still", []latent.Latent{at(0, 0), at(0, 0), at(10, 0), at(20, 0)}, []float64{0, -1, 0, 0.01}},
		{"backwards at a cut", []latent.Latent{at(500, 0), at(0, 1)}, []float64{0, 0}},
	} {
		clock := Clock{MaxGap: 100 * time.Millisecond}
		for k := range c.frames {
			dt, err := clock.Advance(&c.frames[k])
			if errors.Is(err, ErrTimeOrder) {
				dt = -1
			} else if err != nil {
				t.Fatal(err)
			}
			if math.Abs(dt-c.want[k]) > 1e-12 {
				t.Errorf("%s, frame %d: %g s, expected %g", c.name, k, dt, c.want[k])
			}
		}
	}
	clock, a, b := Clock{}, at(0, 0), at(10, 0)
	if _, err := clock.Advance(&a); err != nil {
		t.Fatal(err)
	}
	clock.Cut()
	if dt, err := clock.Advance(&b); dt != 0 || err != nil {
		t.Errorf("after a cut, found %g s, %v", dt, err)
	}
}

func TestCheck(t *testing.T) {
	for _, mean := range [][]float64{nil, {1}, {1, 2, 3}, {math.NaN(), 0}, {0, math.Inf(1)}, {0, -1e10}} {
		if err := Check(&latent.Latent{Mean: mean}, 2); !errors.Is(err, ErrLatent) {
			t.Errorf("%v: %v", mean, err)
		}
	}
	if err := Check(&latent.Latent{Mean: []float64{1, MaxLatent}}, 2); err != nil {
		t.Error(err)
	}
}

func TestSeries(t *testing.T) {
	s, err := NewSeries([]latent.Latent{at(0, 0), at(10, 0), at(20, 1), at(50, 1)}, 0)
	if err != nil || s.Steps != 2 || math.Abs(s.Seconds-0.04) > 1e-12 || s.DT[2] != 0 || !slices.Equal(s.M, []float64{0, 10, 20, 50}) {
		t.Errorf("found %+v, %v", s, err)
	}
	if _, err := NewSeries([]latent.Latent{at(0, 0)}, 1); !errors.Is(err, ErrLatent) {
		t.Errorf("for a missing coordinate, found %v", err)
	}
}

// New latents push out the oldest if there is no room, and no step leads to the new first latent.
func TestTrack(t *testing.T) {
	memory, in := NewTrack(1, 4), NewTrack(1, 6)
	for k := range 3 {
		in.Add([]float64{float64(k)}, min(float64(k), 1))
	}
	memory.Take(in)
	memory.Take(in) // 0 1 2 0 1 2, of which four fit
	if memory.Len() != 4 || memory.Room() != 0 || memory.Row(0)[0] != 2 || memory.DT()[0] != 0 || memory.DT()[1] != 0 || memory.DT()[2] != 1 {
		t.Errorf("remembered %v after %v", memory.m, memory.dt)
	}
	if k := memory.Began(1); k != 2 {
		t.Errorf("transition 1 begins at row %d, expected 2", k)
	}
	if low, high := memory.Box(); low[0] != 0 || high[0] != 2 {
		t.Errorf("the box is %v to %v, expected 0 to 2", low, high)
	}
	if n := memory.Near([]float64{2}, []int{0}, []float64{1}); n != 2 {
		t.Errorf("%d latents near 2, expected 2", n)
	}
	memory.Drop(3)
	if memory.Len() != 1 || memory.DT()[0] != 0 || memory.Row(0)[0] != 2 {
		t.Errorf("after Drop, found %v after %v", memory.m, memory.dt)
	}
}
