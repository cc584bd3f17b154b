package sdevae

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestClipRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		spoil      func(c *Clip)
	}{
		{"short", "the clip has 12 frames, training needs at least 20: give a longer recording", func(c *Clip) { *c = *walk(12, 3) }},
		{"static", "the clip is static", func(c *Clip) {
			for i := range c.Len() {
				copy(c.Frame(i), c.Frame(0))
			}
		}},
		{"cut to pieces", "0 pairs of consecutive frames, training needs at least 10: check its times and trajectories", func(c *Clip) {
			for i := range c.Trajectory {
				c.Trajectory[i] = uint64(i)
			}
		}},
		{"not normalised", "frame 3 has a pixel of 255", func(c *Clip) { c.Frame(3)[7] = 255 }},
		{"a little too bright", "frame 3 has a pixel of 1.00001", func(c *Clip) { c.Frame(3)[7] = 1.00001 }},
		{"not a number", "frame 0 has a pixel of NaN", func(c *Clip) { c.Pixels[0] = float32(math.NaN()) }},
		{"torn", "for 60 frames of 64", func(c *Clip) { c.Pixels = c.Pixels[1:] }},
	} {
		c := walk(60, 3)
		test.spoil(c)
		if _, err := Train(context.Background(), c, Config{Latent: 1, Tau: 1}, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, an error with %q expected", test.name, err, test.want)
		}
	}
}

// A last bit beyond 1, as averaging leaves behind, is no reason to refuse a recording.
func TestClipMayBeRounded(t *testing.T) {
	c := walk(60, 3)
	c.Frame(3)[7], c.Frame(4)[7] = math.Nextafter32(1, 2), -1e-7
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

// White noise has no latents: reconstruction stays at the mean picture, and the error says so.
func TestReconstructionNeverLeavesTheMean(t *testing.T) {
	c, rng := walk(40, 3), rand.New(rand.NewPCG(1, 0))
	for i := range c.Pixels {
		c.Pixels[i] = rng.Float32()
	}
	if _, err := Train(context.Background(), c, Config{Latent: 1, Tau: 50, Steps: 4, Restarts: 1, Pairs: 8, Every: 4, Sleep: -1}, nil); !errors.Is(err, ErrMean) {
		t.Errorf("%v, %v expected", err, ErrMean)
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

// TestNoiseOfHeavyTails: what moves under noise of whatever distribution is told by what lasts, within 3 standard errors of the noise's;
// a square on its walk keeps 0.8 of its variance from a frame to the next.
func TestNoiseOfHeavyTails(t *testing.T) {
	for name, student := range map[string]bool{"normal": false, "student": true} {
		c, _, _ := walkingSquare(800)
		moving := c.Energy() - c.Noise()
		drown(c, 0.36, student)
		noise, scale := c.Noise(), 1+8*0.6
		if student {
			scale = 1 + 8*0.6*1.134/math.Sqrt(3)
		}
		got, want, slack := c.Energy()-noise, 0.8*moving/(scale*scale), 3*noise/math.Sqrt(float64(c.Size()*c.Len()))
		if math.Abs(got-want) > 0.2*want+slack {
			t.Errorf("%s: %.4f of the energy %.3f moves, expected %.4f", name, got, c.Energy(), want)
		}
	}
}

// TestNoise: white noise of a known sd over a still picture, and none. The median of 50 x 1024 differences is good to 1 %.
func TestNoise(t *testing.T) {
	for _, sd := range []float64{0, 0.05} {
		c, _, _ := walkingSquare(60)
		rng := rand.New(rand.NewPCG(4, 4))
		still := slices.Clone(c.Frame(0))
		for i := range c.Pixels {
			c.Pixels[i] = still[i%c.Size()] + float32(sd*rng.NormFloat64())
		}
		want := sd * sd * float64(c.Size())
		if got := c.Noise(); math.Abs(got-want) > 0.05*want+1e-9 {
			t.Errorf("noise of sd %g has energy %.4f, Noise gives %.4f", sd, want, got)
		}
	}
}
