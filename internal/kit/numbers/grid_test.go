package numbers

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNear: every point within reach is visited once, also those outside the picture, and none after Clear.
func TestNear(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	g := NewGrid(100, 60, 7)
	for range 50 {
		g.Clear()
		x, y := make([]float64, 200), make([]float64, 200)
		for i := range x {
			x[i], y[i] = 140*random.Float64()-20, 100*random.Float64()-20
			g.Add(int32(i), x[i], y[i])
		}
		px, py, reach := 140*random.Float64()-20, 100*random.Float64()-20, 25*random.Float64()
		visits := make([]int, len(x))
		g.Near(px, py, reach, func(i int32) { visits[i]++ })
		for i, n := range visits {
			if n > 1 || n == 0 && math.Hypot(x[i]-px, y[i]-py) <= reach {
				t.Fatalf("point %d at (%g, %g) was visited %d times from (%g, %g) with a reach of %g", i, x[i], y[i], n, px, py, reach)
			}
		}
	}
}

// TestFarPoints: cells far from the position are not visited.
func TestFarPoints(t *testing.T) {
	g := NewGrid(100, 100, 10)
	g.Add(1, 95, 95)
	g.Near(5, 5, 20, func(int32) { t.Error("a point 127 px away was visited from within 20 px") })
}

// TestPlacesThatAreNone: points at NaN and infinite positions go into existing cells.
func TestPlacesThatAreNone(t *testing.T) {
	g := NewGrid(10, 10, 3)
	for i, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		g.Add(int32(i), v, v)
	}
	seen := 0
	g.Near(0, 0, math.Inf(1), func(int32) { seen++ })
	if seen != 4 {
		t.Errorf("%d of 4 points were visited", seen)
	}
}

func BenchmarkNear(b *testing.B) {
	g := NewGrid(512, 512, 6)
	random := rand.New(rand.NewPCG(1, 0))
	for i := range int32(500) {
		g.Add(i, 512*random.Float64(), 512*random.Float64())
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		g.Near(256, 256, 6, func(int32) { n++ })
	}
}
