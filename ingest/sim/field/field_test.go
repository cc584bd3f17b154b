package field

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestPeak: a spot in the middle of a pixel has SNR (peak - background)/√peak.
func TestPeak(t *testing.T) {
	for _, snr := range []float64{1, 2, 4, 7} {
		f, err := New(Options{Scenario: Vesicle, SNR: snr, Width: 64, Height: 64, Frames: 1, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.optics.peak / math.Sqrt(f.optics.peak+f.o.Background); math.Abs(got-snr) > 1e-9 {
			t.Errorf("SNR %g: the peak has %g", snr, got)
		}
	}
}

// TestScenarios: the density stays constant within a tenth over 200 frames. Tracks lie inside the picture, have at least two frames, and move according to
// their scenario.
func TestScenarios(t *testing.T) {
	for _, s := range Scenarios {
		f, err := New(Options{Scenario: s, Density: 200, SNR: 4, Width: 512, Height: 512, Frames: 200, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		places, steps, square := 0, 0, 0.0
		for _, track := range f.Tracks {
			if len(track) < 2 {
				t.Fatalf("%s: a track of %d frames", s, len(track))
			}
			places += len(track)
			for i, p := range track {
				if !(p.X >= 0 && p.X < 511 && p.Y >= 0 && p.Y < 511) || i > 0 && p.Frame != track[i-1].Frame+1 {
					t.Fatalf("%s: %+v after %+v", s, p, track[max(i-1, 0)])
				}
				if i > 0 {
					square += math.Pow(p.X-track[i-1].X, 2) + math.Pow(p.Y-track[i-1].Y, 2)
					steps++
				}
			}
		}
		// objects that leave are not replaced; directed ones lose a fifth
		if mean := float64(places) / 200; mean < 140 || mean > 215 {
			t.Errorf("%s: %.0f objects a frame, expected about 200", s, mean)
		}
		// mean square steps, px²: 2 E sd² = 2·13/3; half and half of 2 and E v² = 28/3; E v² = 13; 2 and a little of the spring; 2
		want := map[Scenario]float64{Vesicle: 26.0 / 3, Receptor: 17.0 / 3, Directed: 13, Trapped: 2.1, Bleaching: 2, Blinking: 2, Crowded: 2, Focus: 2}[s]
		if got := square / float64(steps); math.Abs(got/want-1) > 0.15 {
			t.Errorf("%s: a mean square step of %.2f px², expected %.2f", s, got, want)
		}
	}
}

// TestDraw: a film without objects has the mean of its background, within 5 standard errors, and the variance of Poisson noise. The same seed draws the same
// film.
func TestDraw(t *testing.T) {
	draw := func() []uint16 {
		f, err := New(Options{Scenario: Vesicle, Density: 20, SNR: 4, Width: 200, Height: 100, Frames: 3, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		out := make([]uint16, 200*100)
		for frame := range 3 {
			f.Draw(frame, out)
		}
		return out
	}
	if !reflect.DeepEqual(draw(), draw()) {
		t.Error("the same seed draws other pictures")
	}
	f, err := New(Options{Scenario: Vesicle, SNR: 4, Width: 200, Height: 100, Frames: 1, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]uint16, 200*100)
	f.Draw(0, out)
	var sum, square float64
	for _, v := range out {
		sum, square = sum+float64(v), square+float64(v)*float64(v)
	}
	n := float64(len(out))
	mean := sum / n
	if variance := square/n - mean*mean; math.Abs(mean-10) > 5*math.Sqrt(10/n) || math.Abs(variance-10) > 5*10*math.Sqrt(2.2/n) {
		t.Errorf("mean %.3f and variance %.3f, expected 10", mean, variance)
	}
}

// TestKept: films for which results were published do not change, to the count.
func TestKept(t *testing.T) {
	for scenario, want := range map[Scenario]uint32{Vesicle: 0x94cf736a, Receptor: 0xd5b8fc6a, Directed: 0xe32ba0cb, Trapped: 0x593b0b92} {
		f, err := New(Options{Scenario: scenario, Density: 30, SNR: 4, Width: 96, Height: 64, Frames: 20, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		counts, sum := make([]uint16, 96*64), crc32.NewIEEE()
		for frame := range 20 {
			f.Draw(frame, counts)
			if err := binary.Write(sum, binary.LittleEndian, counts); err != nil {
				t.Fatal(err)
			}
		}
		if got := sum.Sum32(); got != want {
			t.Errorf("%s: checksum %#08x, expected %#08x: published figures no longer hold", scenario, got, want)
		}
	}
}

// TestRefused: the error for an option out of bounds names it and gives the bounds.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		spoil func(*Options)
		want  string
	}{
		{func(o *Options) { o.Scenario = "worm" }, `scenario "worm" is not known: give one of [vesicle`},
		{func(o *Options) { o.Width = 15 }, "width is 15: give 16 to 4096"},
		{func(o *Options) { o.Height = 4097 }, "height is 4097: give 16 to 4096"},
		{func(o *Options) { o.SNR = 0 }, "snr is 0: give 0.1 to 200"},
		{func(o *Options) { o.SNR = math.NaN() }, "snr is NaN: give"},
		{func(o *Options) { o.SNR = math.Inf(1) }, "snr is +Inf: give"},
		{func(o *Options) { o.Frames = -1 }, "frames is -1: give"},
		{func(o *Options) { o.Frames = 1 << 30 }, "frames is 1.073741824e+09: give"},
		{func(o *Options) { o.Density = -1 }, "density is -1: give 0 to 20000"},
		{func(o *Options) { o.Density = 20_001 }, "density is 20001: give"},
		{func(o *Options) { o.Background = 1001 }, "background is 1001: give 0.01 to 1000"},
		{func(o *Options) { o.SD = 0.1 }, "spread of a point is 0.1: give"},
		{func(o *Options) { o.Life = 0.5 }, "life is 0.5: give"},
	} {
		o := Options{Scenario: Vesicle, Density: 10, SNR: 4, Width: 64, Height: 64, Frames: 10}
		c.spoil(&o)
		_, film := New(o)
		_, stream := NewStream(o)
		for _, err := range []error{film, stream} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v; want an error with %q", o, err, c.want)
			}
		}
	}
	if _, err := New(Options{Scenario: Vesicle, SNR: 4, Width: 64, Height: 64}); err == nil || !strings.Contains(err.Error(), "frames is 0: give 1 to") {
		t.Errorf("a film without end: %v", err)
	}
}
