package locate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/ingest/sim/field"
)

// drawn describes a picture of spots on a sloping background with Poisson noise, and a camera's offset and gain.
type drawn struct {
	h, w         int
	sd           float64
	offset, gain float64
	background   float64
	slope        float64 // rise of the background over the picture's width
	spots        [][3]float64
}

func (d drawn) picture(rng *rand.Rand) []float32 {
	out := make([]float32, d.h*d.w)
	for i := range out {
		x, y := float64(i%d.w), float64(i/d.w)
		mean := d.background + d.slope*x/float64(d.w)
		for _, s := range d.spots {
			mean += s[2] * math.Exp(-((x-s[0])*(x-s[0])+(y-s[1])*(y-s[1]))/(2*d.sd*d.sd))
		}
		out[i] = float32(d.offset + d.gain*poisson(rng, mean))
	}
	return out
}

func poisson(rng *rand.Rand, mean float64) float64 {
	p, n := math.Exp(-mean), 0.0
	u := rng.Float64()
	for sum := p; u > sum && n < 1000; sum += p {
		n++
		p *= mean / n
	}
	return n
}

func locator(t testing.TB, h, w int, o Options) *Locator {
	t.Helper()
	l, err := New(h, w, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestIsolated: the reported variance of a spot's position is correct, and equals the Cramér-Rao bound. The mean square error over 400 positions agrees with it
// to 4 standard errors, 4·√(2/800). This also holds for a camera with an offset and a gain.
func TestIsolated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		drawn
	}{
		{"wide", drawn{h: 300, w: 300, sd: 3, gain: 1, background: 10}},
		{"camera", drawn{h: 200, w: 200, sd: 1.4, gain: 2.3, offset: 100, background: 10, slope: 5}}, // by chance one spot is longer than the template
		{"photons", drawn{h: 200, w: 200, sd: 1.4, gain: 1, background: 10, slope: 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.drawn
			step := 10 * d.sd
			for y := step; y < float64(d.h)-step; y += step {
				for x := step; x < float64(d.w)-step; x += step {
					d.spots = append(d.spots, [3]float64{x + rng.Float64(), y + rng.Float64(), 40})
				}
			}
			l := locator(t, d.h, d.w, Options{SD: d.sd})
			var square, told, n float64
			for range 1 + 400/len(d.spots) {
				found := l.Locate(nil, d.picture(rng))
				for _, s := range d.spots {
					best, least := Spot{}, math.Inf(1)
					for _, f := range found {
						if r := math.Hypot(f.X-s[0], f.Y-s[1]); r < least {
							best, least = f, r
						}
					}
					if least > 1 {
						t.Fatalf("no spot within 1 px of %v", s)
					}
					square += ((best.X-s[0])*(best.X-s[0]) + (best.Y-s[1])*(best.Y-s[1])) / 2
					told += (best.VarX + best.VarY) / 2
					n++
				}
			}
			if ratio := square / told; math.Abs(ratio-1) > 4*math.Sqrt(1/n) {
				t.Errorf("the mean square error of %g spots is %.2f of the reported variance (sd %.3f px)", n, ratio, math.Sqrt(told/n))
			}
		})
	}
}

// TestPairs: two spots at a distance of 2.2 sds of the template are resolved in nine of ten pictures. A single spot is never split into two with scores above
// 4.
func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	l := locator(t, 64, 64, Options{SD: 1.4})
	count := func(apart float64) (two, more int) {
		for range 100 {
			a := 2 * math.Pi * rng.Float64()
			d := drawn{h: 64, w: 64, sd: 1.4, gain: 1, background: 10, spots: [][3]float64{{32, 32, 60}, {32 + apart*math.Cos(a), 32 + apart*math.Sin(a), 60}}}
			if apart == 0 {
				d.spots = d.spots[:1]
			}
			n := 0
			for _, s := range l.Locate(nil, d.picture(rng)) {
				if s.Score > 4.5 {
					n++
				}
			}
			if n == 2 {
				two++
			} else if n > 2 {
				more++
			}
		}
		return two, more
	}
	if two, more := count(2.2 * 1.4); two < 90 || more > 1 {
		t.Errorf("2.2 sds apart: two spots in %d of 100 pictures, more in %d", two, more)
	}
	if two, more := count(0); two+more > 1 {
		t.Errorf("a single spot was split in %d of 100 pictures", two+more)
	}
}

// TestNothing: in pure noise, the number of maxima above the threshold u is the number for a Gaussian field, (1/2s²) (2π)^(-3/2) u exp(-u²/2) per pixel, to
// within a half. The discrete picture has fewer maxima than the field.
func TestNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	d := drawn{h: 256, w: 256, sd: 1.4, gain: 1, background: 20}
	l := locator(t, d.h, d.w, Options{SD: d.sd})
	found := 0
	const pictures, u = 20, 3.0
	for range pictures {
		for _, s := range l.Locate(nil, d.picture(rng)) {
			if s.Score > u {
				found++
			}
		}
	}
	want := pictures * float64(d.h*d.w) / (2 * d.sd * d.sd) * math.Pow(2*math.Pi, -1.5) * u * math.Exp(-u*u/2)
	if ratio := float64(found) / want; ratio < 0.5 || ratio > 1.5 {
		t.Errorf("%d false spots, theory has %.0f", found, want)
	}
}

// TestStrangePictures: pictures without objects give no spots or few spots inside the picture, and never NaN.
func TestStrangePictures(t *testing.T) {
	const side = 64
	rng := rand.New(rand.NewPCG(7, 8))
	fill := func(value func(i int) float32) []float32 {
		p := make([]float32, side*side)
		for i := range p {
			p[i] = value(i)
		}
		return p
	}
	l := locator(t, side, side, Options{SD: 1.4, Max: 50})
	for name, p := range map[string][]float32{
		"black":     fill(func(int) float32 { return 0 }),
		"saturated": fill(func(int) float32 { return 65535 }),
		"one pixel": fill(func(i int) float32 { return map[bool]float32{true: 65535}[i == 2000] }),
		"a step":    fill(func(i int) float32 { return map[bool]float32{true: 1000}[i%side > 30] }),
		"huge":      fill(func(int) float32 { return float32(1e30 * rng.NormFloat64()) }),
		"noise":     fill(func(int) float32 { return float32(rng.NormFloat64()) }),
	} {
		found := l.Locate(nil, p)
		if len(found) > 50 {
			t.Errorf("%s: %d spots of at most 50", name, len(found))
		}
		for _, s := range found {
			if !(s.X >= 0 && s.X < side && s.Y >= 0 && s.Y < side && s.VarX > 0 && s.VarY > 0) || math.IsInf(s.Amplitude, 0) || math.IsNaN(s.Score+s.Amplitude) {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// TestWideSpotsAreFewer: in a picture full of wide spots, the bound on the templates' pixels limits the number of spots, and the dropped spots are counted.
func TestWideSpotsAreFewer(t *testing.T) {
	l := locator(t, 1024, 1024, Options{SD: 16, Max: MostMax})
	if l.o.Max != 974 {
		t.Errorf("at most %d spots of 16 px, expected 974: 2^23 pixels in squares of 5.8 sds", l.o.Max)
	}
	if l = locator(t, 64, 64, Options{SD: 1.4}); l.o.Max != DefaultMax {
		t.Errorf("at most %d narrow spots, expected %d", l.o.Max, DefaultMax)
	}
}

func TestOptionsRefused(t *testing.T) {
	for name, o := range map[string]Options{"narrow": {SD: 0.1}, "wide": {SD: 100}, "nan": {SD: math.NaN()}, "threshold": {SD: 1, Threshold: -1}, "max": {SD: 1, Max: -1}} {
		if _, err := New(100, 100, o); err == nil {
			t.Errorf("%s: %+v was accepted", name, o)
		}
	}
	if _, err := New(8, 100, Options{SD: 2}); err == nil {
		t.Error("a picture smaller than the template was accepted")
	}
}

// TestWidth: from a guess that is wrong by up to a factor of two, Width finds the sd to 15 %, for spots of any width. Such an error reduces a score by 1 %
// (2ss₀/(s² + s₀²)).
func TestWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, c := range []struct {
		sd, guess float64
		spots     int
	}{{0.9, 0.8, 30}, {1.4, 2.8, 30}, {2.5, 1.6, 30}, {4, 3.2, 30}, {1.4, 0.8, 150}} { // of 150 spots every fourth has another within 4 sds; these have the highest and widest maxima
		d := drawn{h: 256, w: 256, sd: c.sd, gain: 1, background: 10}
		for range c.spots {
			d.spots = append(d.spots, [3]float64{20 + 216*rng.Float64(), 20 + 216*rng.Float64(), 60})
		}
		if got := Width(d.h, d.w, d.picture(rng), c.guess, false); math.Abs(got/c.sd-1) > 0.15 {
			t.Errorf("sd %g, %d spots: found %g", c.sd, c.spots, got)
		}
	}
	if got := Width(256, 256, make([]float32, 256*256), 100, true); !(got >= narrowest && got <= Widest(256, 256)) {
		t.Errorf("a picture of one level: %g", got)
	}
}

// TestLocateAllocates: after the first picture, Locate allocates nothing.
func TestLocateAllocates(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	d := drawn{h: 128, w: 128, sd: 1.4, gain: 1, background: 10}
	for range 60 {
		d.spots = append(d.spots, [3]float64{128 * rng.Float64(), 128 * rng.Float64(), 40})
	}
	p := d.picture(rng)
	l := locator(t, d.h, d.w, Options{SD: d.sd})
	spots := l.Locate(nil, p)
	if n := testing.AllocsPerRun(5, func() { spots = l.Locate(spots[:0], p) }); n > 0 {
		t.Errorf("%g allocations a picture", n)
	}
}

// BenchmarkLocate locates the objects of simulated fields at SNR 4.
func BenchmarkLocate(b *testing.B) {
	for _, c := range []struct{ objects, side int }{{100, 512}, {500, 512}, {2000, 512}, {2000, 2048}} {
		b.Run(fmt.Sprintf("%d_in_%d", c.objects, c.side), func(b *testing.B) {
			const frames = 4
			f, err := field.New(field.Options{Scenario: field.Vesicle, Density: c.objects, SNR: 4, Width: c.side, Height: c.side, Frames: frames, Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			l := locator(b, c.side, c.side, Options{SD: 1.4})
			var pictures [frames][]float32
			var spots []Spot
			counts := make([]uint16, c.side*c.side)
			for k := range pictures {
				f.Draw(k, counts)
				pictures[k] = make([]float32, len(counts))
				for i, v := range counts {
					pictures[k][i] = float32(v)
				}
				spots = l.Locate(spots[:0], pictures[k])
			}
			b.ReportAllocs()
			for k := 0; b.Loop(); k++ {
				spots = l.Locate(spots[:0], pictures[k%frames])
			}
		})
	}
}
