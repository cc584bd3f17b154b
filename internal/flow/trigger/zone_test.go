package trigger

import (
	"math"
	"testing"

	"driftscope/internal/flow/latent"
)

func TestZoneOptions(t *testing.T) {
	refuses(t, map[string]string{
		"zone: {name: a}": "zone: found 0 of box, ball and centroid_px: give exactly one",
		"zone: {name: a, box: {z1: [0, 1]}, ball: {centre: {z1: 0}, radius: 1}}": "found 2 of box, ball and centroid_px",
		"zone: {name: a, box: {}}":                            "box: found no dimension, expected one or more of z1, z2",
		"zone: {name: a, box: {z3: [0, 1]}}":                  `box: found dimension "z3", but the model has z1 to z2`,
		"zone: {name: a, box: {z0: [0, 1]}}":                  `found dimension "z0"`,
		"zone: {name: a, box: {z01: [0, 1]}}":                 `found dimension "z01"`,
		"zone: {name: a, box: {x: [0, 1]}}":                   `found dimension "x"`,
		"zone: {name: a, box: {z1: [1, 1]}}":                  "box.z1: found [1 1], expected [low, high] with low below high",
		"zone: {name: a, box: {z1: [0, 1e13]}}":               "both within ±1e+12",
		"zone: {name: a, box: {z1: [0]}}":                     "c.yaml:3: triggers[0].zone.box.z1: found 1 values, expected 2",
		"zone: {name: a, ball: {radius: 1}}":                  "ball.centre is missing",
		"zone: {name: a, ball: {centre: {z1: 0}}}":            "ball.radius: found 0",
		"zone: {name: a, ball: {centre: {z9: 0}, radius: 1}}": `ball.centre: found dimension "z9"`,
		"zone: {name: a, centroid_px: {x: [0, 1]}}":           "centroid_px.y: found [0 0]",
		"zone: {name: a, box: {z1: [0, 1]}, margin: -1}":      "margin: found -1, expected 0 to 1e+12",
	})
}

// A zone begins at its boundary and ends outside the noise: by default at two standard deviations of the filtered latent.
func TestZoneMargin(t *testing.T) {
	all := along(1.5, 1.01, 1, 1.19, 1.2, 1.21, 1.1, 0, -1.1, -1.3) // the sd is 0.1
	fires(t, all, map[string]string{
		"zone: {name: a, box: {z1: [-1, 1]}}":                                   "+2 -5 +7 -9",
		"zone: {name: a, ball: {centre: {z1: 0}, radius: 1}}":                   "+2 -5 +7 -9",
		"zone: {name: a, box: {z1: [-1, 1]}, margin: 0}":                        "+2 -3 +7 -8",
		"zone: {name: a, box: {z1: [-1, 1]}, margin: 0.25}":                     "+2 -9",
		"zone: {name: a, ball: {centre: {z1: 0, z2: 0}, radius: 1}, margin: 0}": "+2 -3 +7 -8",
		"zone: {name: a, box: {z1: [-1, 1], z2: [0.5, 1]}}":                     "",
		"zone: {name: a, ball: {centre: {z1: 0, z2: 2}, radius: 1}}":            "",
	})
}

// Only the named dimensions count, each with its own standard deviation.
func TestZoneDimensions(t *testing.T) {
	all := frames(6, func(i int, e *latent.Estimate) {
		e.Filtered = [][]float64{{0, 9}, {0, 0}, {0.8, 0.8}, {0, 1.15}, {1.4, 0}, {3, 0}}[i]
		e.FilteredSD = []float64{0.3, 0.05}
	})
	fires(t, all, map[string]string{
		"zone: {name: a, box: {z1: [-1, 1]}}":                          "+0 -5",
		"zone: {name: a, box: {z2: [-1, 1], z1: [-1, 1]}}":             "+1 -3", // 1.15 is three sds of z2 outside; 1.4 would not be of z1
		"zone: {name: a, ball: {centre: {z2: 0, z1: 0}, radius: 1}}":   "+1 -3", // the same along the radius
		"zone: {name: a, ball: {centre: {z1: 0, z2: 0}, radius: 1.2}}": "+1 -5",
	})
}

// The centroid is compared with a rectangle in the raw frame. Without a centroid the rule stays unchanged.
func TestZoneOfCentroid(t *testing.T) {
	all := frames(6, func(i int, e *latent.Estimate) {
		e.Latent.Centroid = [][]float64{{9, 15}, {10, 15}, nil, {20.9, 15}, {21.1, 15}, {15, 20.5}}[i]
	})
	r := made(t, "zone: {name: a, centroid_px: {x: [10, 20], y: [10, 20]}}")
	if got := fired(r, all); got != "+1 -4" || r.unit != "px" {
		t.Errorf("found %q in %s", got, r.unit)
	}
	fires(t, all, map[string]string{"zone: {name: a, margin: 0, centroid_px: {x: [10, 20], y: [10, 20]}}": "+1 -3"})
}

// While the object is lost, or a latent is NaN, the position is unknown and the rule stays unchanged.
func TestZoneWhileLost(t *testing.T) {
	all := along(5, 0, 0, 5, math.NaN(), 0, 5)
	all[1].Alarms = []string{latent.Bleached, latent.ObjectLost}
	all[3].Alarms = []string{latent.ObjectLost}
	fires(t, all, map[string]string{
		"zone: {name: a, box: {z1: [-1, 1]}}":                 "+2 -6",
		"zone: {name: a, ball: {centre: {z1: 0}, radius: 1}}": "+2 -6",
	})
}

// A filter without a finite uncertainty does not end a condition that holds.
func TestZoneWithoutSD(t *testing.T) {
	all := along(0, 0.5, 1.1)
	for _, e := range all {
		e.FilteredSD = []float64{math.NaN(), math.NaN()}
	}
	fires(t, all, map[string]string{"zone: {name: a, box: {z1: [-1, 1]}}": "+0 -2"})
}
