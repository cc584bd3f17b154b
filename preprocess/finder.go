package preprocess

import (
	"fmt"
	"image"
	"math"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
)

// searchOptions are the keys under roi.search.
type searchOptions struct {
	Size   int  `yaml:"size"`   // side of the square region, pixels
	Frames int  `yaml:"frames"` // frames to search; 0 means 30
	Film   bool `yaml:"film"`   // search in all of each recording; frames then applies to streams only
}

// Bounds on a search. It keeps at most maxSearchFrames pictures, reduced to maxSearchSide per side (64 MiB).
const (
	defaultSearchFrames = 30
	maxSearchFrames     = 256
	maxSearchSide       = 256
)

// finder collects small grey copies of the first frames of a stream, or of frames across a film, and finds the object in
// them.
type finder struct {
	size, frames int
	pictures     [][]float32
	every        int         // number of a film's frames per kept picture
	passed       int         // number of frames since the last kept picture
	full, small  image.Point // sizes of the frames and of the pictures
	shrunk       gocv.Mat    // scratch
}

func newFinder(o searchOptions) (*finder, error) {
	if o.Size < 1 || o.Size > MaxSide {
		return nil, fmt.Errorf("search.size: found %d, expected 1 to %d pixels", o.Size, MaxSide)
	}
	if o.Frames == 0 {
		o.Frames = defaultSearchFrames
	}
	if o.Frames < 1 || o.Frames > maxSearchFrames {
		return nil, fmt.Errorf("search.frames: found %d, expected 1 to %d", o.Frames, maxSearchFrames)
	}
	return &finder{size: o.Size, frames: o.Frames, shrunk: gocv.NewMat()}, nil
}

func (s *finder) shown() int { return len(s.pictures) }
func (s *finder) done() bool { return len(s.pictures) >= s.frames }

// show adds a small grey copy of f to the pictures.
func (s *finder) show(f *frame.Frame) error {
	m := f.Mat()
	size := image.Pt(m.Cols(), m.Rows())
	if s.shown() == 0 {
		s.full, s.small = size, shrink(size, maxSearchSide)
	}
	if size != s.full {
		return complain("roi", f, "found %dx%d pixels, but the search began on %dx%d: give one size per stream", size.X, size.Y, s.full.X, s.full.Y)
	}
	if s.size > size.X || s.size > size.Y {
		return complain("roi", f, "a region of %dx%d pixels does not fit into the frame of %dx%d pixels: lower search.size", s.size, s.size, size.X, size.Y)
	}
	if err := checkFinite("roi", f); err != nil {
		return err
	}
	gocv.Resize(*m, &s.shrunk, s.small, 0, 0, gocv.InterpolationArea)
	s.shrunk.ConvertTo(&s.shrunk, gocv.MatTypeCV32F)
	values, err := s.shrunk.DataPtrFloat32()
	if err != nil {
		return complain("roi", f, "%w", err)
	}
	s.pictures = append(s.pictures, grey(values, m.Channels()))
	return nil
}

// look adds a small grey copy of every frame of a film to the pictures. If there are too many, it keeps only every second frame, then every fourth and so on.
func (s *finder) look(f *frame.Frame) error {
	if s.passed++; s.passed < s.every {
		return nil
	}
	if s.shown() == maxSearchFrames {
		for i := range maxSearchFrames / 2 {
			s.pictures[i] = s.pictures[2*i]
		}
		s.pictures = s.pictures[:maxSearchFrames/2]
		s.every *= 2
	}
	s.passed = 0
	return s.show(f)
}

// region returns the square around the object's mean centre, shifted to lie inside the frame.
func (s *finder) region() (image.Rectangle, error) {
	_, mean, err := Centres(s.pictures, s.small.X, s.small.Y)
	if err != nil {
		return image.Rectangle{}, err
	}
	at := Point{
		X: (mean.X+0.5)*float64(s.full.X)/float64(s.small.X) - 0.5,
		Y: (mean.Y+0.5)*float64(s.full.Y)/float64(s.small.Y) - 0.5,
	}
	r := Square(at, s.size)
	inside := image.Pt(
		min(max(r.Min.X, 0), s.full.X-s.size),
		min(max(r.Min.Y, 0), s.full.Y-s.size),
	)
	return r.Add(inside.Sub(r.Min)), nil
}

func (s *finder) Close() error { return s.shrunk.Close() }

// shrink returns full, scaled down if necessary so that its longer side is most.
func shrink(full image.Point, most float64) image.Point {
	ratio := min(1, most/float64(max(full.X, full.Y)))
	return image.Pt(
		max(1, int(math.Round(float64(full.X)*ratio))),
		max(1, int(math.Round(float64(full.Y)*ratio))),
	)
}

// grey returns the mean of a picture's channels.
func grey(values []float32, channels int) []float32 {
	g := make([]float32, len(values)/channels)
	for i := range g {
		for _, v := range values[i*channels : (i+1)*channels] {
			g[i] += v / float32(channels)
		}
	}
	return g
}
