package video_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"driftscope/infer/sdevae/video"
)

// speckled returns 80 frames of 32×32 in which a blob of light moves around the centre. A dark speck is at the position given by lies.
func speckled(rng *rand.Rand, wander float64, lies func(frame int) (x, y float64)) *video.Clip {
	const side, frames = 32, 80
	c := &video.Clip{Channels: 1, Height: side, Width: side}
	x, y := 16.0, 16.0
	for f := range frames {
		x, y = 16+0.8*(x-16)+wander*rng.NormFloat64(), 16+0.8*(y-16)+wander*rng.NormFloat64()
		a, b := lies(f)
		blob := func(cx, cy, width float64, p int) float64 {
			return math.Exp(-(math.Pow(float64(p%side)-cx, 2) + math.Pow(float64(p/side)-cy, 2)) / (2 * width * width))
		}
		for p := range side * side {
			c.Pixels = append(c.Pixels, float32(0.5+0.3*blob(x, y, 3, p)-0.3*blob(a, b, 2, p)+0.005*rng.NormFloat64()))
		}
		c.Times, c.Trajectory = append(c.Times, 0.1*float64(f)), append(c.Trajectory, 0)
	}
	return c
}

// TestWithoutSteps: a speck that moves twice is removed. A speck that drifts, jumps back and forth or appears only briefly is not removed, and neither is an
// object.
func TestWithoutSteps(t *testing.T) {
	at := func(x, y float64) func(int) (float64, float64) {
		return func(int) (float64, float64) { return x, y }
	}
	for _, c := range []struct {
		name   string
		wander float64
		lies   func(frame int) (x, y float64)
		want   []int
	}{
		{"one that moves once", 0.5, func(f int) (x, y float64) {
			if f >= 41 {
				return 12, 26
			}
			return 5, 26
		}, []int{41}},
		{"one that moves twice", 0.3, func(f int) (x, y float64) {
			switch {
			case f >= 55:
				return 26, 5
			case f >= 25:
				return 26, 26
			}
			return 5, 26
		}, []int{25, 55}},
		{"one that is still", 0.5, at(5, 26), nil},
		{"one that drifts", 0.5, func(f int) (x, y float64) { return 5 + 20*float64(f)/80, 26 }, nil},
		{"one that jumps to and fro", 0.5, func(f int) (x, y float64) { return 5 + 10*float64(f/10%2), 26 }, nil},
		{"one that is away for five frames", 0.5, func(f int) (x, y float64) {
			if f >= 75 {
				return 20, 26
			}
			return 5, 26
		}, nil},
		{"nothing but the object", 1, at(-50, -50), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			clip := speckled(rand.New(rand.NewPCG(7, 8)), c.wander, c.lies)
			before := slices.Clone(clip.Pixels)
			level, found := clip.WithoutSteps()
			if slices.Sort(found); !slices.Equal(found, c.want) {
				t.Errorf("steps with frames %v, expected %v", found, c.want)
			}
			if !slices.Equal(clip.Pixels, before) {
				t.Error("the clip itself was changed")
			}
			if c.want == nil {
				return
			}
			still := speckled(rand.New(rand.NewPCG(7, 8)), c.wander, at(-50, -50))                         // the same noise
			if left, all := level.Energy()-still.Energy(), clip.Energy()-still.Energy(); left > 0.05*all { // the speck's rim, where the steps are less than nine tenths of the change
				t.Errorf("%.3f of %.3f is left of what the speck did", left, all)
			}
		})
	}
}
