package sim

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// At a frame's own latents, Expect returns the frame without noise. Calling Expect, at these latents or others, does not change the film.
func TestExpectIsThePicture(t *testing.T) {
	suite.Calculation(t)
	for _, name := range Names() {
		o := Options{Frames: 2, Seed: 5}
		asked, alone := scene(t, name, o), scene(t, name, o)
		clean := alone
		if bare := strings.TrimSuffix(strings.TrimSuffix(name, "-normal"), "-student"); bare != name {
			clean = scene(t, bare, o)
		}
		var a, b, c Picture
		var mean []float64
		for k := range o.Frames {
			truth, err := asked.Next(&a)
			_, also := alone.Next(&b)
			if err != nil || also != nil {
				t.Fatal(name, err, also)
			}
			if c = b; clean != alone {
				c = Picture{}
				if _, err := clean.Next(&c); err != nil {
					t.Fatal(name, err)
				}
			}
			if !slices.Equal(a.U16, b.U16) || !bytes.Equal(bits(a.F32), bits(b.F32)) {
				t.Fatalf("%s, frame %d: asking what is expected changed the film", name, k)
			}
			shape, _ := asked.Shape()
			var inside bool
			if mean, inside = asked.Expect(mean, truth.Z, shape); inside != truth.Inside {
				t.Errorf("%s, frame %d: inside is %t, of the frame %t", name, k, inside, truth.Inside)
			}
			for i, v := range c.F32 {
				if mean[i] != float64(v) {
					t.Fatalf("%s, frame %d: value %d is expected to be %g, without noise it is %g", name, k, i, mean[i], v)
				}
			}
			for i, v := range asked.Information(nil, mean) {
				if !(v >= 0) {
					t.Fatalf("%s, frame %d: value %d of %g holds the information %g", name, k, i, mean[i], v)
				}
			}
			asked.Expect(nil, slices.Repeat([]float64{0.01}, len(truth.Z)), make([]float64, len(shape)))
		}
		if _, err := asked.Next(&a); err != io.EOF {
			t.Errorf("%s: found %v after the last frame", name, err)
		}
	}
}

func scene(t *testing.T, name string, o Options) *Scene {
	t.Helper()
	s, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bits returns the bytes of values, which also distinguish NaNs.
func bits(values []float32) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// Molecules light the pixels with the expected number of photoelectrons. The mean over many exposures of a patch differs only by noise: the sum of squares over
// variances is the number of pixels, within 6 of its standard deviations √(2 pixels).
func TestExpectedPhotoelectrons(t *testing.T) {
	suite.Long(t)
	const exposures = 400
	for _, name := range []string{"molecule", "dna-0"} {
		s := scene(t, name, Options{Frames: 1, Seed: 2})
		var p Picture
		truth, err := s.Next(&p)
		if err != nil {
			t.Fatal(err)
		}
		shape, _ := s.Shape()
		mean, _ := s.Expect(nil, truth.Z, shape)
		x, y := cameraSide/2+pxPerUM*truth.Z[0], cameraSide/2+pxPerUM*truth.Z[1]
		var b *backdrop
		var corner [2]int
		var expose func()
		switch d := s.draw.(type) {
		case *molecule:
			b, corner, expose = d.backdrop, d.corner, func() { d.drawCoil(p.U16, x, y, coilPeak) }
		case *dna:
			b, corner, expose = d.backdrop, d.corner, func() { d.flash(p.U16, x, y) }
		}
		width := int(math.Sqrt(float64(len(mean))))
		seen := make([]float64, len(mean))
		for range exposures {
			b.draw(p.U16)
			expose()
			for k := range seen {
				counts := float64(p.U16[(corner[1]+k/width)*cameraSide+corner[0]+k%width])
				seen[k] += (counts - b.camera.offset) / b.camera.gain / exposures
			}
		}
		squares := 0.0
		for k, m := range mean {
			variance := (2*m + math.Pow(b.camera.read/b.camera.gain, 2)) / exposures
			squares += (seen[k] - m) * (seen[k] - m) / variance
		}
		if n := float64(len(mean)); math.Abs(squares-n) > 6*math.Sqrt(2*n) {
			t.Errorf("%s: the squared distances are %g variances of %g pixels together", name, squares, n)
		}
	}
}

// The information about the mean under noise of density f is ∫ f'²/f, here computed by sums with an error of 1e-6.
func TestNoiseInformation(t *testing.T) {
	densities := map[string]func(x float64) float64{
		"normal":  func(x float64) float64 { return math.Exp(-x*x/8) / math.Sqrt(8*math.Pi) },
		"student": func(x float64) float64 { return 2 / (math.Pi * math.Sqrt(3) * math.Pow(1+x*x/3, 2)) },
	}
	for _, n := range noises {
		f, sum := densities[n.name], 0.0
		const step, far = 1e-3, 60.0
		for x := -far; x <= far; x += step {
			slope := (f(x+step) - f(x-step)) / (2 * step)
			sum += slope * slope / max(f(x), math.SmallestNonzeroFloat64) * step
		}
		if math.Abs(sum-n.information) > 1e-5*n.information {
			t.Errorf("%s: found %.6f, its density has %.6f", n.name, n.information, sum)
		}
	}
}

// A camera without readout noise has a known density: with y = x/gain, P(0) = exp(-λ) and
//
//	f(y) = exp(-λ-y) √(λ/y) I₁(2√(λy))
//
// (Basden, Haniff and Mackay 2003). The camera's readout noise, here a hundredth of its gain, hides some of the information whether there was an electron.
func TestCameraInformation(t *testing.T) {
	density := func(y, lambda float64) float64 {
		sum, term := 0.0, lambda*math.Exp(-lambda-y) // λᵏ⁺¹yᵏ/(k!(k+1)!)
		for k := 1.0; term > 1e-18*sum || sum == 0; k++ {
			sum += term
			term *= lambda * y / (k * (k + 1))
		}
		return sum
	}
	for _, lambda := range []float64{0.3, 2, 10, 40} {
		want := math.Exp(-lambda)
		const h, step = 1e-4, 2e-3
		for y := step / 2; y < lambda+12*math.Sqrt(2*lambda+1)+10; y += step {
			slope := (density(y, lambda+h) - density(y, lambda-h)) / (2 * h)
			want += slope * slope / density(y, lambda) * step
		}
		got := emccd{gain: 100, read: 1}.information(lambda)
		if got > want*1.001 || got < want*0.97 {
			t.Errorf("%g photoelectrons: found %.5f, without readout noise %.5f; expected that or 3 %% less", lambda, got, want)
		}
		if noisier := (emccd{gain: 100, read: 60}).information(lambda); noisier > got {
			t.Errorf("%g photoelectrons: readout noise of 60 counts leaves %.5f, of 1 count %.5f", lambda, noisier, got)
		}
	}
	// Far above the readout noise the law is nearly normal with variance 2λ. Its width, which depends on λ, adds at most 2 % to the information 1/(2λ).
	const many = 150.0
	if got := (emccd{offset: 480, gain: 20, read: 6}).information(many) * 2 * many; got < 1 || got > 1.02 {
		t.Errorf("%g photoelectrons hold %g times what a normal law of their variance does", many, got)
	}
	// Interpolated values agree with the camera's information to 1 %.
	b := &backdrop{camera: emccd{offset: 480, gain: 20, read: 6}}
	means := []float64{6, 7.3, 11, 57, 0}
	kept := make([]float64, len(means))
	b.information(kept, means)
	for i, m := range means[:4] {
		if want := b.camera.information(m); math.Abs(kept[i]-want) > 0.01*want {
			t.Errorf("%g photoelectrons: kept %g, the camera has %g", m, kept[i], want)
		}
	}
	if kept[4] != 0 {
		t.Errorf("a pixel beyond the picture holds %g", kept[4])
	}
}

// Among three channels rounded to 8 bits, equal ones count once.
func TestRounded(t *testing.T) {
	const once = 12 * 255 * 255
	got := make([]float64, 9)
	rounded(got, []float64{0.2, 0.3, 0.4, 0.3, 0.3, 0.3, 0, 0.7, 0.7}, 3)
	if want := []float64{once, once, once, once, 0, 0, once, once, 0}; !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}
