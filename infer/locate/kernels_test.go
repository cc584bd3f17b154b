package locate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"driftscope/infer/locate/kernel"
)

// TestChanges: where a residual is filtered again only where it changed, it is as if it were filtered whole, to the last bit: the sums are the same.
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
		t.Error("the parts that were filtered again are not those that changed")
	}
	if filtered > len(l.filter.Out.Pixels)*3/4 { // 30 spots that reach 16 x 16 pixels cover a third, and blocks are joined
		t.Errorf("%d of %d pixels were filtered in %d parts", filtered, len(l.filter.Out.Pixels), parts)
	}
}

// TestNothingIsKept: what is found in a picture does not depend on those before it.
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
		t.Error("the same picture has other spots after another one")
	}
}

// TestIntoBins: every bin has the pixels that sorting by their means puts there, the first of equal ones first, for means of few values and of many, for
// some far from all others, and for those below zero.
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

// TestPrune: of two spots that stand for one neither is certain; one is taken away, and the other has the light of both, to what the noise of a spot's
// amplitude is: 4 of its sds. Two that are apart both stay.
func TestPrune(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		apart float64 // px, of the objects, and of the spots that are given
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
			t.Fatalf("two spots for one are certain: %+v", l.spots)
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

// TestMove: steps that overshoot or fall short by a constant factor are put right by the second one, to rounding.
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
