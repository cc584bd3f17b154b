package illumination

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/suite"
)

// lamp is the light of one frame as a function of its number.
type lamp func(k int, odd bool) Light

// scene draws n thumbnails of a still texture under a lamp, with noise of sd 1 and a moving disc of 60 counts that covers a twentieth of the picture.
func scene(n int, seed uint64, l lamp) (thumbnails [][]float32, background []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range Size {
		background = append(background, 200+20*rng.NormFloat64())
	}
	x, y := 0.0, 0.0
	for k := range n {
		x, y = 0.9*x+0.08*rng.NormFloat64(), 0.9*y+0.08*rng.NormFloat64()
		t := make([]float32, Size)
		for box := range t {
			bx, by := place(box)
			light := l(k, box >= Size/2)
			v := light.Gain*background[box] + light.Added(bx, by) + rng.NormFloat64()
			if math.Hypot(bx-x, by-y) < 0.13 {
				v += 60
			}
			t[box] = float32(v)
		}
		thumbnails = append(thumbnails, t)
	}
	return thumbnails, background
}

// flicker returns a random number for each frame.
func flicker(k int) float64 { return rand.New(rand.NewPCG(uint64(k), 9)).NormFloat64() }

func steady(int, bool) Light { return Light{Gain: 1} }

// TestChoose: the form that made the film is chosen, and its light is correct within about five standard errors. For 1024 boxes of noise 1 on a texture of sd
// 20, the standard error of a gain is 1/(20·32) = 1.6e-3, of a slope 1/(0.29·32) = 0.11, doubled for the reference, and of the brightness 0.03 plus the disc's
// influence.
func TestChoose(t *testing.T) {
	suite.Long(t)
	for _, test := range []struct {
		name string
		form *Form
		lamp lamp
	}{
		{"steady", nil, steady},
		{"offset", &Form{}, func(k int, _ bool) Light { return Light{1, 10 * flicker(k), 0, 0} }},
		{"gain", &Form{Gain: true}, func(k int, _ bool) Light { return Light{1 + 0.1*flicker(k), 5 * flicker(k+1000), 0, 0} }},
		{"step", &Form{Gain: true}, func(k int, _ bool) Light { return Light{1 + 0.5*float64(k/40), 0, 0, 0} }},
		{"slope", &Form{Plane: true}, func(k int, _ bool) Light {
			return Light{1, 0, 30 * math.Sin(0.1*float64(k)), 30 * math.Cos(0.1*float64(k))}
		}},
		{"rows", &Form{Gain: true, Interlaced: true}, func(k int, odd bool) Light {
			if odd || k%2 == 0 {
				return Light{Gain: 1}
			}
			return Light{Gain: 1.1}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			thumbnails, _ := scene(80, 3, test.lamp)
			c := Choose(thumbnails)
			if test.form == nil {
				if c.Model != nil {
					t.Errorf("found %v, %.2f nats", c.Model.Form, c.Nats)
				}
				return
			}
			if c.Model == nil || c.Model.Form != *test.form {
				t.Fatalf("found %+v", c)
			}
			checkLight(t, c.Model, test.lamp)
		})
	}
}

// TestChangesAsAWhole: in a picture that gradually becomes another one, everything changes, slightly as under a lamp, but no lamp is found.
func TestChangesAsAWhole(t *testing.T) {
	suite.Calculation(t)
	one, from := scene(80, 3, steady)
	to, _ := scene(1, 8, steady)
	z := 0.0
	for k, thumbnail := range one {
		z = 0.97*z + 0.25*flicker(k)
		for box := range thumbnail {
			thumbnail[box] += float32(z * (4 + 0.2*(from[box]-200) + float64(to[0][box]) - 200)) // the smaller part of the change is like a lamp's
		}
	}
	if c := Choose(one); c.Model != nil {
		t.Errorf("found %v, %.1f nats", c.Model.Form, c.Nats)
	}
}

// checkLight compares ratios and differences of light between frames, because the reference contains an unknown part of the light.
func checkLight(t *testing.T, m *Model, l lamp) {
	t.Helper()
	thumbnails, _ := scene(60, 3, l)
	f := NewFitter(m)
	first, spread := f.Fit(thumbnails[0])
	if spread < 0.7 || spread > 1.5 { // noise of sd 1, and the noise of the reference
		t.Errorf("%.2f is left of a frame", spread)
	}
	const mean = 200
	var seen float64
	for _, v := range m.Reference {
		seen += float64(v) / Size
	}
	for k := 1; k < len(thumbnails); k++ {
		light, _ := f.Fit(thumbnails[k])
		for odd := range light {
			a, b, one, two := l(0, odd == 1), l(k, odd == 1), first[odd], light[odd]
			if want, got := b.Gain/a.Gain, two.Gain/one.Gain; math.Abs(got-want) > 5*2e-3*want {
				t.Errorf("frame %d: gain %.4f, expected %.4f", k, got, want)
			}
			if want, got := b.Added(0, 0)+b.Gain*mean-a.Added(0, 0)-a.Gain*mean, two.Added(0, 0)+two.Gain*seen-one.Added(0, 0)-one.Gain*seen; math.Abs(got-want) > 1 { // the mean of the texture is 200 ± 0.6
				t.Errorf("frame %d: %.2f brighter, expected %.2f", k, got, want)
			}
			if want, got := b.AlongX-a.AlongX, two.AlongX-one.AlongX; math.Abs(got-want) > 1 {
				t.Errorf("frame %d: slope %.2f, expected %.2f", k, got, want)
			}
		}
	}
}

// TestFitAllocates: a fit allocates no memory per frame.
func TestFitAllocates(t *testing.T) {
	thumbnails, _ := scene(30, 4, steady)
	f := NewFitter(learn(thumbnails, Form{Gain: true, Plane: true, Interlaced: true}))
	if n := testing.AllocsPerRun(20, func() { f.Fit(thumbnails[7]) }); n > 0 {
		t.Errorf("%g allocations a frame", n)
	}
}

// TestFlatReference: if the reference has no texture, a gain cannot be distinguished from an offset, and stays 1.
func TestFlatReference(t *testing.T) {
	m := &Model{Form: Form{Gain: true, Plane: true}, Reference: make([]float32, Size)}
	one := make([]float32, Size)
	for i := range one {
		one[i] = 5
	}
	light, spread := NewFitter(m).Fit(one)
	if l := light[0]; l.Gain != 1 || math.Abs(l.Offset-5) > 1e-4 || spread > 1e-4 { // the tolerance covers undecided, a millionth
		t.Errorf("%+v, %g left", l, spread)
	}
}

// TestThumbnail: boxes are the means of their pixels, even rows first, for any shape of frame.
func TestThumbnail(t *testing.T) {
	for _, shape := range [][3]int{{32, 32, 1}, {33, 47, 1}, {120, 121, 3}, {65, 40, 1}} {
		rows, columns, channels := shape[0], shape[1], shape[2]
		small, err := NewThumbnail(rows, columns, channels)
		if err != nil {
			t.Fatal(err)
		}
		pixels := make([]float32, rows*columns*channels)
		for i := range pixels { // rises by 1 per column, 100 per row, and 1e5 in odd rows
			r := i / (columns * channels)
			pixels[i] = float32(i/channels%columns + 100*r + 100000*(r%2))
		}
		boxes := make([]float32, Size)
		small.Of(boxes, pixels)
		for i, v := range boxes {
			if (v >= 100000) != (i >= Size/2) {
				t.Fatalf("%v: box %d has %g", shape, i, v)
			}
		}
		var mean, want float64
		for i, v := range boxes {
			mean += float64(v) * float64(small.counts[i]) / float64(len(pixels))
		}
		for _, v := range pixels {
			want += float64(v) / float64(len(pixels))
		}
		if math.Abs(mean/want-1) > 1e-5 { // float32 sums of a few dozen pixels
			t.Errorf("%v: mean %g, expected %g", shape, mean, want)
		}
	}
	if _, err := NewThumbnail(31, 100, 1); err == nil {
		t.Error("31 rows were accepted")
	}
}

// BenchmarkFit measures the fit of one frame's light, with the largest number of terms.
func BenchmarkFit(b *testing.B) {
	thumbnails, _ := scene(30, 4, steady)
	for _, form := range []Form{{}, {Gain: true}, {Gain: true, Plane: true, Interlaced: true}} {
		b.Run(form.String(), func(b *testing.B) {
			f := NewFitter(learn(thumbnails, form))
			for i := 0; b.Loop(); i++ {
				f.Fit(thumbnails[i%len(thumbnails)])
			}
		})
	}
}
