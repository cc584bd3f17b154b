package locate

import (
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"driftscope/internal/suite"
)

// TestShapeScatter: the spots' own shapes are distinguished from pairs. Elongations of single spots follow Rayleigh's law, elongations of pairs are arbitrary.
// 400 spots determine τ to a twentieth, and the searched grid has steps of 1.3, so 30 % is twice the two errors. If the true τ is 0, the estimate is below half
// of the noise of a spot's elongation, and raises the threshold for a split by an eighth.
func TestShapeScatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	for _, c := range []struct {
		name          string
		spots         int
		sd, tau, pair float64
	}{
		{"the template", 400, 0.1, 0, 0},
		{"the template, a quarter pairs", 400, 0.1, 0, 0.25},
		{"few of the template", 5, 0.02, 0, 0},
		{"another shape", 400, 0.02, 0.06, 0},
		{"another shape, a fifth pairs", 400, 0.02, 0.06, 0.2},
	} {
		for range 20 {
			longs := make([]long, c.spots)
			for i := range longs {
				s := math.Hypot(c.sd, c.tau)
				e := math.Hypot(s*rng.NormFloat64(), s*rng.NormFloat64())
				if rng.Float64() < c.pair {
					e = math.Hypot(0.72*rng.Float64()+c.sd*rng.NormFloat64(), c.sd*rng.NormFloat64())
				}
				longs[i] = long{e: e, sd: c.sd}
			}
			if got := shapeScatter(longs); math.Abs(got-c.tau) > max(0.3*c.tau, 0.5*c.sd) {
				t.Errorf("%s: τ is %.3f, expected %.3f", c.name, got, c.tau)
			}
		}
	}
	if got := shapeScatter(nil); got != 0 {
		t.Errorf("without a spot τ is %g", got)
	}
	if few, many := reachOf(5), reachOf(1e6); few < 6 || math.Abs(many-splitSDs) > 1e-3 { // (e^1.6 - 1)·10 = 39.5, whose root is 6.3
		t.Errorf("of five spots a length reaches %g τ, of a million %g", few, many)
	}
}

// TestLongBeads: bright beads that are longer than the template, each in its own direction, are one spot each. A pair among them is two spots.
func TestLongBeads(t *testing.T) {
	const side, beads = 300, 9
	rng := rand.New(rand.NewPCG(2, 8))
	l := locator(t, side, side, Options{SD: 2.8})
	for range 10 {
		picture := make([]float32, side*side)
		for i := range picture {
			picture[i] = float32(140 + 7*rng.NormFloat64())
		}
		bead := func(x, y float64) {
			sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
			for i := range picture {
				dx, dy := float64(i%side)-x, float64(i/side)-y
				u, v := (cos*dx+sin*dy)/3.1, (cos*dy-sin*dx)/2.5
				picture[i] += float32(170 * math.Exp(-(u*u+v*v)/2))
			}
		}
		for k := range beads {
			bead(50+90*float64(k%3)+rng.Float64(), 50+90*float64(k/3)+rng.Float64())
		}
		bead(95, 95)
		bead(103, 95)
		strong := 0
		for _, s := range l.Locate(nil, picture) {
			if s.Score > 5 {
				strong++
			}
		}
		if strong != beads+2 {
			t.Errorf("%d spots stand out, expected %d", strong, beads+2)
		}
	}
}

// TestBrightField: each of the five beads in a recording is one spot in every frame, including the bead with a glint. No other spot has a high score.
func TestBrightField(t *testing.T) {
	suite.Calculation(t)
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: the test needs the recording of beads in a bright field")
	}
	names, err := filepath.Glob(filepath.Join(data, "trackpy-brightfield", "*.png"))
	if err != nil || len(names) != 50 {
		t.Fatalf("found %d frames, expected 50: DRIFTSCOPE_DATA is incomplete (%v)", len(names), err)
	}
	var l *Locator
	for k, name := range names {
		picture, h, w := readGrey(t, name)
		if l == nil {
			l = locator(t, h, w, Options{SD: Width(h, w, picture, 4, false)})
		}
		strong := 0
		for _, s := range l.Locate(nil, picture) {
			if s.Score > 5 {
				strong++
			}
		}
		if strong != 5 {
			t.Errorf("frame %d: %d spots stand out, expected 5", k, strong)
		}
	}
}

// readGrey reads a picture's first channel.
func readGrey(t *testing.T, name string) (picture []float32, h, w int) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	grey, ok := m.(*image.Gray)
	if !ok {
		t.Fatalf("%s: found %T, expected 8 grey bits", name, m)
	}
	size := grey.Bounds().Size()
	picture = make([]float32, size.X*size.Y)
	for i := range picture {
		picture[i] = float32(grey.Pix[i/size.X*grey.Stride+i%size.X])
	}
	return picture, size.Y, size.X
}
