package recording

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"driftscope/internal/flow/frame"
	"driftscope/internal/job/jobtest"
	"driftscope/internal/suite"
)

// Each film has its own window and region, for any requested frames.
func TestEachFilm(t *testing.T) {
	suite.Calculation(t)
	folder := t.TempDir()
	jobtest.WriteSpecimens(t, folder)
	steps := (&Survey{}).Steps(0, 0, false, &Region{Size: 64, Film: true})
	for i := range jobtest.Specimens {
		var first map[uint64][]float32
		for _, s := range []Span{Whole, {10, 15}} {
			rec, err := Open(filepath.Join(folder, string(rune('a'+i))+".fits"), 0, 0, "", s)
			if err != nil {
				t.Fatal(err)
			}
			pictures := map[uint64][]float32{}
			x, y, low, high := 0.0, 0.0, float32(1), float32(0)
			if _, err := rec.Each(t.Context(), steps, func(f *frame.Frame) error {
				pixels, shape, err := Planes(f)
				if err != nil || shape != [3]int{1, Side, Side} {
					t.Fatalf("shape %v, %v", shape, err)
				}
				pictures[f.Seq] = pixels
				low, high = min(low, slices.Min(pixels)), max(high, slices.Max(pixels))
				at := slices.Index(pixels, slices.Max(pixels))
				x, y = x+float64(at%Side), y+float64(at/Side)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			n := float64(len(pictures))
			if first == nil {
				first = pictures
				if math.Abs(x/n-31.5) > 3 || math.Abs(y/n-31.5) > 3 || high != 1 || low > 0.1 { // the film's darkest pixel is outside the crop
					t.Errorf("film %d: the spot is at (%.1f, %.1f) in the mean, values are %g to %g; expected the middle, and 0 to 1", i, x/n, y/n, low, high)
				}
			} else if n != 5 || !slices.Equal(pictures[12], first[12]) {
				t.Errorf("film %d: frame 12 of %v looks otherwise than in the whole film", i, s)
			}
		}
	}
}

// The trajectories of one folder are films as well: the spot is in the middle of both, for any requested frames.
func TestEachTrajectory(t *testing.T) {
	folder := t.TempDir()
	jobtest.WriteTrajectories(t, folder)
	for _, c := range []struct {
		Span
		frames int
	}{{Whole, 16}, {Span{From: 3, To: 10}, 7}, {Span{From: 10, To: 14}, 4}} {
		rec, err := Open(folder, 0, 0, "", c.Span)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if _, err := rec.Each(t.Context(), (&Survey{}).Steps(0, 0, false, &Region{Size: 48, Film: true}), func(f *frame.Frame) error {
			n++
			pixels, _, err := Planes(f)
			at := slices.Index(pixels, slices.Max(pixels))
			if x, y := float64(at%Side), float64(at/Side); math.Abs(x-31.5) > 4 || math.Abs(y-31.5) > 4 || pixels[0] > 0.02 || slices.Max(pixels) < 0.9 {
				t.Errorf("frame %d of %v: the spot is at (%g, %g) on a ground of %g, expected the middle on 0", f.Seq, c.Span, x, y, pixels[0])
			}
			return err
		}); err != nil || n != c.frames {
			t.Errorf("%d frames of %v, %v", n, c.Span, err)
		}
	}
	rec, err := Open(folder, 0, 0, "", Whole)
	if err != nil {
		t.Fatal(err)
	}
	films, err := rec.films(t.Context())
	if err != nil || len(films) != 2 || films[0].frames != 8 || films[1].low != 70 {
		t.Errorf("found %d films, %v", len(films), err)
	}
}
