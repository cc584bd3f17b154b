package field

import (
	"io"
	"math"
	"slices"
	"testing"

	"driftscope/ingest/sim"
)

func stream(t testing.TB, o Options) *Stream {
	t.Helper()
	s, err := NewStream(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// now returns the objects in the frame drawn last.
func (s *Stream) now() (points []Point) {
	for _, life := range s.alive {
		points = append(points, life[s.frame-1-life[0].Frame])
	}
	return points
}

// TestStreamLives: a stream has the same objects as the film with the same options, and ends at the same frame.
func TestStreamLives(t *testing.T) {
	for _, scenario := range Scenarios {
		o := Options{Scenario: scenario, Density: 20, SNR: 4, Width: 64, Height: 48, Frames: 80, Seed: 3}
		f, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		s := stream(t, o)
		var picture sim.Picture
		for frame := range o.Frames {
			truth, err := s.Next(&picture)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.now(), f.At(frame)) {
				t.Fatalf("%s, frame %d: %v; the film has %v", scenario, frame, s.now(), f.At(frame))
			}
			if truth.T != float64(frame)*DT || !truth.Inside || picture.Format != s.Format() || len(picture.U16) != 64*48 {
				t.Fatalf("%s, frame %d: %+v, %+v", scenario, frame, truth, picture.Format)
			}
		}
		if _, err := s.Next(&picture); err != io.EOF {
			t.Errorf("%s: after the last frame %v, expected io.EOF", scenario, err)
		}
	}
}

// TestCounts: the counts of films and streams are Poisson with the mean of background and objects, dim and bright.
func TestCounts(t *testing.T) {
	for _, snr := range []float64{4, 20} {
		counts(t, snr)
	}
}

func counts(t *testing.T, snr float64) {
	const frames, pixels = 100, 64 * 64
	o := Options{Scenario: Focus, Density: 30, SNR: snr, Width: 64, Height: 64, Frames: frames, Seed: 2}
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s, film := stream(t, o), f.Film()
	for name, next := range map[string]func(*sim.Picture) (sim.Truth, error){"film": film.Next, "stream": s.Next} {
		var picture sim.Picture
		residual, photons, chi := 0.0, 0.0, 0.0
		for frame := range frames {
			if _, err := next(&picture); err != nil {
				t.Fatal(err)
			}
			mean := slices.Repeat([]float64{10}, pixels)
			for _, p := range f.At(frame) {
				f.optics.light(p, func(pixel int, photons float64) { mean[pixel] += photons })
			}
			for i, m := range mean {
				d := float64(picture.U16[i]) - m
				residual, photons, chi = residual+d, photons+m, chi+d*d/m
			}
		}
		if math.Abs(residual) > 5*math.Sqrt(photons) {
			t.Errorf("SNR %g, %s: %.0f photons too many of %.0f, expected 0 to 5 standard errors", snr, name, residual, photons)
		}
		// (n - m)²/m has mean 1 and variance 2 + 1/m, at most 2.1
		if got := chi / (frames * pixels); math.Abs(got-1) > 5*math.Sqrt(2.1/(frames*pixels)) {
			t.Errorf("SNR %g, %s: the variance over the mean is %.4f, expected 1", snr, name, got)
		}
	}
}

// TestStreamSeed: the same seed draws the same stream, and another seed a different one.
func TestStreamSeed(t *testing.T) {
	draw := func(seed uint64) []uint16 {
		s := stream(t, Options{Scenario: Crowded, Density: 20, SNR: 4, Width: 65, Height: 33, Seed: seed})
		var picture sim.Picture
		for range 5 {
			if _, err := s.Next(&picture); err != nil {
				t.Fatal(err)
			}
		}
		return picture.U16
	}
	if !slices.Equal(draw(7), draw(7)) || slices.Equal(draw(7), draw(8)) {
		t.Error("the same seed draws other pictures, or another seed the same")
	}
}

// TestStreamWithoutEnd: the memory of an endless stream stays bounded by its objects.
func TestStreamWithoutEnd(t *testing.T) {
	const density = 36
	for _, scenario := range Scenarios {
		s := stream(t, Options{Scenario: scenario, Density: density, SNR: 4, Width: 96, Height: 96, Seed: 1})
		var picture sim.Picture
		frame := func() {
			if _, err := s.Next(&picture); err != nil {
				t.Fatal(err)
			}
		}
		for range 400 {
			frame()
		}
		// fewer than one allocation per frame: only a life longer than all before in its memory allocates, more and more seldom
		if n := testing.AllocsPerRun(200, frame); n != 0 {
			t.Errorf("%s: %g allocations a frame", scenario, n)
		}
		// the number alive is Poisson with a mean of at most 36 and an sd of 6, so 36 more are 6 sd
		if n := len(s.alive) + len(s.spare); n > 2*density || len(s.alive) == 0 {
			t.Errorf("%s: room for %d objects, of which %d are alive", scenario, n, len(s.alive))
		}
	}
}

func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		name    string
		options Options
	}{
		{"vesicle-100", Options{Scenario: Vesicle, Density: 100}},
		{"vesicle-500", Options{Scenario: Vesicle, Density: 500}},
		{"focus-100", Options{Scenario: Focus, Density: 100}},
	} {
		b.Run(c.name, func(b *testing.B) {
			o := c.options
			o.SNR, o.Width, o.Height, o.Seed = 4, 512, 512, 1
			s := stream(b, o)
			var picture sim.Picture
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Next(&picture); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
