package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"driftscope/ingest/format"
	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// indexed is a recording in one file whose index Open reads. Times, channels and slices count from 0.
type indexed interface {
	// Axes returns the numbers of times, channels and slices.
	Axes() (times, channels, slices int)
	// Read reads a picture. It returns the number of missing parts and of all parts.
	Read(dst *tiff.Image, time, channel, slice int) (missing, parts int, err error)
	// At returns when a picture was taken, in seconds from any origin, or NaN if unknown.
	At(time, channel, slice int) (float64, error)
	// Interval returns the time step from the file, in seconds, or 0 if unknown.
	Interval() float64
	// PixelUM returns the sides of a pixel in micrometres, or 0 if unknown.
	PixelUM() (x, y float64)
	// Labels returns the names of the channels. It may lack names at its end, or be empty.
	Labels() []string
	// Close frees the read buffers. The caller must close the file.
	Close() error
}

// opener reads a file's description. It passes warnings to the clock.
type opener = func(file *os.File, size int64, clock *timing.Clock) (indexed, error)

// finishedSource returns the frames of one channel and slice in the order of time. For a single time it returns the slices of
// one channel.
type finishedSource struct {
	kind   string
	path   string
	clock  timing.Clock
	choice choice
	open   opener

	file   *os.File
	film   indexed
	page   tiff.Image
	frames int
	slices bool // frames follow the slices
	filled bool // the warning about missing parts was given

	own    bool    // use the frames' own times
	origin float64 // time of the first
	before float64 // time of the last frame
}

// finishedOptions are the keys of a source of one complete file.
type finishedOptions struct {
	Film  `yaml:",inline"`
	Plane `yaml:",inline"`
}

// newFinished makes the source after it has checked the options that all sources of complete files share.
func newFinished(kind string, o finishedOptions, open opener) (pipeline.Source, error) {
	c, err := o.times(nil, "a file")
	if err != nil {
		return nil, err
	}
	if o.Channel < 0 || o.Slice < 0 {
		return nil, fmt.Errorf("channel is %d and slice is %d, numbers from 1 expected", o.Channel, o.Slice)
	}
	return &finishedSource{kind: kind, path: o.Path, clock: c, choice: choice{o.Channel, o.Slice}, open: open, before: math.Inf(-1)}, nil
}

// Info returns the number of chosen frames.
func (s *finishedSource) Info() pipeline.Info {
	return pipeline.Info{Timed: s.clock.Timed(), Frames: s.frames}
}

// PixelUM returns the sides of a pixel in micrometres, or 0 if the file does not say. Valid after Open.
func (s *finishedSource) PixelUM() (x, y float64) {
	if s.film == nil {
		return 0, 0
	}
	return s.film.PixelUM()
}

// Open reads the index and chooses the frames and their times.
func (s *finishedSource) Open(context.Context) error {
	file, size, err := format.OpenFilled(s.path)
	if err != nil {
		return err
	}
	s.file = file
	if s.film, err = s.open(file, size, &s.clock); err == nil {
		err = s.choose()
	}
	if err != nil {
		s.Close()
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.settleTimes()
	return nil
}

// choose sets the channel and the slice, or makes the slices of a single time the frames.
func (s *finishedSource) choose() (err error) {
	times, channels, depths := s.film.Axes()
	if s.slices = times == 1 && depths > 1 && s.choice.slice == 0; s.slices {
		s.choice.slice = 1
	}
	if s.choice, err = s.choice.among(channels, depths); err != nil {
		return fmt.Errorf("%w%s, as %s:%s?channel=1&slice=1", err, labelled(s.film.Labels()), s.kind, s.path)
	}
	s.frames = times
	if s.slices {
		s.frames = depths
		s.clock.Warn("slices_as_frames", fmt.Sprintf("the file has one time and %d slices, so the slices are read as frames: give --dt or --fps to set the time between them", depths))
	}
	return nil
}

// place returns the position of frame n.
func (s *finishedSource) place(n int) (time, channel, slice int) {
	if s.slices {
		return 0, s.choice.channel - 1, n
	}
	return n, s.choice.channel - 1, s.choice.slice - 1
}

// settleTimes uses the frames' own times if the user gave none and the first two increase, otherwise the time step of the
// file.
func (s *finishedSource) settleTimes() {
	if !s.clock.Timed() {
		first, err := s.film.At(s.place(0))
		rising := err == nil && !math.IsNaN(first)
		if rising && s.frames > 1 {
			second, err := s.film.At(s.place(1))
			rising = err == nil && second > first
		}
		if rising {
			s.own, s.origin = true, first
			s.clock.Own()
		} else if !s.slices {
			s.clock.Described(s.film.Interval())
		}
	}
	s.clock.Settle()
}

// Read returns the next frame. It skips a frame that cannot be read as unreadable_frame, one that was never written as
// missing_frame, and one whose time is not later than the previous one as out_of_order.
func (s *finishedSource) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := int(s.clock.Next())
	if n >= s.frames {
		return nil, io.EOF
	}
	time, channel, slice := s.place(n)
	missing, parts, err := s.film.Read(&s.page, time, channel, slice)
	if err != nil {
		return nil, s.clock.Skip("unreadable_frame", fmt.Errorf("%s: frame %d: %w", s.path, n, err))
	}
	if missing > 0 && missing == parts {
		return nil, s.clock.Skip("missing_frame", fmt.Errorf("%s: frame %d was not written, but later ones were", s.path, n))
	}
	t, err := s.at(n)
	if err != nil {
		return nil, err
	}
	if missing > 0 && !s.filled {
		s.filled = true
		tellMissing(&s.clock, missing, parts)
	}
	mat, err := picture.ToMat(&s.page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	f, err := s.clock.Frame(mat, t, frame.Meta{File: s.path})
	if x, y := s.PixelUM(); err == nil && n == 0 {
		tellPixel(f, "file", x, y)
	}
	return f, err
}

// tellMissing adds a warning about missing chunks to the next frame.
func tellMissing(clock *timing.Clock, missing, chunks int) {
	clock.Warn("missing_chunks", fmt.Sprintf("frame %d lacks %d of %d chunks, and their pixels get the fill value; other frames may lack chunks, too: check whether the writer leaves out empty chunks", clock.Next(), missing, chunks))
}

// tellUnwritten warns if a file has room for more frames than were written.
func tellUnwritten(clock *timing.Clock, what string, room, written int) {
	if written < room {
		clock.Warn("unwritten_frames", fmt.Sprintf("the %s has room for %d frames, but its last %d frames were never written", what, room, room-written))
	}
}

// tellPixel adds the pixel size to a frame, if it is known.
func tellPixel(f *frame.Frame, what string, x, y float64) {
	if x > 0 && y > 0 {
		f.Notice(false, "pixel_size", fmt.Sprintf("the %s states a pixel size of %.6g by %.6g µm: set online.pixel_um: %.6g to get diffusion in µm²/s", what, x, y, x))
	}
}

// at returns the time of frame n in seconds, or an error if it has none.
func (s *finishedSource) at(n int) (float64, error) {
	if !s.own {
		return s.clock.Now(), nil
	}
	t, err := s.film.At(s.place(n))
	if err != nil {
		return 0, s.clock.Skip("unreadable_frame", fmt.Errorf("%s: frame %d: %w", s.path, n, err))
	}
	if t -= s.origin; !(t > s.before) || !(math.Abs(t) <= timing.MaxTime) {
		return 0, s.clock.Skip("out_of_order", fmt.Errorf("%s: frame %d was taken at %g s by its metadata, the one before at %g s: give dt or fps", s.path, n, t, s.before))
	}
	s.before = t
	return t, nil
}

// Close closes the file.
func (s *finishedSource) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.film != nil {
		err = errors.Join(err, s.film.Close())
	}
	s.file = nil
	return err
}
