//go:build cgo

package field

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/infer/sdevae/video"
)

// light returns a picture with a Gaussian at (x, y) on a uniform background.
func light(w, h int, x, y, sd, amplitude, ground float64) *Pixels {
	p := &Pixels{make([]float32, w*h), h, w}
	for i := range p.Values {
		dx, dy := float64(i%w)-x, float64(i/w)-y
		p.Values[i] = float32(ground + amplitude*math.Exp(-(dx*dx+dy*dy)/(2*sd*sd)))
	}
	return p
}

// farthest returns the largest difference between the pixels of two squares.
func farthest(a, b []float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

func see(t *testing.T, l Look, p *Pixels, x, y float64) []float64 {
	t.Helper()
	z := make([]float64, l.Latents())
	if err := l.See(z, nil, p, x, y); err != nil {
		t.Fatal(err)
	}
	return z
}

// TestSquare: an object's square does not depend on its position, except for the error of linear interpolation in a Gaussian of 2 px (its second derivative
// over 8, 3 % of the height per axis). It depends neither on polarity nor on the background, and at a coarser scale it equals the square of a smaller object.
func TestSquare(t *testing.T) {
	const height = 50.0
	whole := see(t, NewSquare(16, 1, false), light(64, 64, 31.5, 31.5, 2, height, 10), 31.5, 31.5)
	for name, c := range map[string]struct {
		square *Square
		p      *Pixels
		x, y   float64
		off    float64 // tolerance as a fraction of the height
	}{
		"between pixels":     {NewSquare(16, 1, false), light(64, 64, 30.2, 28.9, 2, height, 10), 30.2, 28.9, 0.065},
		"another ground":     {NewSquare(16, 1, false), light(64, 64, 31.5, 31.5, 2, height, 900), 31.5, 31.5, 1e-5},
		"dark":               {NewSquare(16, 1, true), light(64, 64, 31.5, 31.5, 2, -height, 100), 31.5, 31.5, 1e-5},
		"twice as large":     {NewSquare(16, 2, false), light(64, 64, 31.5, 31.5, 4, height, 10), 31.5, 31.5, 0.065},
		"two and a half":     {NewSquare(16, 2.5, false), light(64, 64, 31.5, 31.5, 5, height, 10), 31.5, 31.5, 0.065},
		"inside the widest":  {NewSquare(16, 1, false), light(200, 64, 99.5, 31.5, 2, height, 10), 99.5, 31.5, 1e-5},
		"beyond the picture": {NewSquare(16, 1, false), light(24, 24, 20, 20, 2, height, 10), 20, 20, 0.35}, // 3 px from the edge, where the height is exp(-9/8)
	} {
		if off := farthest(see(t, c.square, c.p, c.x, c.y), whole); off > c.off*height {
			t.Errorf("%s: found a difference of %.2f of %.0f grey levels", name, off, height)
		}
	}
	for _, corner := range [][2]float64{{0, 0}, {63, 63}, {-3, 70}} { // no pixel beyond the picture is read
		see(t, NewSquare(32, 3, false), light(64, 64, 5, 5, 2, height, 10), corner[0], corner[1])
	}
}

// TestAround: a neighbour on a third of the border does not change the median, but neighbours on most of it do.
func TestAround(t *testing.T) {
	square := make([]float32, 16*16)
	for i := range 16 {
		square[i] = 100
	}
	if v := Around(square, 16, nil); v != 0 {
		t.Errorf("one edge of four is bright: found %g", v)
	}
	for i := range 16 {
		square[16*i], square[16*i+15] = 100, 100
	}
	if v := Around(square, 16, nil); v != 100 {
		t.Errorf("three edges of four are bright: found %g", v)
	}
}

// learnt returns a briefly trained model of objects, for squares of the given side.
func learnt(t testing.TB, side int) *infer.Model {
	t.Helper()
	clip, rng := &video.Clip{Channels: 1, Height: side, Width: side}, rand.New(rand.NewPCG(1, 2))
	width := 2.0
	for i := range 60 {
		width = min(max(width+0.2*rng.NormFloat64(), 1), 3)
		for _, v := range light(side, side, float64(side-1)/2, float64(side-1)/2, width, 0.8, 0.1).Values {
			clip.Pixels = append(clip.Pixels, min(max(v+0.01*float32(rng.NormFloat64()), 0), 1))
		}
		clip.Times, clip.Trajectory = append(clip.Times, float64(i)), append(clip.Trajectory, 0)
	}
	result, err := sdevae.Train(t.Context(), clip, sdevae.Config{Latent: 2, Seed: 1, Tau: sdevae.TauOf(clip), Steps: 40, Restarts: 1, SpriteSteps: -1, SyntheticSteps: -1, ReinitSteps: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Model.Close()
	export, err := result.Export(clip, card.Card{Objects: &card.Objects{Template: 2, Scale: 1, Low: -10, High: 60}, Training: card.Training{Frames: "0:60"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := infer.Parse("objects.onnx", export.File)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAppearance: an object's latents do not depend on its position, up to the error of the interpolation (a tenth of the latents' spread). They change if the
// object is wider. After the first object, See allocates nothing.
func TestAppearance(t *testing.T) {
	m := learnt(t, 16)
	a, err := NewAppearance(m)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	of := func(p *Pixels, x, y float64) (z, sd []float64) {
		z, sd = make([]float64, 2), make([]float64, 2)
		if err := a.See(z, sd, p, x, y); err != nil {
			t.Fatal(err)
		}
		return z, sd
	}
	narrow, sd := of(light(64, 64, 30.5, 30.5, 1.5, 50, 100), 30.5, 30.5)
	elsewhere, _ := of(light(64, 64, 20, 41, 1.5, 50, 300), 20, 41)
	wide, _ := of(light(64, 64, 30.5, 30.5, 2.8, 50, 100), 30.5, 30.5)
	if spread := max(m.Card.SD[0], m.Card.SD[1]); farthest(narrow, elsewhere) > 0.5*spread || farthest(narrow, wide) < spread {
		t.Errorf("narrow %v, elsewhere %v, wide %v; the latents' sds are %v", narrow, elsewhere, wide, m.Card.SD)
	}
	for _, v := range sd {
		if !(v > 0) {
			t.Errorf("standard deviations %v", sd)
		}
	}
	p, z := light(64, 64, 30, 30, 2, 50, 10), make([]float64, 2)
	if n := testing.AllocsPerRun(20, func() { a.See(z, sd, p, 30.3, 29.8) }); n > 0 {
		t.Errorf("%g allocations an object", n)
	}
	if err := a.See(z[:1], sd, p, 30, 30); err == nil {
		t.Error("space for one of two latents was accepted")
	}
}

// BenchmarkAppearance computes one object's latents, for the smallest and for the widest square.
func BenchmarkAppearance(b *testing.B) {
	for name, side := range map[string]int{"16x16": 16, "32x32": 32} {
		b.Run(name, func(b *testing.B) {
			a, err := NewAppearance(learnt(b, side))
			if err != nil {
				b.Fatal(err)
			}
			defer a.Close()
			p, z, sd := light(512, 512, 255.3, 255.8, 2, 50, 10), make([]float64, 2), make([]float64, 2)
			for b.Loop() {
				if err := a.See(z, sd, p, 255.3, 255.8); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
