package stream

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

// slides is a recording of drawn pictures, 50 per second.
type slides struct {
	frames, seq int
	draw        func(i int, at func(x, y int) *uint16)
}

func (s *slides) Open(context.Context) error { s.seq = 0; return nil }
func (s *slides) Info() pipeline.Info        { return pipeline.Info{Timed: true} }
func (s *slides) Close() error               { return nil }

func (s *slides) Read(context.Context) (*frame.Frame, error) {
	if s.seq == s.frames {
		return nil, io.EOF
	}
	mat := gocv.NewMatWithSize(slideSide, slideSide, gocv.MatTypeCV16UC1)
	pixels, err := mat.DataPtrUint16()
	if err != nil {
		return nil, err
	}
	s.draw(s.seq, func(x, y int) *uint16 { return &pixels[y*slideSide+x] })
	s.seq++
	return frame.New(uint64(s.seq-1), time.Unix(0, int64(float64(s.seq)*dishDT*1e9)), frame.Meta{}, mat), nil
}

const slideSide = 160

// scene draws objects that step by 0.5 px over an even background with noise of 20.
func scene(objects int, sd, light, most float64, on func(i int) bool) func(i int, at func(x, y int) *uint16) {
	rng := rand.New(rand.NewPCG(5, 6))
	places := make([][2]float64, objects)
	for k := range places {
		places[k] = [2]float64{10 + (slideSide-20)*rng.Float64(), 10 + (slideSide-20)*rng.Float64()}
	}
	return func(i int, at func(x, y int) *uint16) {
		for k := range places {
			places[k][0], places[k][1] = places[k][0]+0.5*rng.NormFloat64(), places[k][1]+0.5*rng.NormFloat64()
		}
		for y := range slideSide {
			for x := range slideSide {
				v := 500 + 20*rng.NormFloat64()
				for _, p := range places {
					if dx, dy := float64(x)-p[0], float64(y)-p[1]; on(i) && dx*dx+dy*dy < 16*sd*sd {
						v += light * math.Exp(-(dx*dx+dy*dy)/(2*sd*sd))
					}
				}
				*at(x, y) = uint16(min(v, most))
			}
		}
	}
}

func always(int) bool { return true }

// even returns a picture of one value.
func even(v uint16) func(int, func(x, y int) *uint16) {
	return func(_ int, at func(x, y int) *uint16) {
		for y := range slideSide {
			for x := range slideSide {
				*at(x, y) = v
			}
		}
	}
}

// TestFieldTellsWhatIsWrong: for every unsuitable film an event describes the problem in one line, but every frame is still published. The number of objects
// stays plausible: with 20 per frame at most 60, including missed ones.
func TestFieldTellsWhatIsWrong(t *testing.T) {
	suite.Calculation(t)
	const frames = 80
	for name, c := range map[string]struct {
		draw    func(int, func(x, y int) *uint16)
		options string
		told    []string // codes, each with a part of the text
		least   int      // objects in the last frame
		most    int      // in any
	}{
		"no objects":         {draw: scene(0, 1, 0, 65535, always), told: []string{"no_objects", "visible above the noise"}},
		"no light":           {draw: even(500), told: []string{"no_objects", "the picture is uniform"}},
		"all saturated":      {draw: even(65535), told: []string{"saturated", "100.00 % of the pixels", "no_objects", "the picture is uniform"}},
		"objects saturated":  {draw: scene(20, 3, 90000, 65535, always), told: []string{"saturated", "expose for less time"}, least: 15, most: 25},
		"more than the most": {draw: scene(60, 1.5, 300, 65535, always), options: ", max: 20", told: []string{"too_many_objects", "raise objects.max"}, least: 20, most: 60},
		"too large":          {draw: scene(2, 45, 400, 65535, always), told: []string{"no_objects", "bin the pictures"}, most: 200},
		"dark at first":      {draw: scene(20, 1.5, 300, 65535, func(i int) bool { return i != 0 }), told: []string{"template_found", "in frame 1:"}, least: 15, most: 25},
	} {
		options := "objects: {enabled: true" + c.options + "}\n"
		told, next, last := "", uint64(0), 0
		for _, r := range fieldRun(t, &slides{frames: frames, draw: c.draw}, options) {
			switch r := r.(type) {
			case *message.EventRecord:
				if told += r.Code + " " + r.Text; strings.ContainsRune(r.Text, '\n') {
					t.Errorf("%s: more than a line: %q", name, r.Text)
				}
			case *message.ObjectsRecord:
				if last = len(r.ID); r.Seq != next || last > c.most {
					t.Errorf("%s: frame %d, expected %d; %d objects", name, r.Seq, next, last)
				}
				next++
			}
		}
		for _, want := range c.told {
			if !strings.Contains(told, want) {
				t.Errorf("%s: nobody says %q: %s", name, want, told)
			}
		}
		if next != frames || last < c.least {
			t.Errorf("%s: %d frames of %d, %d objects in the last", name, next, frames, last)
		}
	}
}
