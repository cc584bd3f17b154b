package trigger

import (
	"fmt"
	"math"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
)

func TestSpeedOptions(t *testing.T) {
	refuses(t, map[string]string{
		"speed: {name: a}": "speed: found 0 of drift, centroid_px_s and centroid_um_s: give exactly one",
		"speed: {name: a, drift: 1, centroid_px_s: 1}":  "found 2 of drift",
		"speed: {name: a, drift: 0}":                    "drift: found 0, expected more than 0 and at most 1e+12 latent/s",
		"speed: {name: a, centroid_px_s: -1}":           "centroid_px_s: found -1",
		"speed: {name: a, centroid_um_s: 1}":            "centroid_um_s: the size of a pixel is unknown: set online.pixel_um",
		"speed: {name: a, centroid_px_s: 1, over: 0s}":  "over: found 0s, expected 1ms to 1m0s",
		"speed: {name: a, centroid_px_s: 1, over: 2m}":  "over: found 2m0s",
		"speed: {name: a, centroid_px_s: 5, margin: 5}": "margin: found 5, expected 0 to less than the threshold, 5 px/s",
		"speed: {name: a, drift: 5, margin: -1}":        "margin: found -1",
	})
}

// The condition begins when the drift's norm over the active dimensions exceeds the threshold, and ends a tenth below it.
func TestDriftSpeed(t *testing.T) {
	all := frames(7, func(i int, e *latent.Estimate) {
		e.Drift = [][]float64{{3, 4}, {-3, -4.01}, {0, 4.6}, {0, 4.5}, {0, 9}, {0, 9}, {math.NaN(), 0}}[i]
		if i == 4 {
			e.SDE.Activity[1] = latent.Inactive
		}
	})
	fires(t, all, map[string]string{
		"speed: {name: a, drift: 5}":              "+1 -3 +5",
		"speed: {name: a, drift: 5, margin: 0.1}": "+1 -2 +5",
		"speed: {name: a, drift: 5, margin: 1}":   "+1 -4 +5",
	})
}

// moving returns a centroid that rests for a second, and then moves for a second at the given speed in px/s, along a slope of 3 to 4.
func moving(v float64) []*latent.Estimate {
	return frames(200, func(i int, e *latent.Estimate) {
		way := v * 0.01 * float64(max(0, i-100))
		e.Latent.Centroid = []float64{100 + 0.6*way, 100 - 0.8*way}
	})
}

// A mean velocity is known once a trajectory has lasted as long as the averaging time. It is the displacement divided by the time.
func TestCentroidSpeed(t *testing.T) {
	for _, over := range []time.Duration{10 * time.Millisecond, 200 * time.Millisecond, 640 * time.Millisecond} {
		frames := int(over / (10 * time.Millisecond))
		c := made(t, fmt.Sprintf("speed: {name: a, centroid_px_s: 40, over: %v}", over))
		for i, e := range moving(80) {
			a, known := c.condition.ask(e)
			if known != (i >= frames) {
				t.Fatalf("over %v, frame %d: known %v", over, i, known)
			}
			// the window begins the averaging time ago, or up to a 64th of it plus one frame earlier
			low, high := 80*math.Max(0, float64(i-100))/(float64(frames)*(1+1.0/marks)+1), 80*math.Max(0, float64(i-100))/float64(frames)
			if known && (a.value < math.Min(80, low)*(1-1e-9) || a.value > math.Min(80, high)*(1+1e-9)) {
				t.Fatalf("over %v, frame %d: found %g px/s, expected %g to %g", over, i, a.value, math.Min(80, low), math.Min(80, high))
			}
		}
	}
	fires(t, moving(80), map[string]string{
		"speed: {name: a, centroid_px_s: 79}":              "+120",
		"speed: {name: a, centroid_px_s: 39}":              "+110",
		"speed: {name: a, centroid_um_s: 39, over: 100ms}": "+110", // half a µm each
		"speed: {name: a, centroid_um_s: 41, over: 100ms}": "",
		"speed: {name: a, centroid_px_s: 81}":              "",
		"speed: {name: a, centroid_px_s: 1, over: 3s}":     "",
	})
}

// A jump between two trajectories, or at a restart of the times, gives no speed. A jump across lost frames gives the displacement over its time.
func TestCentroidLeaps(t *testing.T) {
	leap := func(change func(e *latent.Estimate)) string {
		all := frames(100, func(i int, e *latent.Estimate) {
			if i >= 50 {
				e.Latent.Centroid[0] += 50
				change(e)
			}
		})
		return fired(made(t, "speed: {name: a, centroid_px_s: 200}"), all)
	}
	for name, test := range map[string]struct {
		change func(e *latent.Estimate)
		want   string
	}{
		"none":            {func(*latent.Estimate) {}, "+50 -70"},
		"trajectory":      {func(e *latent.Estimate) { e.Latent.Trajectory = 1 }, ""},
		"times begin":     {func(e *latent.Estimate) { e.Latent.Time = e.Latent.Time.Add(-time.Hour) }, ""},
		"long gap":        {func(e *latent.Estimate) { e.Latent.Time = e.Latent.Time.Add(time.Second) }, ""},
		"short gap":       {func(e *latent.Estimate) { e.Latent.Time = e.Latent.Time.Add(20 * time.Millisecond) }, "+50 -70"},
		"object lost":     {func(e *latent.Estimate) { e.Alarms = []string{latent.ObjectLost} }, ""},
		"without picture": {func(e *latent.Estimate) { e.Latent.Centroid = nil }, ""},
	} {
		if got := leap(test.change); got != test.want {
			t.Errorf("%s: found %q, expected %q", name, got, test.want)
		}
	}
}

// Centroids measured while the object was lost never start a path, even if the object soon reappears at its old position.
func TestCentroidLost(t *testing.T) {
	for name, lost := range map[string][2]int{"as long as it was elsewhere": {100, 150}, "longer": {100, 160}, "for a frame": {148, 149}} {
		all := frames(300, func(i int, e *latent.Estimate) {
			if i >= lost[0] && i < lost[1] {
				e.Alarms = []string{latent.ObjectLost}
				if i < 150 {
					e.Latent.Centroid[0] += 300
				}
			}
		})
		if got := fired(made(t, "speed: {name: a, centroid_px_s: 50, over: 1s}"), all); got != "" {
			t.Errorf("%s: found %q, expected none", name, got)
		}
	}
}

// The memory of a path is limited at any frame rate.
func TestPathIsBounded(t *testing.T) {
	p := newPath(time.Minute, 1)
	room := cap(p.points)
	e := frames(1, func(int, *latent.Estimate) {})[0]
	for range 500_000 {
		e.Latent.Time = e.Latent.Time.Add(time.Millisecond)
		p.speed(e)
	}
	if cap(p.points) != room || len(p.points) > marks+2 || len(p.points) < marks {
		t.Errorf("%d points, room for %d; it began with %d", len(p.points), cap(p.points), room)
	}
}
