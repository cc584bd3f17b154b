package sdevae

import (
	"math"
	"slices"
	"testing"

	"driftscope/internal/suite"
)

// TestFaint: a disc under noise of a size at which no frame shows it is found by all of them together, to a pixel, where frame by frame it
// is lost.
func TestFaint(t *testing.T) {
	suite.Long(t)
	clip, truth := drifting(400, 5, disc)
	drown(clip, 0.25, false)
	train, _ := split(clip.Pairs(clip.MaxGap()))
	m := findFaintMovers(t.Context(), clip, framesOf(train), 1)
	if spread := m.spread(); spread > faintMost {
		t.Errorf("it covers %.2f of the picture", spread)
	}
	places, _ := m.track(clip, clip.frames())
	m.unwrap(places)
	if worst := slices.Max(off(t, places, truth)); worst > 1 {
		t.Errorf("places are off by %.2g px", worst)
	}
	alone := *m
	alone.faint = 0
	places, _ = alone.track(clip, clip.frames())
	alone.unwrap(places)
	if best := slices.Min(off(t, places, truth)); best < 1.5 {
		t.Errorf("frame by frame places are off by %.2g px: the clip shows too much", best)
	}
}

// TestChain: what is known spreads by the steps, around the edges, and is forgotten where nothing links two frames.
func TestChain(t *testing.T) {
	p := newPlane(16, 32)
	c := &chain{plane: p, step: 1.5, sum: make([]complex128, p.size()), narrow: make([]float32, 16*32)}
	here := make([]float64, 16*32)
	here[0] = 1
	after := c.pass(here, 4) // a variance of 9 px²
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
	if after = c.pass(here, 0); slices.Max(after) != slices.Min(after) {
		t.Error("something is known after a cut")
	}
}
