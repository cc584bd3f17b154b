package locate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"driftscope/infer/locate/kernel"
)

// TestChanges: filtering only the changed parts of a residual gives the same bits as filtering the whole residual.
func TestChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	d := drawn{h: 150, w: 170, sd: 1.4, gain: 1, background: 10}
	l := locator(t, d.h, d.w, Options{SD: d.sd})
	l.begin(d.picture(rng))
	l.filterChanges(3)
	for range 30 {
		l.light(&spot{x: 169 * rng.Float64(), y: 149 * rng.Float64(), a: 40}, 1)
	}
	l.filterChanges(3)
	parts, filtered := len(l.changes.areas), 0
	for _, a := range l.changes.areas {
		filtered += (a.X1 - a.X0) * (a.Y1 - a.Y0)
	}
	again := slices.Clone(l.filter.Out.Pixels)
	l.changes.mark(kernel.Area{X1: d.w, Y1: d.h}, 0)
	l.filterChanges(3)
	if !slices.Equal(again, l.filter.Out.Pixels) {
		t.Error("the parts that were filtered again differ from the parts that changed")
	}
	if filtered > len(l.filter.Out.Pixels)*3/4 { // 30 spots of 16 x 16 pixels cover a third, and nearby blocks are joined
		t.Errorf("%d of %d pixels were filtered in %d parts", filtered, len(l.filter.Out.Pixels), parts)
	}
}

// TestNothingIsKept: the spots found in a picture do not depend on earlier pictures.
func TestNothingIsKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	d := drawn{h: 128, w: 128, sd: 1.4, gain: 1, background: 10}
	var pictures [2][]float32
	for k := range pictures {
		d.spots = d.spots[:0]
		for range 80 {
			d.spots = append(d.spots, [3]float64{128 * rng.Float64(), 128 * rng.Float64(), 40})
		}
		pictures[k] = d.picture(rng)
	}
	l := locator(t, d.h, d.w, Options{SD: d.sd})
	first := l.Locate(nil, pictures[0])
	l.Locate(nil, pictures[1])
	if !slices.Equal(first, l.Locate(nil, pictures[0])) {
		t.Error("the same picture has different spots after another picture")
	}
}

// TestIntoBins: every bin has the same pixels as after a stable sort by means. The means have few or many different values, outliers and negative values.
func TestIntoBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 2, 3, 10, 1001} {
		for _, kinds := range []int{1, 7, 1 << 20} {
			for _, far := range []float32{0, 1e30} {
				m := noiseMeter{pixels: make([]kernel.Rough, n), other: make([]kernel.Rough, n)}
				for i := range m.pixels {
					m.pixels[i] = kernel.Rough{Mean: float32(rng.IntN(kinds)-kinds/2) / 3, High: float32(i)}
				}
				m.pixels[n/2].Mean += far
				sorted := slices.Clone(m.pixels)
				slices.SortStableFunc(sorted, func(a, b kernel.Rough) int { return cmp.Compare(a.Mean, b.Mean) })
				m.intoBins(0, n)
				for k := range noiseBins {
					from, to := span(k, noiseBins, n)
					got := slices.Clone(m.pixels[from:to])
					for _, bin := range [][]kernel.Rough{got, sorted[from:to]} {
						slices.SortFunc(bin, func(a, b kernel.Rough) int { return cmp.Compare(a.High, b.High) })
					}
					if !slices.Equal(got, sorted[from:to]) {
						t.Fatalf("%d pixels of %d means, one %g off: bin %d has %v, expected %v", n, kinds, far, k, got, sorted[from:to])
					}
				}
			}
		}
	}
}

// TestPrune: of two spots on one object, neither has a high score. prune removes one, and the other then has all the light, to within 4 sds of its amplitude.
// Two spots that are far apart both remain.
func TestPrune(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		apart float64 // distance of the objects and of the given spots, px
		want  int
	}{{0, 1}, {4, 2}} {
		d := drawn{h: 64, w: 64, sd: 1.4, gain: 1, background: 10, spots: [][3]float64{{32, 32, 40}}}
		if c.apart > 0 {
			d.spots = append(d.spots, [3]float64{32 + c.apart, 32, 40})
		}
		l := locator(t, d.h, d.w, Options{SD: d.sd})
		l.begin(d.picture(rng))
		l.spots = append(l.spots, spot{x: 31.8, y: 32, a: 20}, spot{x: 32.2 + c.apart, y: 32, a: 20})
		for i := range l.spots {
			l.light(&l.spots[i], -1)
		}
		l.cluster.members = append(l.cluster.members[:0], 0, 1)
		l.solve(true)
		if c.want == 1 && max(l.spots[0].score, l.spots[1].score) > l.o.Threshold {
			t.Fatalf("two spots on one object have high scores: %+v", l.spots)
		}
		l.prune()
		if len(l.spots) != c.want {
			t.Fatalf("%d spots of objects %g px apart, expected %d", len(l.spots), c.apart, c.want)
		}
		for _, s := range l.spots {
			if math.Abs(s.a-40) > 4*s.a/s.score {
				t.Errorf("objects %g px apart: an amplitude of %.1f ± %.1f, expected 40", c.apart, s.a, s.a/s.score)
			}
		}
	}
}

// TestMove: if steps are too long or too short by a constant factor, the second step reaches the maximum, up to rounding.
func TestMove(t *testing.T) {
	for _, bend := range []float64{leastBend, 1, 2.5, mostBend} {
		x, y := 0.1, -0.05
		var m move
		for range 2 {
			dx, dy := m.next(-bend*x, -bend*y)
			x, y = x+dx, y+dy
		}
		if math.Hypot(x, y) > 1e-12 {
			t.Errorf("a likelihood bent %g as much as expected leaves (%g, %g)", bend, x, y)
		}
	}
}
