package video_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
)

// TestDifferences: the difference of two frames has the noise of one frame, before and after a shift.
func TestDifferences(t *testing.T) {
	clip, _ := sdevaetest.Mixed(200, 0)
	noise := clip.Differences(clip.Pairs(clip.MaxGap()))
	size := clip.Size()
	if got, want := numeric.SquaredError(noise, []float32{0})/float64(len(noise)/size), clip.Energy(); math.Abs(got/want-1) > 0.05 { // 10⁵ pixels
		t.Errorf("energy %.4f, expected %.4f", got, want)
	}
	moved := make([]float32, size)
	clip.Roll(moved, noise[:size], 5, 23)
	if moved[0] != noise[23*clip.Width+5] || moved[size-1] != noise[22*clip.Width+4] {
		t.Error("not moved by 5 and 23")
	}
}

// TestNoise: Noise finds white noise of a known sd over a still picture, and no noise without it. The median of 50 x 1024 differences is exact to 1 %.
func TestNoise(t *testing.T) {
	for _, sd := range []float64{0, 0.05} {
		c, _, _ := sdevaetest.WalkingSquare(60)
		rng := rand.New(rand.NewPCG(4, 4))
		still := slices.Clone(c.Frame(0))
		for i := range c.Pixels {
			c.Pixels[i] = still[i%c.Size()] + float32(sd*rng.NormFloat64())
		}
		want := sd * sd * float64(c.Size())
		if got := c.Noise(); math.Abs(got-want) > 0.05*want+1e-9 {
			t.Errorf("noise of sd %g has energy %.4f, but Noise returns %.4f", sd, want, got)
		}
	}
}

// TestNoiseOfHeavyTails: for noise of any distribution, the persistent signal determines the motion to 3 standard errors. A randomly moving square keeps 0.8 of
// its variance from one frame to the next.
func TestNoiseOfHeavyTails(t *testing.T) {
	for name, student := range map[string]bool{"normal": false, "student": true} {
		c, _, _ := sdevaetest.WalkingSquare(800)
		moving := c.Energy() - c.Noise()
		sdevaetest.AddNoise(c, 0.36, student)
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
