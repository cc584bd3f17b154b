package ingest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestCadence: whatever was lost is counted, to the frame, whether stamps come from a camera's quartz or late from software, and whether
// the period is known, a little wrong, or learnt.
func TestCadence(t *testing.T) {
	for name, c := range map[string]struct {
		period, known float64
		late          float64 // the most that one stamp in three is late, in periods
		lose          float64 // probability of a gap, which is 1 to 5 frames
		from          int     // losses begin here
	}{
		"steady":              {0.04, 0.04, 0, 0, 0},
		"losses":              {0.005, 0.005, 0, 0.1, 0},
		"losses and jitter":   {0.005, 0.005, 0.85, 0.1, 0},
		"quartz off":          {0.005 * (1 + 1e-4), 0.005, 0, 0.1, 0},
		"quartz off, late":    {0.005 * (1 - 1e-4), 0.005, 0.5, 0.1, 0},
		"learnt":              {1.0 / 30, 0, 0.05, 0.1, window + 2},
		"learnt over losses":  {1.0 / 30, 0, 0.02, 0.1, 3},
		"rounded":             {0.00502, 0.005, 0.02, 0.1, 0}, // a camera takes the nearest rate that it has
		"rate not as claimed": {0.02, 0.01, 0.05, 0.1, window + 2},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			counter := cadence{period: c.known}
			var made, lost, counted, warnings int
			for n := range 5000 {
				gap := 0
				if n > max(c.from, 1) && random.Float64() < c.lose {
					gap = 1 + random.IntN(5)
				}
				made += gap + 1
				late := 0.01 * random.Float64()
				if random.Float64() < 0.3 {
					late = c.late * random.Float64()
				}
				missing, warning := counter.missed(1000 + c.period*(float64(made)+late))
				if warning != "" {
					warnings++
				}
				if n > window {
					lost, counted = lost+gap, counted+int(missing)
				}
			}
			if counted != lost {
				t.Errorf("%d frames counted as lost of %d", counted, lost)
			}
			if wrong := c.known > 0 && c.known*1.5 < c.period; wrong != (warnings == 1) {
				t.Errorf("%d warnings", warnings)
			}
		})
	}
}

// TestCameraClock: times go by the camera's steps from the host's time of the first frame, also after the camera set its clock back, and
// by the host's where there are no stamps.
func TestCameraClock(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	c := cameraClock{cadence: cadence{period: 0.01}}
	for _, f := range []struct {
		stamp, arrived time.Duration
		want           time.Duration
		missing        uint64
		warning        string
	}{
		{5 * time.Second, 0, 0, 0, ""},
		{5*time.Second + 10*time.Millisecond, 17 * time.Millisecond, 10 * time.Millisecond, 0, ""},
		{5*time.Second + 40*time.Millisecond, 45 * time.Millisecond, 40 * time.Millisecond, 2, ""},
		{20 * time.Millisecond, 80 * time.Millisecond, 80 * time.Millisecond, 0, "clock back"},
		{30 * time.Millisecond, 99 * time.Millisecond, 90 * time.Millisecond, 0, ""},
		{-1, 110 * time.Millisecond, 110 * time.Millisecond, 0, ""},
	} {
		at, missing, warning := c.stamped(f.stamp, start.Add(f.arrived))
		if !at.Equal(start.Add(f.want)) || at.Location() != time.UTC || missing != f.missing || !strings.Contains(warning, f.warning) || (f.warning == "") != (warning == "") {
			t.Errorf("stamp %v: %v, %d missing, %q; %v, %d and %q expected", f.stamp, at, missing, warning, start.Add(f.want).UTC(), f.missing, f.warning)
		}
	}
}
