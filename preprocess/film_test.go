package preprocess

import (
	"context"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/pipeline"
)

// spotted returns a film's frame: a spot of 120 counts on the film's ground, on a circle within 6 pixels of (at.X, at.Y).
func spotted(n int, at Point, ground float64) []float32 {
	at = Point{at.X + 6*math.Sin(float64(n)), at.Y + 6*math.Cos(float64(n))}
	return blob(128, 100, at, 4, ground, 120)
}

// Each film has its own window and region, computed from all its frames and applied from the first frame on. The previous film has no influence.
func TestFilms(t *testing.T) {
	window, region := newStep(t, "normalise", "film: true").(*filmRange), newStep(t, "roi", "search: {size: 40, film: true}").(*filmROI)
	for _, film := range []struct {
		at     Point
		ground float64
		frames int
	}{
		{Point{40, 60}, 10, 30},
		{Point{90, 35}, 100, 9},
		{Point{64, 50}, 40, 1},
		{Point{30, 70}, 20, 2*maxSearchFrames + 50},
	} {
		for n := range film.frames {
			f := picture(t, uint64(n), 100, 128, gocv.MatTypeCV8UC1, spotted(n, film.at, film.ground)...)
			for _, s := range []pipeline.Step{window, region} {
				if err := s.Can().Look(f); err != nil {
					t.Fatal(err)
				}
			}
		}
		if kept := region.roi.finder.shown(); kept > maxSearchFrames || kept < min(film.frames, maxSearchFrames/2) {
			t.Errorf("%d of %d frames are kept", kept, film.frames)
		}
		for n := range min(film.frames, 3) {
			f := picture(t, uint64(n), 100, 128, gocv.MatTypeCV8UC1, spotted(n, film.at, film.ground)...)
			apply(t, window, f)
			apply(t, region, f)
			if f.Meta.Trajectory != 0 || len(f.Meta.Events) != 0 {
				t.Errorf("frame %d: trajectory %d and events %v, expected neither a cut nor a word", n, f.Meta.Trajectory, f.Meta.Events)
			}
		}
		// Beyond the spot the picture is the ground to within a count, and the spot's top lies within a pixel of a pixel's centre.
		if math.Abs(window.normalise.low-film.ground) > 1 || math.Abs(window.normalise.high-film.ground-120) > 3 {
			t.Errorf("at %v: the window is %g to %g, expected %g to %g", film.at, window.normalise.low, window.normalise.high, film.ground, film.ground+120)
		}
		at := film.at
		if film.frames == 1 {
			at.Y += 6
		}
		middle := region.roi.region.Min.Add(region.roi.region.Max).Div(2)
		if off := middle.Sub(image.Pt(int(at.X), int(at.Y))); math.Hypot(float64(off.X), float64(off.Y)) > 3 { // allows for whole pixels and few positions on the circle
			t.Errorf("found the region around %v, expected about %v", middle, at)
		}
	}
}

// In a stream, where Look is not called, the region comes from a search in the first frames.
func TestFilmROIInAStream(t *testing.T) {
	film, plain := newStep(t, "roi", "search: {size: 40, frames: 3, film: true}"), newStep(t, "roi", "search: {size: 40, frames: 3}")
	for n := range 6 {
		a := picture(t, uint64(n), 100, 128, gocv.MatTypeCV8UC1, spotted(n, Point{50, 50}, 10)...)
		b := picture(t, uint64(n), 100, 128, gocv.MatTypeCV8UC1, spotted(n, Point{50, 50}, 10)...)
		apply(t, film, a)
		apply(t, plain, b)
		if !slices.Equal(values(t, a), values(t, b)) || a.Meta.Trajectory != b.Meta.Trajectory || len(a.Meta.Events) != len(b.Meta.Events) {
			t.Fatalf("frame %d: found %+v, expected the search's picture and %+v", n, a.Meta, b.Meta)
		}
	}
}

// In a stream the window spans the values so far, and moves for a value beyond it by a twentieth of its width.
func TestFilmRangeInAStream(t *testing.T) {
	s := newStep(t, "normalise", "film: true")
	for n, c := range []struct {
		values, want []float32
		said         int
	}{
		{[]float32{10, 30, 30, 50}, []float32{0, 0.5, 0.5, 1}, 1},
		{[]float32{30, 30, 10, 52}, []float32{0.5, 0.5, 0, 1}, 0},
		{[]float32{9, 30, 30, 90}, []float32{0, 0.2592593, 0.2592593, 1}, 1},
		{[]float32{30, 30, 30, 30}, []float32{0.2592593, 0.2592593, 0.2592593, 0.2592593}, 0},
	} {
		f := picture(t, uint64(n), 2, 2, gocv.MatTypeCV8UC1, c.values...)
		apply(t, s, f)
		for i, got := range values(t, f) {
			if math.Abs(float64(got-c.want[i])) > 1e-6 {
				t.Errorf("frame %d: found %v, expected %v", n, values(t, f), c.want)
				break
			}
		}
		if len(f.Meta.Events) != c.said {
			t.Errorf("frame %d: found events %v, expected %d", n, f.Meta.Events, c.said)
		}
	}
}

func TestFilmsRefuse(t *testing.T) {
	ctx := context.Background()
	resized := func(rows, cols int, mt gocv.MatType) error {
		f := picture(t, 4, rows, cols, mt, 7)
		s := newStep(t, "roi", "search: {size: 20, film: true}").(*filmROI)
		if err := s.Look(f); err != nil {
			return err
		}
		small := picture(t, 4, 30, 30, gocv.MatTypeCV8UC1, 7)
		return s.Apply(ctx, small)
	}
	blank := func() error {
		s := newStep(t, "normalise", "film: true").(*filmRange)
		f := picture(t, 4, 30, 30, gocv.MatTypeCV8UC3, 7)
		if err := s.Look(f); err != nil {
			return err
		}
		return s.Apply(ctx, f)
	}
	infinite := picture(t, 4, 30, 30, gocv.MatTypeCV32FC1, float32(math.Inf(1)))
	for _, c := range []struct {
		name, want string
		err        error
	}{
		{"size", "found 30x30 pixels, but the film's frames have 50x40: put the search before the steps that change the size", resized(40, 50, gocv.MatTypeCV8UC1)},
		{"too small", "a region of 20x20 pixels does not fit into the frame of 9x8 pixels", resized(8, 9, gocv.MatTypeCV8UC1)},
		{"depth", "found float64 pixels", resized(40, 50, gocv.MatTypeCV64FC1)},
		{"blank", "every pixel of the film so far is 7: check the light", blank()},
		{"not finite", "not finite", newStep(t, "normalise", "film: true").(*filmRange).Look(infinite)},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q in it", c.name, c.err, c.want)
		}
	}
	if _, err := New("normalise", options("{film: true, window: [0, 1]}")); err == nil || !strings.Contains(err.Error(), "film: found together with window or running") {
		t.Errorf("found %v, expected a window beside film to be refused", err)
	}
}
