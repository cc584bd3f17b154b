package training

import (
	"math"
	"testing"

	"driftscope/infer/sdevae/verdict"
	"driftscope/infer/sdevae/video"
)

// walking returns colour pictures of 48×48 with a spot that moves to the right and restarts. With light 0 there is no spot.
func walking(light float64) *video.Clip {
	c := &video.Clip{Channels: 3, Height: 48, Width: 48}
	for k := range 40 {
		for p := range c.Size() {
			dx, dy := float64(p%48)-10-float64(k%20), float64(p/48%48)-24
			c.Pixels = append(c.Pixels, float32(0.1+light*math.Exp(-(dx*dx+dy*dy)/8)))
		}
		c.Times, c.Trajectory = append(c.Times, float64(k)), append(c.Trajectory, uint64(k/20))
	}
	return c
}

// TestWorthless: only a model that tracks nothing is refused, with the reason and a suggestion. A model that follows something else is accepted.
func TestWorthless(t *testing.T) {
	lost := verdict.Verdict{Level: verdict.Bad, Findings: []verdict.Finding{{Level: verdict.Bad, Reason: "R² = 0.1 of x", Try: "crop closer"}, {Level: verdict.Good, Reason: "straight"}}}
	if err := worthless(&lost); err != nil {
		t.Errorf("a model that follows something else: %v", err)
	}
	lost.Nothing = true
	if err := worthless(&lost); err == nil || err.Error() != "no model is written: R² = 0.1 of x: crop closer" {
		t.Errorf("a model of nothing: %v", err)
	}
}

// TestMeasured: the centroid of each film's object is found, to a twentieth of a pixel without noise. Without an object, or with --objects, nothing is
// measured.
func TestMeasured(t *testing.T) {
	got := (&Options{}).measured(walking(0.5))
	if len(got) != 80 {
		t.Fatalf("found %d numbers, expected x and y of 40 frames", len(got))
	}
	for k := range 40 {
		if x, y := got[2*k]-10-float64(k%20), got[2*k+1]-24; math.Hypot(x, y) > 0.05 {
			t.Errorf("frame %d: off by %.2f, %.2f px", k, x, y)
		}
	}
	if got := (&Options{}).measured(walking(0)); got != nil {
		t.Errorf("an empty film: found %v", got[:4])
	}
	if got := (&Options{Objects: true}).measured(walking(0.5)); got != nil {
		t.Errorf("what objects look like: found %v", got[:4])
	}
}
