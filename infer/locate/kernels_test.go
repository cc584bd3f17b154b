package locate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFilter: a stretch of a row is the sum over the template that it stands for, to float32's rounding of some 80 terms, also at the edges, which mirror
// the picture, and at the seams of stretches.
func TestFilter(t *testing.T) {
	const h, w = 12, stretch + 40
	rng := rand.New(rand.NewPCG(1, 1))
	k := newKernel(1.4)
	f := newFilter(h, w, k)
	picture := make([]float32, h*w)
	for i := range picture {
		picture[i] = float32(rng.NormFloat64())
	}
	mirrored := func(i, n int) int {
		if i < 0 {
			i = -i
		}
		if i >= n {
			i = 2*n - 2 - i
		}
		return i
	}
	for _, c := range []struct{ y, x0, x1 int }{{0, 0, stretch}, {5, stretch, w}, {h - 1, w - 3, w}, {3, 1, 5}} {
		got := make([]float32, c.x1-c.x0)
		f.apply(got, picture, c.y, c.x0)
		for i, v := range got {
			want := 0.0
			for dy := -k.reach; dy <= k.reach; dy++ {
				for dx := -k.reach; dx <= k.reach; dx++ {
					tap := float64(k.taps[max(dy, -dy)]) * float64(k.taps[max(dx, -dx)])
					want += tap * float64(picture[mirrored(c.y+dy, h)*w+mirrored(c.x0+i+dx, w)])
				}
			}
			if math.Abs(float64(v)-want) > 1e-5 {
				t.Fatalf("pixel (%d, %d) is %g, expected %g", c.x0+i, c.y, v, want)
			}
		}
	}
}

// TestChanges: where a residual is filtered again only where it changed, it is as if it were filtered whole, to the last bit: the sums are the same.
func TestChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	d := drawn{h: 150, w: 170, sd: 1.4, gain: 1, background: 10}
	l := locator(t, d.h, d.w, Options{SD: d.sd})
	l.begin(d.picture(rng))
	none := float32(math.Inf(1))
	l.filterChanges(none)
	for range 30 {
		l.light(&spot{x: 169 * rng.Float64(), y: 149 * rng.Float64(), a: 40}, 1)
	}
	l.filterChanges(none)
	parts, filtered := len(l.changes.areas), 0
	for _, a := range l.changes.areas {
		filtered += (a.x1 - a.x0) * (a.y1 - a.y0)
	}
	again := slices.Clone(l.filtered)
	l.changes.all()
	l.filterChanges(none)
	if !slices.Equal(again, l.filtered) {
		t.Error("the parts that were filtered again are not those that changed")
	}
	if filtered > len(l.filtered)*3/4 { // 30 spots that reach 16 x 16 pixels cover a third, and blocks are joined
		t.Errorf("%d of %d pixels were filtered in %d parts", filtered, len(l.filtered), parts)
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

// TestOrder: sortByMean does what sorting does, with equal numbers and numbers below zero.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 2, 3, 10, 1001} {
		for _, kinds := range []int{1, 7, 1 << 20} {
			v, pixels := make([]float32, n), make([]noisePixel, n)
			for i := range v {
				v[i] = float32(rng.IntN(kinds)-kinds/2) / 3
				pixels[i] = noisePixel{mean: v[i], high: float32(i)}
			}
			sorted := slices.Clone(v)
			slices.Sort(sorted)
			for i, p := range sortByMean(pixels, make([]noisePixel, n)) {
				if p.mean != sorted[i] {
					t.Fatalf("pixel %d of %d has a mean of %g, expected %g", i, n, p.mean, sorted[i])
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
