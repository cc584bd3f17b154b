package sdevae

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/verdict"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
	"driftscope/online/drift"
)

// TestReconstructionNeverLeavesTheMean: white noise has no latents, so the reconstruction stays at the mean picture, and Train returns ErrMean.
func TestReconstructionNeverLeavesTheMean(t *testing.T) {
	c, rng := sdevaetest.Walk(40, 3), rand.New(rand.NewPCG(1, 0))
	for i := range c.Pixels {
		c.Pixels[i] = rng.Float32()
	}
	if _, err := Train(context.Background(), c, Config{Latent: 1, Tau: 50, Steps: 4, Restarts: 1, Pairs: 8, Every: 4, SyntheticSteps: -1}, nil); !errors.Is(err, ErrMean) {
		t.Errorf("%v, %v expected", err, ErrMean)
	}
}

func TestClipRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		spoil      func(c *video.Clip)
	}{
		{"short", "the clip has 12 frames, training needs at least 20: give a longer recording", func(c *video.Clip) { *c = *sdevaetest.Walk(12, 3) }},
		{"static", "the clip is static", func(c *video.Clip) {
			for i := range c.Len() {
				copy(c.Frame(i), c.Frame(0))
			}
		}},
		{"cut to pieces", "0 pairs of consecutive frames, training needs at least 10: check its times and trajectories", func(c *video.Clip) {
			for i := range c.Trajectory {
				c.Trajectory[i] = uint64(i)
			}
		}},
		{"not normalised", "frame 3 has a pixel of 255", func(c *video.Clip) { c.Frame(3)[7] = 255 }},
		{"a little too bright", "frame 3 has a pixel of 1.00001", func(c *video.Clip) { c.Frame(3)[7] = 1.00001 }},
		{"not a number", "frame 0 has a pixel of NaN", func(c *video.Clip) { c.Pixels[0] = float32(math.NaN()) }},
		{"torn", "for 60 frames of 64", func(c *video.Clip) { c.Pixels = c.Pixels[1:] }},
	} {
		c := sdevaetest.Walk(60, 3)
		test.spoil(c)
		if _, err := Train(context.Background(), c, Config{Latent: 1, Tau: 1}, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, an error with %q expected", test.name, err, test.want)
		}
	}
}

// tide returns a clip of a bright spot on 8×16 pixels that drifts to the right for 2 s and back for 2 s, repeatedly, at 3.5 pixels per second with noise.
func tide(times int) *video.Clip {
	rng := rand.New(rand.NewPCG(8, 0))
	c := &video.Clip{Channels: 1, Height: 8, Width: 16}
	for trajectory := range times {
		x, v := 4+rng.Float64(), 0.35
		for i := range 40 {
			for p := range c.Size() {
				dx, dy := float64(p%16)-x, float64(p/16)-4
				c.Pixels = append(c.Pixels, float32(math.Exp(-(dx*dx+dy*dy)/8)))
			}
			c.Times, c.Trajectory = append(c.Times, 0.1*float64(i)), append(c.Trajectory, uint64(trajectory))
			if i == 20 {
				v = -v
			}
			x += v + 0.15*rng.NormFloat64()
		}
	}
	return c
}

// TestDriftThatTurns: at the same latents, the learnt drift has the direction of the spot early, and the opposite direction late. The network starts at zero
// and has not converged after 160 steps, so a tenth of the speed is enough. The latent is correct, and the verdict confirms it.
func TestDriftThatTurns(t *testing.T) {
	suite.Long(t)
	clip := tide(6)
	r := train(t, Training{}, clip, Config{Latent: 1, Seed: 1, Tau: TauOf(clip), Clock: true, Steps: 160, Pairs: 16, Rate: 5e-3, Restarts: 1, Every: 20, SyntheticSteps: -1})
	_, p, err := r.Model.Read(clip, clip.Frames())
	if err != nil {
		t.Fatal(err)
	}
	speed := float64(p.Mean[20]-p.Mean[0]) / 2 // latent/s on the way out
	z := numeric.Float64s(p.Mean)
	slices.Sort(z)
	mu, scratch := make([]float64, 2), new(drift.Scratch)
	for _, at := range []float64{z[len(z)/4], z[len(z)/2], z[3*len(z)/4]} {
		for clock, want := range map[float64]float64{-0.7: speed, 0.7: -speed} {
			r.Model.Drift.Drift(mu, []float64{at, clock}, scratch)
			if got := mu[0] / want; got < 0.1 || got > 2 {
				t.Errorf("z = %.2f, clock %g: found a drift of %.2f, expected about %.2f", at, clock, mu[0], want)
			}
		}
	}
	e, err := r.Export(clip, card.Card{Preprocess: []card.Step{{Kind: "normalise"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict.Level != verdict.Good || e.Card.Training.Verdict.Level != "good" || len(e.Card.Training.Verdict.Reasons) != 4 {
		t.Errorf("a spot with a correct latent: %+v", e.Verdict)
	}
}

// TestClockThatStands: if the times only decrease, there is no clock to learn.
func TestClockThatStands(t *testing.T) {
	backwards := sdevaetest.Walk(60, 3)
	backwards.Times[0] = 1e6
	if _, err := Train(context.Background(), backwards, Config{Latent: 1, Tau: 1, Clock: true}, nil); err == nil || !strings.Contains(err.Error(), "leave the clock out") {
		t.Errorf("times that only decrease: %v", err)
	}
}
