package field

import (
	"math"
	"testing"
)

// TestWidth: a spot's variance is s(z)² plus 1/12 of a pixel, its total light is constant, and its peak falls as 1/s².
func TestWidth(t *testing.T) {
	c := newOptics(Options{SNR: 4, SD: 1.4, Background: 10, Width: 101, Height: 101})
	spot := func(p Point) (light, variance, peak float64) {
		c.light(p, func(pixel int, photons float64) {
			x := float64(pixel%101) - p.X
			light, variance, peak = light+photons, variance+photons*x*x, max(peak, photons)
		})
		return light, variance / max(light, 1e-300), peak
	}
	full, _, brightest := spot(Point{X: 50, Y: 50, Light: 1})
	if math.Abs(brightest-c.peak) > 1e-12*c.peak {
		t.Errorf("a peak of %g photons, expected %g", brightest, c.peak)
	}
	for _, z := range []float64{0, 2, -4, 8, -slab} {
		light, variance, peak := spot(Point{X: 50, Y: 50, Z: z, Light: 1})
		wide := 1 + z*z/(depth*depth)
		// 3.4e-5 of the light along both axes lies beyond 4.3 sd, and 3.5e-4 of the variance along an axis
		if math.Abs(light/full-1) > 1e-4 {
			t.Errorf("z %g: %g of the light in focus", z, light/full)
		}
		if want := 1.4*1.4*wide + 1.0/12; math.Abs(variance/want-1) > 1e-3 {
			t.Errorf("z %g: a variance of %.4f px², expected %.4f", z, variance, want)
		}
		// per axis, a pixel's mean of a Gaussian is 1 - 1/(24 s²) of its value in the middle, 4 % less in focus than far from it
		if got := peak / brightest * wide; got < 0.999 || got > 1.05 {
			t.Errorf("z %g: the peak is %.4f of 1/s²", z, got)
		}
	}
	if light, _, _ := spot(Point{X: 50, Y: 50, Light: 0.25}); math.Abs(light/full-0.25) > 1e-12 {
		t.Errorf("%g of the light at a quarter", light/full)
	}
	if light, _, _ := spot(Point{X: 50, Y: 50}); light != 0 {
		t.Errorf("a dark object gives %g photons", light)
	}
}
