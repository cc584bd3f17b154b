package finder

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// scene renders a film of objects at randomly moving positions, on a background with noise of sd 5.
func scene(w, h, frames int, at [][2]float64, look func(dx, dy float64) float64, r *rand.Rand) (film []Picture, truth [][][2]float64) {
	for range frames {
		f := NewPicture(w, h)
		for i := range f.P {
			x, y := float64(i%w), float64(i/w)
			v := 100 + 5*r.NormFloat64()
			for _, p := range at {
				v += look(x-p[0], y-p[1])
			}
			f.P[i] = float32(math.Round(v))
		}
		film, truth = append(film, f), append(truth, slices.Clone(at))
		for i := range at {
			at[i][0] += r.NormFloat64() * .7
			at[i][1] += r.NormFloat64() * .7
		}
	}
	return film, truth
}

func gauss(height, sd float64) func(dx, dy float64) float64 {
	return func(dx, dy float64) float64 { return height * math.Exp(-(dx*dx+dy*dy)/(2*sd*sd)) }
}

func ring(height, radius float64) func(dx, dy float64) float64 {
	return func(dx, dy float64) float64 {
		d := (math.Hypot(dx, dy) - radius) / (radius / 5)
		return height * math.Exp(-d*d/2)
	}
}

func bar(height, length, width float64) func(dx, dy float64) float64 {
	return func(dx, dy float64) float64 {
		d := math.Hypot(max(math.Abs(dx)-length/2, 0), dy)
		return height / (1 + math.Exp((d-width/2)/.7))
	}
}

// TestKinds renders films of one kind each. It requires a find for every object of the first frame, within several times the distance that the noise allows.
func TestKinds(t *testing.T) {
	spaced := [][2]float64{{25, 30}, {70, 25}, {110, 35}, {30, 75}, {75, 70}, {115, 80}, {28, 115}, {72, 118}, {118, 120}}
	for name, c := range map[string]struct {
		at     [][2]float64
		look   func(dx, dy float64) float64
		kinds  []Kind
		within float64
	}{
		"one bead":     {spaced[4:5], gauss(80, 4), []Kind{One, OneBody}, .5},
		"one dark":     {spaced[4:5], gauss(-60, 6), []Kind{One, OneBody}, .8},
		"few spots":    {spaced[:4], gauss(60, 1.5), []Kind{Few}, .5},
		"many spots":   {spaced, gauss(60, 1.3), []Kind{Many}, .5},
		"rings":        {spaced, ring(60, 8), []Kind{Many, Bodies}, 1},
		"dark discs":   {spaced, gauss(-50, 5), []Kind{Many, Bodies}, 1},
		"rods":         {spaced, bar(60, 20, 6), []Kind{Bodies}, 1.5},
		"weak spots":   {spaced, gauss(20, 1.6), []Kind{Many}, 1.5}, // 4 sd of the noise
		"small bright": {spaced, gauss(120, .9), []Kind{Many}, .4},
	} {
		film, truth := scene(144, 144, 20, slices.Clone(c.at), c.look, rand.New(rand.NewPCG(3, 4)))
		f := learnt(t, film)
		if !slices.Contains(c.kinds, f.Kind) {
			t.Errorf("%s: found %v, expected %v: %v", name, f.Kind, c.kinds, f)
			continue
		}
		found := f.Find(film[0], math.NaN(), math.NaN())
		for _, p := range truth[0] {
			best := math.Inf(1)
			for _, q := range found {
				best = min(best, math.Hypot(q.X-p[0], q.Y-p[1]))
			}
			if best > c.within {
				t.Errorf("%s: nothing within %.1f px of %.1f, %.1f: %.2f px", name, c.within, p[0], p[1], best)
			}
		}
		found = slices.DeleteFunc(found, func(p Place) bool { return p.Z < f.z }) // Find keeps weak blobs for tracks
		if len(found) > len(c.at)+1 {
			t.Errorf("%s: found %d places of %d objects", name, len(found), len(c.at))
		}
	}
}

// TestExtent measures a bar with known axis and area: 20 px between the centres of its ends, 6 px wide.
func TestExtent(t *testing.T) {
	at := [][2]float64{{30, 30}, {80, 35}, {40, 90}, {95, 95}, {110, 50}, {75, 115}}
	film, _ := scene(144, 144, 12, at, bar(60, 20, 6), rand.New(rand.NewPCG(5, 6)))
	f := learnt(t, film)
	if f.Kind != Bodies {
		t.Fatalf("found %v", f)
	}
	for _, p := range f.Find(film[0], 0, 0) {
		z, sd := p.Extent()
		if math.Abs(z[3]) > .1 {
			t.Errorf("an axis of %.2f rad, expected 0 within six sds of %.3f", z[3], sd[3])
		}
		if area := 20*6 + math.Pi*9; math.Abs(z[0]-area) > .25*area { // the threshold lies at half the height of a smoothed edge
			t.Errorf("an area of %.0f px², expected about %.0f", z[0], area)
		}
	}
}

// TestShift moves a texture by known amounts.
func TestShift(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	wide := NewPicture(200, 180)
	for i := range wide.P {
		wide.P[i] = float32(100 * r.NormFloat64())
	}
	wide = blur(wide, 3)
	cut := func(x, y float64) Picture {
		f := NewPicture(128, 120)
		for i := range f.P {
			f.P[i] = float32(wide.at(30+float64(i%f.W)-x, 30+float64(i/f.W)-y) + .5*r.NormFloat64())
		}
		return f
	}
	a := cut(0, 0)
	for _, d := range [][2]float64{{1, 0}, {-3.4, 2.2}, {11, -7.5}, {16, 12}} {
		x, y, ok := shift(a, cut(d[0], d[1]))
		if !ok || math.Hypot(x-d[0], y-d[1]) > .15 {
			t.Errorf("a shift of %v is found as %.2f, %.2f (%v)", d, x, y, ok)
		}
	}
	if _, _, ok := shift(a, cut(0, 0)); ok {
		t.Error("a field at rest was found to move")
	}
}

// TestSlidingMedian compares the sliding histogram with sorting, to within one level of the histogram.
func TestSlidingMedian(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	a := NewPicture(23, 17)
	for i := range a.P {
		a.P[i] = float32(r.NormFloat64())
	}
	level := (quantileOf(a.P, 1) - quantileOf(a.P, 0)) / 1023
	m := slidingMedian(a, 4)
	for y := range a.H {
		for x := range a.W {
			var v []float64
			for j := -4; j <= 4; j++ {
				for i := -4; i <= 4; i++ {
					v = append(v, float64(a.P[mirror(y+j, a.H)*a.W+mirror(x+i, a.W)]))
				}
			}
			if want := median(v); math.Abs(float64(m.P[y*a.W+x])-want) > level {
				t.Fatalf("at %d, %d: %g, expected %g", x, y, m.P[y*a.W+x], want)
			}
		}
	}
}

func quantileOf(p []float32, q float64) float64 {
	var v []float64
	for _, x := range p {
		v = append(v, float64(x))
	}
	return quantile(v, q)
}

// TestDistance compares the transform with a full search for the nearest pixel at 0.
func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	e := NewPicture(19, 14)
	for i := range e.P {
		if r.IntN(8) > 0 {
			e.P[i] = 1
		}
	}
	before := slices.Clone(e.P)
	distance(e)
	for i := range e.P {
		want := math.Inf(1)
		for j, v := range before {
			if v == 0 {
				want = min(want, math.Hypot(float64(i%e.W-j%e.W), float64(i/e.W-j/e.W)))
			}
		}
		if math.Abs(float64(e.P[i])-want) > 1e-5 {
			t.Fatalf("pixel %d: %g, expected %g", i, e.P[i], want)
		}
	}
}

// TestHardFilms: Learn returns a result for every difficult film.
func TestHardFilms(t *testing.T) {
	flat := func(v float32) (f Picture) {
		f = NewPicture(64, 64)
		for i := range f.P {
			f.P[i] = v
		}
		return f
	}
	film, _ := scene(96, 96, 2, [][2]float64{{40, 50}}, gauss(80, 3), rand.New(rand.NewPCG(13, 14)))
	for name, c := range map[string]struct {
		film []Picture
		none bool
	}{
		"constant":   {[]Picture{flat(7), flat(7), flat(7)}, true},
		"saturated":  {[]Picture{flat(65535)}, true},
		"one frame":  {film[:1], false},
		"two frames": {film, false},
	} {
		f := learnt(t, c.film)
		if (f.Kind == Nothing) != c.none || f.String() == "" {
			t.Errorf("%s: %v", name, f)
		}
	}
	if _, err := Learn(Sample{Frames: []Picture{NewPicture(5, 5)}, At: []int{0}}); err == nil {
		t.Error("a picture of 5 x 5 pixels was accepted")
	}
}

// TestChange: a film whose objects disappear, and a film whose objects are replaced, are doubtful with a reason. A film with one object that is sometimes
// absent is not doubtful.
func TestChange(t *testing.T) {
	many := [][2]float64{{25, 30}, {70, 25}, {110, 35}, {30, 75}, {75, 70}, {115, 80}}
	draw := func(frames int, at [][2]float64, look func(dx, dy float64) float64) []Picture {
		film, _ := scene(140, 140, frames, at, look, rand.New(rand.NewPCG(15, uint64(frames+len(at)))))
		return film
	}
	beads, empty, discs := draw(20, many, gauss(60, 1.8)), draw(19, nil, nil), draw(21, many[:4], gauss(60, 6))
	for name, c := range map[string]struct {
		film []Picture
		want Level
	}{
		"beads":                    {beads, Good},
		"beads, nothing":           {slices.Concat(beads, empty), Doubtful},
		"beads, nothing, discs":    {slices.Concat(beads, empty, discs), Doubtful},
		"one disc, then nothing":   {slices.Concat(draw(30, many[:1], gauss(60, 6)), empty[:10]), Good},
		"beads, with empty frames": {slices.Concat(beads, empty[:1], beads), Good},
	} {
		f := learnt(t, c.film)
		if f.Level() != c.want || (f.Lasting < 1) != (c.want == Doubtful) {
			t.Errorf("%s: %v, in %.2f of the frames", name, f, f.Lasting)
		}
	}
	for _, c := range []struct {
		count         float64
		found, frames uint64
		want          bool
	}{{1, 50, 100, true}, {1, 49, 100, false}, {5, 80, 100, true}, {5, 79, 100, false}} {
		if f := (&Finder{Count: c.count}); f.Confirmed(c.found, c.frames) != c.want {
			t.Errorf("%g objects in %d of %d frames: expected %v", c.count, c.found, c.frames, c.want)
		}
	}
}

// TestSampler: a Sampler keeps evenly spaced pairs for every length of the film, within its bound.
func TestSampler(t *testing.T) {
	for _, n := range []int{1, 2, 7, 20, 41, 300, 1000} {
		var s Sampler
		for k := range n {
			f := NewPicture(8, 8)
			f.P[0] = float32(k)
			if err := s.Add(f); err != nil {
				t.Fatal(err)
			}
		}
		in := s.Sample()
		if len(in.Frames) == 0 || len(in.Frames) > 2*looks || in.At[0] != 0 || n > 1 && in.At[len(in.At)-1] < n/2 {
			t.Fatalf("%d frames: %v", n, in.At)
		}
		pairs := 0
		for i, k := range in.At {
			if int(in.Frames[i].P[0]) != k {
				t.Fatalf("%d frames: frame %g stands for %d", n, in.Frames[i].P[0], k)
			}
			if i > 0 && k == in.At[i-1]+1 {
				pairs++
			}
		}
		if n > 1 && pairs == 0 {
			t.Errorf("%d frames: no pair in %v", n, in.At)
		}
	}
	var s Sampler
	if s.Add(NewPicture(8, 8)) != nil || s.Add(NewPicture(9, 8)) == nil {
		t.Error("a frame of another size was accepted")
	}
}
