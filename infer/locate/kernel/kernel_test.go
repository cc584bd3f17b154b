package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// levels returns the lanes that this processor supports.
func levels() (all []Lanes) {
	for _, k := range []Lanes{4, 8, 16} {
		if k <= Widest() {
			all = append(all, k)
		}
	}
	return all
}

// strange are special values that a picture may contain.
var strange = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-42, -1e-42, 0, float32(math.Copysign(0, -1)), 3e38}

// pictures yields pictures of odd sizes around a level, each with and without strange values.
func pictures(yield func(name string, p Picture)) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{5, 5}, {7, 16}, {9, 17}, {16, 15}, {33, 31}, {40, 100}, {12, 600}} {
		for _, odd := range []bool{false, true} {
			p := NewPicture(size[0], size[1])
			for i := range p.Pixels {
				p.Pixels[i] = float32(100 + 10*rng.NormFloat64())
				if odd && rng.IntN(20) == 0 {
					p.Pixels[i] = strange[rng.IntN(len(strange))]
				}
			}
			yield(fmt.Sprintf("%dx%d, strange values %t", size[1], size[0], odd), p)
		}
	}
}

// areas returns parts of a picture: the whole, its corners, one pixel, none.
func areas(p Picture) []Area {
	w, h := p.Width, p.Height
	return []Area{{0, 0, w, h}, {0, 0, 1, 1}, {w - 3, h - 2, w, h}, {1, 2, 4, 3}, {w / 3, 0, w - 1, h}, {2, 2, 2, 3}}
}

// same reports whether two slices have the same bits. All NaNs count as equal.
func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(v, w float32) bool { return math.Float32bits(v) == math.Float32bits(w) || v != v && w != w })
}

// near reports whether two numbers agree to a tolerance, or neither is finite.
func near(got, want, tolerance float64) bool {
	if finite := !math.IsInf(want, 0) && !math.IsNaN(want); !finite {
		return math.IsInf(got, 0) || math.IsNaN(got)
	}
	return math.Abs(got-want) <= tolerance
}

// TestNth: the number equals the one after sorting, for few and many numbers, with ties and special values.
func TestNth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 3, 15, 16, 17, 64, 1001} {
		for _, kinds := range []int{1, 7, 1 << 20} {
			v := make([]float32, n)
			for i := range v {
				v[i] = float32(rng.IntN(kinds)-kinds/2) / 3
			}
			if kinds == 7 && n > 3 {
				v[0], v[1], v[2] = float32(math.Inf(1)), float32(math.Inf(-1)), 1e-42
			}
			sorted := slices.Sorted(slices.Values(v))
			for _, at := range []int{0, n / 3, n - 1} {
				for _, k := range append(levels(), 0) {
					if got := k.Nth(slices.Clone(v), at); got != sorted[at] {
						t.Errorf("%d lanes: number %d of %v is %g, expected %g", k, at, v, got, sorted[at])
					}
				}
			}
		}
	}
}

// TestNear: sums equal those in Go up to the rounding of float32 sums of 64 numbers, counts are equal, and all lanes give the same bits.
func TestNear(t *testing.T) {
	pictures(func(name string, p Picture) {
		for _, a := range areas(p) {
			for _, far := range []float32{0, 12, 1e9} {
				tiles := []Tile{{X0: int32(a.X0), X1: int32(a.X1), Level: 101, Far: far}, {X0: 0, X1: int32(a.X1), Level: 90, Far: far}}
				want, first := slices.Clone(tiles), slices.Clone(tiles)
				Lanes(0).Near(p, a.Y0, a.Y1, want)
				Lanes(4).Near(p, a.Y0, a.Y1, first)
				for _, k := range levels() {
					k.Near(p, a.Y0, a.Y1, tiles)
					for i, got := range tiles {
						if got != first[i] || got.Count != want[i].Count || !near(got.Sum, want[i].Sum, 1e-6*float64(got.Count)*min(float64(far), 1e3)) {
							t.Errorf("%s: %d lanes find %+v, 4 lanes %+v, Go %+v", name, k, got, first[i], want[i])
						}
					}
				}
			}
		}
	})
}

// TestSubtract: the result equals Go's to the bit.
func TestSubtract(t *testing.T) {
	pictures(func(name string, p Picture) {
		lines := Picture{p.Pixels, p.Width, 3}
		ways := make([]Way, p.Height)
		for y := range ways {
			ways[y] = Way{int32(y % 3), int32((y + 1) % 3), float32(y%4) / 4}
		}
		want := NewPicture(p.Height, p.Width)
		Lanes(0).Subtract(want, p, lines, ways)
		for _, k := range levels() {
			got := NewPicture(p.Height, p.Width)
			if k.Subtract(got, p, lines, ways); !same(got.Pixels, want.Pixels) {
				t.Errorf("%s: %d lanes give %v, Go %v", name, k, got, want)
			}
		}
	})
}

// TestRoughen: the appended values equal Go's to the bit.
func TestRoughen(t *testing.T) {
	flat := func(rough []Rough) (v []float32) {
		for _, r := range rough {
			v = append(v, r.Mean, r.High)
		}
		return v
	}
	pictures(func(name string, p Picture) {
		for stride := 1; stride < 9; stride++ {
			want := Lanes(0).Roughen([]Rough{{1, 2}}, p, stride)
			for _, k := range levels() {
				if got := k.Roughen([]Rough{{1, 2}}, p, stride); !same(flat(got), flat(want)) {
					t.Errorf("%s: %d lanes give %v, Go %v", name, k, got, want)
				}
			}
		}
	})
}

// TestSweep: the filtered picture equals Go's, which sums in float64, up to the rounding of 9 and of 193 products. Nothing outside the area is written.
func TestSweep(t *testing.T) {
	for _, reach := range []int{1, 4, 13, 96} {
		taps := make([]float32, reach+1)
		for i := range taps {
			taps[i] = float32(math.Exp(-4.5 * float64(i*i) / float64(reach*reach)))
		}
		pictures(func(name string, p Picture) {
			if p.Width <= reach || p.Height <= reach {
				return
			}
			for _, a := range areas(p) {
				want, first := NewFilter(p, taps), NewFilter(p, taps)
				Lanes(0).Sweep(want, []Area{a}, 0)
				Lanes(4).Sweep(first, []Area{a}, 0)
				for _, k := range levels() {
					got := NewFilter(p, taps)
					k.Sweep(got, []Area{a}, 0)
					if !same(got.Out.Pixels, first.Out.Pixels) {
						t.Errorf("%s, reach %d: %d and 4 lanes differ in %v", name, reach, k, a)
					}
				}
				for j, v := range first.Out.Pixels {
					if w := float64(want.Out.Pixels[j]); !near(float64(v), w, 1e-5*(math.Abs(w)+100)) && !huge(p) {
						t.Fatalf("%s, reach %d: pixel %d of %v is %g, Go has %g", name, reach, j, a, v, w)
					}
				}
			}
		})
	}
}

// huge reports whether a picture has a value whose sums overflow float32 in some orders of summation but not in others.
func huge(p Picture) bool {
	return slices.ContainsFunc(p.Pixels, func(v float32) bool { return v > 1e38 || v < -1e38 })
}

// TestPeaks: the maxima equal Go's, in the same order, also for pictures of few levels with ties, and for adjacent areas.
func TestPeaks(t *testing.T) {
	pictures(func(name string, p Picture) {
		for _, perLevel := range []float32{1, 8} {
			q := NewPicture(p.Height, p.Width)
			for i, v := range p.Pixels {
				q.Pixels[i] = float32(math.Round(float64(v/perLevel))) * perLevel
			}
			one := []float32{1}
			sets := [][]Area{{{0, 0, q.Width, 2}, {0, 2, 1, 4}, {3, 2, q.Width, 4}, {1, 4, q.Width - 1, q.Height}}}
			for _, a := range areas(q) {
				sets = append(sets, []Area{a})
			}
			for _, set := range sets {
				for _, least := range []float32{-1000, 100, 110} {
					want := Lanes(0).Sweep(NewFilter(q, one), set, least)
					for _, k := range levels() {
						if got := k.Sweep(NewFilter(q, one), set, least); !slices.Equal(got, want) {
							t.Errorf("%s: %d lanes find %v in %v, Go %v", name, k, got, set, want)
						}
					}
				}
			}
		}
	})
}

// patched returns the part of a patch around a position that lies in the picture.
func patched(p Picture, x, y, reach float64) *Patch {
	a := Area{max(0, int(math.Ceil(x-reach))), max(0, int(math.Ceil(y-reach))), min(p.Width, int(x+reach)+1), min(p.Height, int(y+reach)+1)}
	return &Patch{Area: a, FromX: float32(float64(a.X0) - x), FromY: float32(float64(a.Y0) - y)}
}

// TestFit: factors, light, moments and overlaps equal Go's, at the edges and inside, for patches of one strip and of several. Factors may differ by two
// roundings and the exponential's 2e-7. Sums may differ by the rounding of float32 over about 100 rows, relative to the sum of absolute values.
func TestFit(t *testing.T) {
	pictures(func(name string, picture Picture) {
		for _, sd := range []float64{0.5, 1.4, 4, 11} {
			residual := NewPicture(picture.Height, picture.Width)
			for i, v := range picture.Pixels {
				residual.Pixels[i] = v - 100
			}
			field := Field{Residual: residual, Picture: picture.Pixels, Read: 2, Gain: 0.5, Floor: 0.002, Narrow: float32(1 / sd)}
			w, h := float64(picture.Width), float64(picture.Height)
			for _, at := range [][2]float64{{0, 0}, {w - 1, h - 1}, {w / 2.1, h / 1.9}, {w / 2, 1.3}} {
				p, q := patched(picture, at[0], at[1], 2.9*sd), patched(picture, at[0]+sd, at[1]-0.5*sd, 2.9*sd)
				if p.Empty() || q.Empty() {
					continue
				}
				want := fitted(0, field, p, q)
				var first results
				for i, k := range levels() {
					got := fitted(k, field, p, q)
					if i == 0 {
						first = got
					}
					if !same(got.bits(), first.bits()) {
						t.Errorf("%s, sd %g at %v: %d and 4 lanes differ", name, sd, at, k)
					}
					got.compare(t, fmt.Sprintf("%s, sd %g at %v, %d lanes", name, sd, at, k), want)
				}
			}
		}
	})
}

// results holds the results of the kernels for fits on two patches.
type results struct {
	p, q     Patch
	orders   [2]Moments
	products Products
	residual []float32
	unit     float64 // upper bound of the sums of w T²
}

func fitted(k Lanes, field Field, p, q *Patch) (r results) {
	r.p, r.q = *p, *q
	k.Shape(&field, &r.q)
	k.Sum(&r.orders[0], &field, &r.p, 2)
	k.Sum(&r.orders[1], &field, &r.p, 4)
	k.Overlap(&r.products, &field, &r.p, &r.q)
	field.Residual.Pixels = slices.Clone(field.Residual.Pixels)
	k.Move(&field, &r.p, 20, &r.q, -30)
	r.residual = field.Residual.Pixels
	r.unit = float64((p.X1-p.X0)*(p.Y1-p.Y0)) / float64(field.Floor)
	return r
}

// bits returns all numbers of the results for comparison.
func (r *results) bits() []float32 {
	all := slices.Concat(r.p.TX[:], r.p.TY[:], r.q.TX[:], r.q.TY[:], r.residual)
	for _, v := range r.sums() {
		all = append(all, float32(v), float32(v-float64(float32(v))))
	}
	return all
}

func (r *results) sums() (all []float64) {
	for _, m := range r.orders {
		for i := range m.Square {
			all = append(all, m.Square[i][:]...)
		}
		for i := range m.Single {
			all = append(all, m.Single[i][:]...)
		}
	}
	for i := range r.products {
		all = append(all, r.products[i][:]...)
	}
	return all
}

func (r *results) compare(t *testing.T, name string, want results) {
	t.Helper()
	for i, factors := range [][2][]float32{{r.p.TX[:], want.p.TX[:]}, {r.p.TY[:], want.p.TY[:]}, {r.q.TX[:], want.q.TX[:]}, {r.q.TY[:], want.q.TY[:]}} {
		for k, v := range factors[0] {
			if w := float64(factors[1][k]); !near(float64(v), w, 2e-6*w) {
				t.Fatalf("%s: factor %d of axis %d is %g, Go has %g", name, k, i, v, w)
			}
		}
	}
	for i, v := range r.residual {
		if w := float64(want.residual[i]); !near(float64(v), w, 1e-4+1e-6*math.Abs(w)) {
			t.Fatalf("%s: pixel %d of the residual is %g, Go has %g", name, i, v, w)
		}
	}
	sums := want.sums()
	for i, v := range r.sums() {
		if w := sums[i]; !near(v, w, 1e-5*(math.Abs(w)+1)) && !(math.Abs(w) > 1e30) {
			t.Fatalf("%s: sum %d is %g, Go has %g", name, i, v, w)
		}
	}
}

// TestBounds: if C would read or write beyond a picture, Go panics first.
func TestBounds(t *testing.T) {
	p := NewPicture(10, 12)
	field := Field{Residual: p, Picture: p.Pixels, Floor: 1, Narrow: 1}
	f := NewFilter(p, make([]float32, 5))
	k := Widest()
	for name, call := range map[string]func(){
		"an area to the right":   func() { k.Near(p, 0, 10, []Tile{{X0: 0, X1: 13}}) },
		"an area above":          func() { k.Sweep(f, []Area{{0, -1, 3, 3}}, 0) },
		"an area turned over":    func() { k.Sweep(f, []Area{{0, 0, 3, 3}, {5, 0, 3, 3}}, 0) },
		"a filter of no picture": func() { NewFilter(NewPicture(4, 12), make([]float32, 5)) },
		"a patch below":          func() { k.Sum(&Moments{}, &field, &Patch{Area: Area{0, 0, 3, 11}}, 2) },
		"a way to no line":       func() { k.Subtract(p, p, NewPicture(2, 12), slices.Repeat([]Way{{To: 2}}, 10)) },
		"too many taps":          func() { NewFilter(NewPicture(200, 200), make([]float32, MostReach+2)) },
		"rows of two lengths":    func() { k.Subtract(p, p, NewPicture(10, 11), make([]Way, 10)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
