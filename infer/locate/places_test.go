package locate

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/infer/locate/kernel"
	"driftscope/ingest/sim/field"
)

// with sets the lanes of a locator.
func with(l *Locator, k kernel.Lanes) *Locator {
	l.lanes, l.background.lanes, l.meter.lanes = k, k, k
	return l
}

// simulated returns a frame of 100 objects in 256x256 pixels.
func simulated(t *testing.T, scenario field.Scenario, snr float64) []float32 {
	t.Helper()
	f, err := field.New(field.Options{Scenario: scenario, Density: 100, SNR: snr, Width: 256, Height: 256, Frames: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	counts, p := make([]uint16, 256*256), make([]float32, 256*256)
	f.Draw(0, counts)
	for i, v := range counts {
		p[i] = float32(v)
	}
	return p
}

// TestPlaces: with any lanes and in Go, all positions equal those recorded before the kernels were written, and all lanes give the same bits. The order of
// summation moves a position by about 1e-7 px, or ten times more for a faint spot beside another. So 99 of 100 are within 1e-6 px, and all within 1e-5 px.
func TestPlaces(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "places.txt"))
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string][][2]float64{}
	name := ""
	for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
		var x, y float64
		if _, err := fmt.Sscanf(lines.Text(), "%f,%f", &x, &y); err != nil {
			name = lines.Text()
			continue
		}
		recorded[name] = append(recorded[name], [2]float64{x, y})
	}
	for _, c := range []struct {
		scenario field.Scenario
		snr      float64
	}{{field.Vesicle, 4}, {field.Receptor, 2}, {field.Directed, 7}} {
		name := fmt.Sprintf("%s %g", c.scenario, c.snr)
		want, picture := recorded[name], simulated(t, c.scenario, c.snr)
		if len(want) < 90 {
			t.Fatalf("%s: %d positions were recorded, expected about 100", name, len(want))
		}
		first := locator(t, 256, 256, Options{SD: 1.4}).Locate(nil, picture)
		for _, k := range []kernel.Lanes{0, 4, 8, 16} {
			if k > kernel.Widest() {
				continue
			}
			got := with(locator(t, 256, 256, Options{SD: 1.4}), k).Locate(nil, picture)
			if k > 0 && !slices.Equal(got, first) {
				t.Errorf("%s: %d lanes give different spots than %d", name, k, kernel.Widest())
			}
			if len(got) != len(want) {
				t.Errorf("%s: %d lanes find %d spots, %d were recorded", name, k, len(got), len(want))
				continue
			}
			far := 0
			for i, s := range got {
				off := math.Hypot(s.X-want[i][0], s.Y-want[i][1])
				if off > 1e-6 {
					far++
				}
				if off > 1e-5 {
					t.Errorf("%s, %d lanes: spot %d is at (%.7f, %.7f), recorded was %.7f", name, k, i, s.X, s.Y, want[i])
				}
			}
			if 100*far > len(got) {
				t.Errorf("%s, %d lanes: %d of %d positions are further than 1e-6 px from the recorded ones", name, k, far, len(got))
			}
		}
	}
}

// TestExtremes: huge or tiny pixels do not crash the program, and every position stays inside the picture. If sums do not overflow, the spot far from these
// pixels is found to half a pixel.
func TestExtremes(t *testing.T) {
	const side = 96
	rng := rand.New(rand.NewPCG(13, 14))
	d := drawn{h: side, w: side, sd: 1.4, gain: 1, background: 10, spots: [][3]float64{{70, 70, 80}}}
	for _, v := range []float64{3e38, -3e38, 1e30, 1e-42} {
		for _, k := range []kernel.Lanes{0, kernel.Widest()} {
			p := d.picture(rng)
			for range 5 {
				p[rng.IntN(side/2)*side+rng.IntN(side/2)] = float32(v)
			}
			found := false
			for _, s := range with(locator(t, side, side, Options{SD: 1.4}), k).Locate(nil, p) {
				if !(s.X >= 0 && s.X < side && s.Y >= 0 && s.Y < side) {
					t.Errorf("%g, %d lanes: %+v", v, k, s)
				}
				found = found || math.Hypot(s.X-70, s.Y-70) < 0.5
			}
			if !found && math.Abs(v) < 1e20 {
				t.Errorf("%g, %d lanes: the spot far from the pixel is not found", v, k)
			}
		}
	}
}

// TestOverflow: if a spot's light exceeds the range of float32, for a single spot or beside another, its position stays finite.
func TestOverflow(t *testing.T) {
	l := locator(t, 32, 32, Options{SD: 1.4})
	picture := make([]float32, 32*32)
	for i := range picture {
		l.field.Residual.Pixels[i] = 3e38
		picture[i] = 3e38
	}
	l.field.Picture, l.field.Floor = picture, 1e-3
	l.spots = append(l.spots, spot{x: 15.2, y: 16, a: 1}, spot{x: 17, y: 16.4, a: 1})
	l.cluster.members = append(l.cluster.members[:0], 0, 1)
	l.solve(false)
	l.step(l.spots)
	for _, s := range l.spots {
		if !(s.x >= 0 && s.x < 32 && s.y >= 0 && s.y < 32) {
			t.Errorf("a spot is at (%g, %g)", s.x, s.y)
		}
	}
}
