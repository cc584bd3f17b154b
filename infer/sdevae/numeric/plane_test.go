package numeric

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/suite"
)

// TestPlane: Inverse reverses Forward, and a shift by whole pixels wraps around the edges, also for odd sides. Both are exact up to rounding of float64, for
// which the limit is 1e-9.
func TestPlane(t *testing.T) {
	for _, side := range [][2]int{{8, 8}, {12, 10}, {9, 15}} {
		h, w := side[0], side[1]
		p, rng := NewPlane(h, w), rand.New(rand.NewPCG(1, 2))
		picture, got := make([]float32, h*w), make([]float64, h*w)
		for i := range picture {
			picture[i] = rng.Float32()
		}
		for _, by := range [][2]int{{0, 0}, {3, -2}, {-1, 7}} {
			spectrum, moved := make([]complex128, p.Size()), make([]complex128, p.Size())
			p.Forward(spectrum, picture)
			s := p.NewShift()
			s.Set(float64(by[0]), float64(by[1]))
			s.Add(moved, spectrum, 1)
			p.Inverse(got, moved)
			for y := range h {
				for x := range w {
					want := float64(picture[y*w+x])
					at := got[(y+by[1]+h)%h*w+(x+by[0]+w)%w]
					if math.Abs(at-want) > 1e-9 {
						t.Fatalf("%dx%d moved by %v: %g at %d,%d, expected %g", w, h, by, at, x, y, want)
					}
				}
			}
		}
	}
}

// TestPlaneBetweenPixels: a smooth spot moved by parts of a pixel equals a spot drawn at the new position, to 1e-3 of its height, the part that lies across the
// edges.
func TestPlaneBetweenPixels(t *testing.T) {
	const side = 24
	spot := func(x, y float64) []float32 {
		out := make([]float32, side*side)
		for i := range out {
			dx, dy := float64(i%side)-x, float64(i/side)-y
			out[i] = float32(math.Exp(-(dx*dx + dy*dy) / 8))
		}
		return out
	}
	p := NewPlane(side, side)
	spectrum, moved, got := make([]complex128, p.Size()), make([]complex128, p.Size()), make([]float64, side*side)
	p.Forward(spectrum, spot(11, 12))
	s := p.NewShift()
	s.Set(1.3, -0.6)
	s.Add(moved, spectrum, 1)
	p.Inverse(got, moved)
	for i, want := range spot(12.3, 11.4) {
		if math.Abs(got[i]-float64(want)) > 1e-3 {
			t.Fatalf("pixel %d is %g, expected %g", i, got[i], want)
		}
	}
}

// TestWiener: the filter removes nine tenths of the noise from a smooth picture, and almost all of a picture of pure noise.
func TestWiener(t *testing.T) {
	suite.Long(t)
	const side, sd = 32, 0.3
	rng := rand.New(rand.NewPCG(1, 2))
	clean, noisy, bare := make([]float32, side*side), make([]float32, side*side), make([]float32, side*side)
	for i := range clean {
		clean[i] = float32(math.Sin(2*math.Pi*float64(i%side)/side) * math.Cos(4*math.Pi*float64(i/side)/side))
		noisy[i], bare[i] = clean[i]+float32(sd*rng.NormFloat64()), float32(sd*rng.NormFloat64())
	}
	p := NewPlane(side, side)
	p.Wiener(noisy, sd*sd)
	p.Wiener(bare, sd*sd)
	if left := SquaredError(noisy, clean) / (side * side); left > 0.1*sd*sd {
		t.Errorf("%.3f of the noise is left in a picture", left/(sd*sd))
	}
	if left := SquaredError(bare, make([]float32, side*side)) / (side * side); left > 0.1*sd*sd {
		t.Errorf("%.3f of pure noise is left", left/(sd*sd))
	}
}
