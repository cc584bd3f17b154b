package preprocess

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/pipeline"
)

func TestNormaliseWindow(t *testing.T) {
	for _, c := range []struct {
		name, options string
		mt            gocv.MatType
		in, want      []float32
		wantType      gocv.MatType
	}{
		{"8 bits", "window: [50, 150]", gocv.MatTypeCV8UC1, []float32{0, 50, 75, 100, 150, 255}, []float32{0, 0, .25, .5, 1, 1}, gocv.MatTypeCV32FC1},
		{"16 bits", "window: [1000, 61000]", gocv.MatTypeCV16UC1, []float32{0, 1000, 16000, 31000, 61000, 65535}, []float32{0, 0, .25, .5, 1, 1}, gocv.MatTypeCV32FC1},
		{"float", "window: [-2, 2]", gocv.MatTypeCV32FC1, []float32{-9, -2, -1, 0, 2, 1e6}, []float32{0, 0, .25, .5, 1, 1}, gocv.MatTypeCV32FC1},
		{"to 8 bits", "{window: [0, 1000], to: uint8}", gocv.MatTypeCV16UC1, []float32{0, 1, 2, 500, 1000, 1200}, []float32{0, 0, 1, 127.5, 255, 255}, gocv.MatTypeCV8UC1},
		{"colour kept", "window: [0, 100]", gocv.MatTypeCV8UC3, []float32{0, 50, 100, 25, 50, 75}, []float32{0, .5, 1, .25, .5, .75}, gocv.MatTypeCV32FC3},
		{"grey mean", "{window: [0, 100], grey: true}", gocv.MatTypeCV8UC3, []float32{0, 50, 100, 25, 26, 75}, []float32{.5, .42}, gocv.MatTypeCV32FC1},
		{"grey stays", "{window: [0, 100], grey: true}", gocv.MatTypeCV8UC1, []float32{0, 50}, []float32{0, .5}, gocv.MatTypeCV32FC1},
	} {
		t.Run(c.name, func(t *testing.T) {
			channels := int(c.mt>>channelShift) + 1
			f := picture(t, 0, 1, len(c.in)/channels, c.mt, c.in...)
			apply(t, newStep(t, "normalise", c.options), f)
			if f.Mat().Type() != c.wantType {
				t.Errorf("found type %d, expected %d", f.Mat().Type(), c.wantType)
			}
			tolerance := 1e-6 // float32 rounding
			if depth(f.Mat()) == gocv.MatTypeCV8U {
				tolerance = 0.5 // a whole grey level
			}
			for i, v := range values(t, f) {
				if math.Abs(float64(v-c.want[i])) > tolerance {
					t.Errorf("value %d: found %g, expected %g", i, v, c.want[i])
				}
			}
		})
	}
}

// noisy returns a 64x64 picture of Gaussian noise, sd 10, around level.
func noisy(r *rand.Rand, level float64) []float32 {
	v := make([]float32, 64*64)
	for i := range v {
		v[i] = float32(math.Round(level + 10*r.NormFloat64()))
	}
	return v
}

// The window must not move while only noise changes a frame's percentiles, and must follow a light that becomes brighter.
func TestNormaliseRunning(t *testing.T) {
	s := newStep(t, "normalise", "running: {half_life: 1s}").(*normalise)
	r := rand.New(rand.NewPCG(1, 2))
	var first [2]float64
	for n := range uint64(200) {
		f := picture(t, n, 64, 64, gocv.MatTypeCV16UC1, noisy(r, 1000)...)
		apply(t, s, f)
		if n == 0 {
			first = [2]float64{s.low, s.high}
			if len(f.Meta.Events) != 1 || f.Meta.Events[0].Code != "range_set" {
				t.Errorf("first frame: found events %v, expected range_set", f.Meta.Events)
			}
		} else if len(f.Meta.Events) != 0 {
			t.Errorf("frame %d: found %v, expected a window that noise does not move", n, f.Meta.Events)
		}
	}
	// The 0.1 and 99.9 percentiles of a Gaussian are 3.09 sd from the mean. One frame determines them within about 0.3 sd.
	if math.Abs(first[0]-(1000-30.9)) > 6 || math.Abs(first[1]-(1000+30.9)) > 6 {
		t.Errorf("found window %v, expected about [969, 1031]", first)
	}
	moved := 0
	for n := uint64(200); n < 400; n++ {
		f := picture(t, n, 64, 64, gocv.MatTypeCV16UC1, noisy(r, 1100)...)
		apply(t, s, f)
		for _, e := range f.Meta.Events {
			moved++
			if e.Code != "range_moved" || !e.Warn || !strings.Contains(e.Text, "fixed window") {
				t.Errorf("frame %d: found %+v, expected the warning range_moved", n, e)
			}
		}
	}
	if moved == 0 || s.running.moves != uint64(moved) {
		t.Errorf("found %d notices for %d moves, expected some and as many", moved, s.running.moves)
	}
	// Twenty half-lives later the window has reached the new level except for the hysteresis, 5 % of about 62 counts.
	if math.Abs(s.low-(1100-30.9)) > 7 || math.Abs(s.high-(1100+30.9)) > 7 {
		t.Errorf("found window [%g, %g], expected about [1069, 1131]", s.low, s.high)
	}
}

// After one half-life of acquisition time the window has followed half of a step in the light, independent of the number of frames.
func TestRunningHalfLife(t *testing.T) {
	for _, fps := range []int{10, 1000} {
		r := running{options: runningOptions{HalfLife: 2 * time.Second}}
		now := start
		tick := time.Second / time.Duration(fps)
		for range 60 * fps { // 30 half-lives, after which the plain mean of the start no longer applies
			r.fold(100, 200, now)
			now = now.Add(tick)
		}
		for range 2 * fps {
			r.fold(300, 400, now)
			now = now.Add(tick)
		}
		if math.Abs(r.meanLow-200) > 1e-6 || math.Abs(r.meanHigh-300) > 1e-6 {
			t.Errorf("%d fps: found means %g and %g, expected 200 and 300", fps, r.meanLow, r.meanHigh)
		}
	}
}

func TestNormaliseSkips(t *testing.T) {
	nan := float32(math.NaN())
	s := newStep(t, "normalise", "")
	for _, c := range []struct {
		cause string
		v     []float32
	}{
		{"blank_frame", []float32{7, 7, 7, 7}},
		{"not_finite", []float32{1, 2, nan, 4}},
		{"not_finite", []float32{1, 2, float32(math.Inf(1)), 4}},
	} {
		err := s.Apply(context.Background(), picture(t, 3, 2, 2, gocv.MatTypeCV32FC1, c.v...))
		var skip *pipeline.ErrSkip
		if !errors.As(err, &skip) || skip.Cause != c.cause || !strings.Contains(err.Error(), "frame 3") {
			t.Errorf("%v: found %v, expected a skip for %s that names frame 3", c.v, err, c.cause)
		}
	}
	apply(t, s, picture(t, 4, 2, 2, gocv.MatTypeCV32FC1, 0, 1, 2, 4))
	blank := picture(t, 5, 2, 2, gocv.MatTypeCV32FC1, 2)
	apply(t, s, blank) // once a window is known, a blank frame is accepted
	if v := values(t, blank); v[0] != 0.5 {
		t.Errorf("found %v, expected the window of the frame before", v)
	}
}

// With a small object on a flat ground both percentiles lie on the ground. The window must still include the object.
func TestNormaliseSmallObject(t *testing.T) {
	v := make([]float32, 100*100)
	for i := range v {
		v[i] = 20
	}
	v[5050], v[5051] = 220, 120
	f := picture(t, 0, 100, 100, gocv.MatTypeCV8UC1, v...)
	apply(t, newStep(t, "normalise", ""), f)
	if got := values(t, f); got[0] != 0 || got[5050] != 1 || math.Abs(float64(got[5051])-0.5) > 1e-6 {
		t.Errorf("found %g, %g and %g, expected 0, 1 and 0.5", got[0], got[5050], got[5051])
	}
}
