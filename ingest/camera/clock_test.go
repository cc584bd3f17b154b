package camera

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestCadence: the number of lost frames is exact, for stamps from a camera's quartz and for late stamps from software, even a late first one, and for a period
// that is known, slightly wrong, or learnt. Frames lost before the period is learnt are not counted.
func TestCadence(t *testing.T) {
	for name, c := range map[string]struct {
		period, known float64
		late          float64 // largest delay of one stamp in three, in periods
		lose          float64 // probability of a gap, which is 1 to 5 frames
		from          int     // time of the first loss
		first         float64 // delay of the first stamp
	}{
		"steady":              {0.04, 0.04, 0, 0, 0, 0},
		"losses":              {0.005, 0.005, 0, 0.1, 0, 0},
		"losses and jitter":   {0.005, 0.005, 0.85, 0.1, 0, 0},
		"quartz off":          {0.005 * (1 + 1e-4), 0.005, 0, 0.1, 0, 0},
		"quartz off, late":    {0.005 * (1 - 1e-4), 0.005, 0.5, 0.1, 0, 0},
		"learnt":              {1.0 / 30, 0, 0.05, 0.1, window + 2, 0},
		"learnt over losses":  {1.0 / 30, 0, 0.02, 0.1, 3, 0},
		"rounded":             {0.00502, 0.005, 0.02, 0.1, 0, 0}, // a camera uses the nearest rate that it supports
		"first one late":      {0.005, 0.005, 0.1, 0.1, 0, 0.8},
		"first a bit late":    {0.005, 0.005, 0.1, 0.1, 0, 0.3},
		"half lost":           {0.008, 0.008, 0.4, 0.5, 0, 0.6},
		"rate not as claimed": {0.02, 0.01, 0.05, 0.1, window + 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				random := rand.New(rand.NewPCG(1, seed))
				counter := cadence{period: c.known}
				var made, lost, counted, warnings int
				for n := range 1000 {
					gap := 0
					if n > max(c.from, 1) && random.Float64() < c.lose {
						gap = 1 + random.IntN(5)
					}
					made += gap + 1
					late := 0.01 * random.Float64()
					switch {
					case n == 0:
						late = c.first
					case random.Float64() < 0.3:
						late = c.late * random.Float64()
					}
					missing, warning := counter.missed(1000 + c.period*(float64(made)+late))
					if warning != "" {
						warnings++
					}
					if n > window || c.known == c.period {
						lost, counted = lost+gap, counted+int(missing)
					}
				}
				if counted != lost {
					t.Errorf("seed %d: %d frames counted as lost of %d", seed, counted, lost)
				}
				if wrong := c.known > 0 && c.known*1.5 < c.period; wrong != (warnings == 1) {
					t.Errorf("seed %d: %d warnings", seed, warnings)
				}
			}
		})
	}
}

// TestCameraClock: times start at the host's time of the first frame and follow the camera's steps, also after the camera set its clock back. Without stamps
// they are the host's times.
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
