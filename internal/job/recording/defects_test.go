package recording

import (
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDefective: hot and dead pixels are distinguished from images of the optics and from changes of the scene.
func TestDefective(t *testing.T) {
	const width, height = 60, 50
	at := func(x, y int) int { return y*width + x }
	spot := func(p int, x, y, sd float64) float64 {
		return math.Exp(-(math.Pow(float64(p%width)-x, 2) + math.Pow(float64(p/width)-y, 2)) / (2 * sd * sd))
	}
	for _, c := range []struct {
		name   string
		frames int
		noise  float64
		light  func(rng *rand.Rand, frame, p int) float64 // counts
		want   []int
	}{
		{"one at the top", 40, 3, func(_ *rand.Rand, _, p int) float64 {
			if p == at(20, 20) {
				return 255
			}
			return 100
		}, []int{at(20, 20)}},
		{"hot with noise of its own, dead, in a corner", 40, 3, func(rng *rand.Rand, _, p int) float64 {
			switch p {
			case at(0, 0):
				return 180 + 30*rng.NormFloat64()
			case at(30, 10):
				return 0
			}
			return 100
		}, []int{at(0, 0), at(30, 10)}},
		{"two side by side", 40, 3, func(_ *rand.Rand, _, p int) float64 {
			if p == at(20, 20) || p == at(21, 20) {
				return 250
			}
			return 100
		}, []int{at(20, 20), at(21, 20)}},
		{"on the rim of an object that moves", 100, 3, func(_ *rand.Rand, f, p int) float64 {
			if p == at(27, 25) {
				return 255
			}
			return 60 + 120*spot(p, 25+1.5*math.Sin(float64(f)), 25, 4)
		}, []int{at(27, 25)}},
		{"a still point as optics draw it", 40, 1, func(_ *rand.Rand, _, p int) float64 { return 100 + 150*spot(p, 20, 20, 0.7) }, nil},
		{"one pixel that lights up and fades", 100, 1, func(_ *rand.Rand, f, p int) float64 {
			if p == at(20, 20) {
				return 150 + 100*math.Sin(float64(f)/8)
			}
			return 100
		}, nil},
		{"noise", 40, 10, func(*rand.Rand, int, int) float64 { return 100 }, nil},
		{"a pattern", 40, 1, func(_ *rand.Rand, _, p int) float64 {
			if p%width%5 == 0 && p/width%5 == 0 {
				return 200
			}
			return 100
		}, nil},
		{"too few frames", 10, 3, func(_ *rand.Rand, _, p int) float64 {
			if p == at(20, 20) {
				return 255
			}
			return 100
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(6, 0))
			var s singles
			for f := range c.frames {
				picture := make([]float32, width*height)
				for p := range picture {
					picture[p] = float32(math.Round(min(max(c.light(rng, f, p)+c.noise*rng.NormFloat64(), 0), 255)))
				}
				s.add(picture)
			}
			if found := s.defective(c.frames, width, height); !slices.Equal(found, c.want) {
				t.Errorf("found %v, expected %v", found, c.want)
			}
		})
	}
}

// TestSurveyBehindDefects: after the step from a survey, the next survey finds no defects, also if there were hundreds.
func TestSurveyBehindDefects(t *testing.T) {
	const width, height, hot = 240, 200, 300
	rng := rand.New(rand.NewPCG(8, 0))
	at := rng.Perm(width * height)[:hot]
	folder := t.TempDir()
	for f := range 25 {
		picture := image.NewGray(image.Rect(0, 0, width, height))
		for p := range picture.Pix {
			picture.Pix[p] = uint8(100 + 3*rng.NormFloat64())
		}
		for _, p := range at {
			picture.Pix[p] = 255
		}
		file, err := os.Create(filepath.Join(folder, fmt.Sprintf("%03d.png", f)))
		if err == nil {
			err = png.Encode(file, picture)
		}
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := OpenDataset([]string{folder}, 0.1, 0, "", Whole)
	if err != nil {
		t.Fatal(err)
	}
	s, err := data.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n, step := s.Defects()
	if n < hot*95/100 || n > hot { // some lie in groups of three
		t.Errorf("%d defective pixels, expected nearly all of %d and no other", n, hot)
	}
	if s, err = data.Survey(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	if left, _ := s.Defects(); left > hot-n {
		t.Errorf("%d are left of %d that were not found", left, hot-n)
	}
}
