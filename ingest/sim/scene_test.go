package sim

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

func mustNew(t testing.TB, name string, o Options) *Scene {
	t.Helper()
	s, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// centroid returns the intensity centroid of a picture's channel, in px.
func centroid(p *Picture, channel int) (x, y float64) {
	var sum float64
	for j := range p.Height {
		for i := range p.Width {
			v := float64(p.F32[(j*p.Width+i)*p.Channels+channel])
			sum += v
			x += v * (float64(i) + 0.5)
			y += v * (float64(j) + 0.5)
		}
	}
	return x / sum, y / sum
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		scene   string
		options Options
		want    string
	}{
		{"cubes", Options{}, "give one of molecule, balls-constant, balls-ou, balls-circle"},
		{"balls-ou", Options{Frames: -1}, "frames is -1: give 1 to 10000000, or 0"},
		{"balls-ou", Options{Frames: MaxFrames + 1}, "frames is 10000001"},
		{"balls-ou", Options{Render: "blocky"}, `render is "blocky": give subpixel or integer`},
		{"balls-constant", Options{}, "an endless run leaves the picture"},
		{"digits-constant", Options{}, "an endless run leaves the picture"},
		{"wasserstein-double-well", Options{}, "an endless run leaves the picture"},
		{"wasserstein-gbm", Options{}, "an endless run leaves the picture"},
		{"ball-wasserstein-cauchy", Options{}, "an endless run leaves the picture"},
		{"ball-wasserstein-anisotropic", Options{}, "an endless run leaves the picture"},
		{"dna-0", Options{}, "an endless run leaves the picture"},
		{"dna-2", Options{Frames: 5, Render: Integer}, "supports only subpixel"},
		{"dna-1", Options{Frames: 5, Assets: "mine"}, "draws no digits and no objects"},
		{"balls-ou-normal", Options{Assets: "mine"}, "draws no digits and no objects"},
		{"wasserstein-ou-student", Options{Render: Integer}, "supports only subpixel"},
		{"digits-ou-normal", Options{}, `scene "digits-ou-normal" is not known`},
		{"molecule", Options{Render: Integer}, "supports only subpixel"},
		{"wasserstein-ou", Options{Render: Integer}, "supports only subpixel"},
		{"balls-ou", Options{Assets: "mine"}, `assets is "mine", but this scene draws no digits and no objects`},
	} {
		_, err := New(c.scene, c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.scene) {
			t.Errorf("New(%s, %+v): error %v; want one that contains %q", c.scene, c.options, err, c.want)
		}
	}
}

func TestEverySceneIsWhole(t *testing.T) {
	suite.Calculation(t)
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			s := mustNew(t, name, Options{Frames: 3, Seed: 1})
			var p Picture
			for k := range 3 {
				truth, err := s.Next(&p)
				if err != nil {
					t.Fatal(err)
				}
				if want := float64(k) * s.DT(); truth.T != want || len(truth.Z) != s.Dim() || len(truth.Mu) != s.Dim() || !truth.Inside {
					t.Fatalf("frame %d: truth %+v; want t = %g, %d coordinates, inside", k, truth, want, s.Dim())
				}
				if p.Format != s.Format() || len(p.U16)+len(p.F32) != p.Values() {
					t.Fatalf("frame %d: format %+v with %d values; want %+v", k, p.Format, len(p.U16)+len(p.F32), s.Format())
				}
			}
			if _, err := s.Next(&p); !errors.Is(err, io.EOF) {
				t.Fatalf("after the last frame: %v; want io.EOF", err)
			}
		})
	}
}

func TestSameSeedSamePictures(t *testing.T) {
	suite.Calculation(t)
	for _, name := range Names() {
		var first, again, other Picture
		a, b, c := mustNew(t, name, Options{Frames: 5, Seed: 3}), mustNew(t, name, Options{Frames: 5, Seed: 3}), mustNew(t, name, Options{Frames: 5, Seed: 4})
		for range 5 {
			for scene, p := range map[*Scene]*Picture{a: &first, b: &again, c: &other} {
				if _, err := scene.Next(p); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(first.U16, again.U16) || !slices.Equal(first.F32, again.F32) {
				t.Fatalf("%s: the same seed gave two pictures", name)
			}
		}
		if slices.Equal(first.U16, other.U16) && slices.Equal(first.F32, other.F32) {
			t.Errorf("%s: two seeds gave one picture", name)
		}
	}
}

// The path fills the picture, stays inside it, and has one scale, with the same sign, for both axes.
func TestBallsKeepDistances(t *testing.T) {
	for _, name := range []string{"balls-constant", "balls-ou", "balls-circle"} {
		t.Run(name, func(t *testing.T) {
			s := mustNew(t, name, Options{Frames: 1000, Seed: 7})
			var p Picture
			var z, px [2][]float64
			for {
				truth, err := s.Next(&p)
				if err == io.EOF {
					break
				}
				if !truth.Inside {
					t.Fatalf("t = %g: outside the picture", truth.T)
				}
				x, y := centroid(&p, 1)
				for i, c := range []float64{x, y} {
					z[i], px[i] = append(z[i], truth.Z[i]), append(px[i], c)
				}
			}
			var scale [2]float64
			widest := 0.0
			for i := range z {
				zr, pr := slices.Max(z[i])-slices.Min(z[i]), slices.Max(px[i])-slices.Min(px[i])
				scale[i] = pr / zr
				widest = max(widest, pr)
			}
			// A centroid has an error of 0.01 px, so a range of 30 px or more has a relative error of 0.001.
			if math.Abs(scale[0]/scale[1]-1) > 1e-3 {
				t.Errorf("scales are %g and %g px a unit; want the same", scale[0], scale[1])
			}
			if math.Abs(widest-48) > 0.05 {
				t.Errorf("the path spans %g px; want 48", widest)
			}
			if z[0][10] > z[0][20] != (px[0][10] > px[0][20]) || z[1][10] > z[1][20] != (px[1][10] > px[1][20]) {
				t.Error("an axis is mirrored")
			}
		})
	}
}

func TestSubpixelCentroid(t *testing.T) {
	p := Picture{}
	p.reset(Format{Width: 64, Height: 64, Channels: 3, Depth: Unit})
	worst := 0.0
	for i := range 21 {
		for j := range 21 {
			x, y := 8+float64(i)*0.05+float64(j), 30.3+float64(j)*0.05
			clear(p.F32)
			drawDisc(&p, x, y, ballRadius, [3]float32{0, 1, 1})
			gotX, gotY := centroid(&p, 2)
			worst = max(worst, math.Abs(gotX-x), math.Abs(gotY-y))
		}
	}
	t.Logf("worst centroid error %.4f px", worst)
	if worst > 0.02 {
		t.Errorf("a centroid is %g px off; want at most 0.02", worst)
	}
	if p.F32[0] != 0 || slices.Max(p.F32) != 1 {
		t.Errorf("corner %g, brightest %g; want 0 and 1", p.F32[0], slices.Max(p.F32))
	}
}

func TestIntegerCentres(t *testing.T) {
	s := mustNew(t, "balls-ou", Options{Frames: 50, Seed: 1, Render: Integer})
	var p Picture
	for range 50 {
		if _, err := s.Next(&p); err != nil {
			t.Fatal(err)
		}
		x, y := centroid(&p, 1)
		// A disc at a pixel corner is symmetric: its centroid is exact up to float32 rounding.
		if math.Abs(x-math.Round(x)) > 1e-4 || math.Abs(y-math.Round(y)) > 1e-4 {
			t.Fatalf("centre (%g, %g); want whole pixels", x, y)
		}
	}
}

// A frame allocates no memory once the picture exists.
func TestNoAllocationAFrame(t *testing.T) {
	suite.Calculation(t)
	for _, name := range Names() {
		s := mustNew(t, name, Options{Frames: 60, Seed: 1})
		var p Picture
		draw := func() {
			if _, err := s.Next(&p); err != nil {
				t.Fatal(err)
			}
		}
		draw()
		if got := testing.AllocsPerRun(50, draw); got != 0 {
			t.Errorf("%s: %g allocations a frame; want 0", name, got)
		}
	}
}

// A ball of an endless scene that leaves the picture is drawn at the edge, with Inside false.
func TestBallAtTheEdge(t *testing.T) {
	s := mustNew(t, "balls-ou", Options{Seed: 1})
	sd := s.kind.law.Stationary.SD[0]
	var p Picture
	p.reset(s.Format())
	if !s.draw.render(&p, []float64{4.49 * sd, -4.49 * sd}, 0) {
		t.Error("4.49 sd is reported outside")
	}
	if s.draw.render(&p, []float64{6 * sd, 0}, 0) {
		t.Error("6 sd is reported inside")
	}
	if x, y := centroid(&p, 1); math.Abs(x-56) > 0.02 || math.Abs(y-32) > 0.02 {
		t.Errorf("drawn at (%g, %g); want (56, 32)", x, y)
	}
}
