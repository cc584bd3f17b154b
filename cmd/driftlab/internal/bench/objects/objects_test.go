package objects

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"driftscope/ingest/sim/field"
	"driftscope/internal/suite"
)

func TestMain(m *testing.M) { os.Exit(suite.Goroutines(m.Run())) }

// TestCommand: on a small field most objects are followed, of which there are two dozen, and an identity that is lost costs 0.02 to 0.04 (0.82 and 0.93
// measured); isolated spots are placed within a third of the bound, of 600 places or so; and the table's keys are those that others read.
// With a lag the same holds: every frame is there.
func TestCommand(t *testing.T) {
	for _, lag := range []int{0, 3} {
		command(t, lag)
	}
}

func command(t *testing.T, lag int) {
	c := &Command{Scenario: []string{"vesicle"}, Density: []int{12}, SNR: []float64{4}, Size: []int{160}, Frames: 60, Lag: lag, Seeds: 1, Seconds: 1, JSON: true}
	out, err := suite.Stdout(t, func() error { return c.Run(t.Context()) })
	if err != nil {
		t.Fatal(err)
	}
	var found findings
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := found.Fields[0]
	if r.Lag != lag || r.Beta < 0.72 || r.Alpha < r.Beta || r.Perfect.Beta < 0.83 {
		t.Errorf("lag %d: alpha %.3f, beta %.3f, of perfect detections %.3f", r.Lag, r.Alpha, r.Beta, r.Perfect.Beta)
	}
	if r.RMSE < 0.8*r.Bound || r.RMSE > 1.33*r.Bound {
		t.Errorf("RMSE %.3f px, the bound is %.3f", r.RMSE, r.Bound)
	}
	if r.Width < 1.2 || r.Width > 1.7 {
		t.Errorf("a template of %.2f px, the spots have 1.4", r.Width)
	}
}

// TestCheck: what cannot be measured is a mistake in the command.
func TestCheck(t *testing.T) {
	good := Command{Scenario: []string{"vesicle"}, Density: []int{12}, SNR: []float64{4}, Size: []int{160}, Frames: 60, Seeds: 1, Seconds: 1}
	for name, spoil := range map[string]func(*Command){"": func(*Command) {}, "scenario": func(c *Command) { c.Scenario = []string{"worm"} },
		"lag": func(c *Command) { c.Lag = -1 }, "long lag": func(c *Command) { c.Lag = 7 }, "seeds": func(c *Command) { c.Seeds = 0 },
		"frames": func(c *Command) { c.Frames = 1 }, "none": func(c *Command) { c.SNR = nil }, "no size": func(c *Command) { c.Size = nil }} {
		c := good
		spoil(&c)
		if err := c.check(); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestKinds: every scenario is measured at every size, density and SNR, in the order that they were given in.
func TestKinds(t *testing.T) {
	c := Command{Scenario: []string{"vesicle", "directed"}, Density: []int{2000, 100}, SNR: []float64{2, 7}, Size: []int{2048, 512}, Frames: 9}
	all := c.kinds()
	if len(all) != 16 {
		t.Fatalf("%d kinds of 2x2x2x2", len(all))
	}
	for i, want := range map[int]field.Options{
		0:  {Scenario: field.Vesicle, Density: 2000, SNR: 2, Width: 2048, Height: 2048, Frames: 9},
		1:  {Scenario: field.Vesicle, Density: 2000, SNR: 7, Width: 2048, Height: 2048, Frames: 9},
		6:  {Scenario: field.Vesicle, Density: 100, SNR: 2, Width: 512, Height: 512, Frames: 9},
		15: {Scenario: field.Directed, Density: 100, SNR: 7, Width: 512, Height: 512, Frames: 9},
	} {
		if all[i] != want {
			t.Errorf("kind %d: %+v, expected %+v", i, all[i], want)
		}
	}
}

// TestUnmeasured: what was not measured is null, and not away: whoever reads the figures need not ask which flags were given.
func TestUnmeasured(t *testing.T) {
	out, err := json.Marshal(row{})
	var keys map[string]any
	if err := errors.Join(err, json.Unmarshal(out, &keys)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"fps", "p50_ms", "p99_ms", "peak_mib", "peer"} {
		if value, ok := keys[key]; !ok || value != nil {
			t.Errorf("%s is %v, there: %v", key, value, ok)
		}
	}
}

// TestDark: what cannot be seen is dark in the truth and no perfect detection: of blinking objects 0.13 of the time, 3 frames of 23, to 3 standard errors of
// 100 or so spells; of those that fade or leave the focus none.
func TestDark(t *testing.T) {
	for scenario, want := range map[field.Scenario]float64{field.Blinking: 0.13, field.Bleaching: 0, field.Focus: 0} {
		f, err := field.New(field.Options{Scenario: scenario, Density: 20, SNR: 4, Width: 128, Height: 128, Frames: 60, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		places, seen, marked := 0, 0, 0
		for frame := range 60 {
			places, seen = places+len(f.At(frame)), seen+len(lit(f.At(frame)))
		}
		for _, track := range truths(f) {
			for _, p := range track {
				if p.Dark {
					marked++
				}
			}
		}
		if share := float64(marked) / float64(places); seen != places-marked || math.Abs(share-want) > 0.3*want {
			t.Errorf("%s: %d of %d places are dark in the truth, %d are seen; expected a share of %g", scenario, marked, places, seen, want)
		}
	}
}
