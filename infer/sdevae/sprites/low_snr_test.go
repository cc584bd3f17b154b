package sprites

import (
	"math"
	"slices"
	"testing"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// TestLowSNR: a disc in noise that hides it in single frames is located to a pixel by all frames together. Frame by frame it is lost.
func TestLowSNR(t *testing.T) {
	suite.Long(t)
	clip, truth := sdevaetest.Drifting(400, 5, sdevaetest.Disc)
	sdevaetest.AddNoise(clip, 0.25, false)
	train, _ := video.Split(clip.Pairs(clip.MaxGap()))
	m := FindLowSNR(t.Context(), clip, video.FramesOf(train), 1)
	if spread := m.Area(); spread > numeric.Majority {
		t.Errorf("it covers %.2f of the picture", spread)
	}
	places, _ := m.Track(clip, clip.Frames())
	m.Unwrap(places)
	if worst := slices.Max(sdevaetest.AffineError(t, places, truth)); worst > 1 {
		t.Errorf("positions are off by %.2g px", worst)
	}
	alone := *m
	alone.LowSNR = 0
	places, _ = alone.Track(clip, clip.Frames())
	alone.Unwrap(places)
	if best := slices.Min(sdevaetest.AffineError(t, places, truth)); best < 1.5 {
		t.Errorf("frame by frame, positions are off by %.2g px: the clip has too little noise", best)
	}
}

// TestMotionPrior: a known position spreads by the steps, also around the edges, and is forgotten if nothing links two frames.
func TestMotionPrior(t *testing.T) {
	p := numeric.NewPlane(16, 32)
	c := &motionPrior{plane: p, step: 1.5, sum: make([]complex128, p.Size()), scratch: make([]float32, 16*32)}
	here := make([]float64, 16*32)
	here[0] = 1
	after := c.predict(here, 4) // a variance of 9 px²
	sum := 0.0
	for _, v := range after {
		sum += v
	}
	if want := 1 / (2 * math.Pi * 9); math.Abs(after[0]-want) > 1e-3*want || math.Abs(sum-1) > 1e-3 {
		t.Errorf("%.5f stays of %.3f, expected %.5f of 1", after[0], sum, want)
	}
	if got, want := after[3*32+31]/after[0], math.Exp(-10.0/18); math.Abs(got-want) > 1e-3 {
		t.Errorf("3 down and 1 to the left is %.3f as likely, expected %.3f", got, want)
	}
	if after = c.predict(here, 0); slices.Max(after) != slices.Min(after) {
		t.Error("a position is known after a cut")
	}
}
