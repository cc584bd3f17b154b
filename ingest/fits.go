package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"driftscope/ingest/fits"
	"driftscope/ingest/tiff"
	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
)

// fitsOptions are the keys of a FITS source.
type fitsOptions struct {
	Path string  `yaml:"path"` // one complete file, a picture or a cube
	DT   float64 `yaml:"dt"`   // seconds from frame to frame
	FPS  float64 `yaml:"fps"`  // frames a second, in place of dt; default: the file's own
}

// fitsSource gives the planes of a cube in their order.
type fitsSource struct {
	path string
	clock
	file *os.File
	cube *fits.Cube
	page tiff.Image
}

func newFITS(decode func(dst any) error) (pipeline.Source, error) {
	var o fitsOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Path == "" {
		return nil, errors.New("path is missing: give a FITS file")
	}
	c, err := newClock(o.DT, o.FPS)
	if err != nil {
		return nil, err
	}
	return &fitsSource{path: o.Path, clock: c}, nil
}

// Open reads the header.
func (s *fitsSource) Open(context.Context) error {
	file, size, err := openRegular(s.path)
	if err != nil {
		return err
	}
	if s.cube, err = fits.Open(file, size); err != nil {
		file.Close()
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.file = file
	s.readInterval()
	s.settle()
	return nil
}

// Keywords of the time from frame to frame, Andor's kinetic cycle first, and of the exposure; all in seconds.
var (
	cycleKeywords    = []string{"KCT", "KINETIC", "CYCLETIM"}
	exposureKeywords = []string{"EXPTIME", "EXPOSURE"}
)

// readInterval takes the file's own time steps where the person gave none. Those of an exposure leave out the time between two,
// so they come with a warning.
func (s *fitsSource) readInterval() {
	if s.timed {
		return
	}
	if _, cycle, found := s.seconds(cycleKeywords); found {
		s.interval, s.timed = cycle, true
	} else if keyword, exposure, found := s.seconds(exposureKeywords); found {
		s.interval, s.timed = exposure, true
		s.warn("exposure_as_interval", fmt.Sprintf("time steps are taken to be the exposure, for the file knows only %s = %g s: give --dt or --fps if the camera waited between frames", keyword, exposure))
	}
}

// seconds is the first of the keywords that holds a time from frame to frame.
func (s *fitsSource) seconds(keywords []string) (keyword string, v float64, found bool) {
	for _, keyword := range keywords {
		if v, found := s.cube.Number(keyword); found && v >= minInterval && v <= maxInterval {
			return keyword, v, true
		}
	}
	return "", 0, false
}

// Frames is the number of planes; good after Open.
func (s *fitsSource) Frames() int {
	if s.cube == nil {
		return 0
	}
	return s.cube.Planes
}

// Read returns the next plane.
func (s *fitsSource) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.next >= uint64(s.cube.Planes) {
		return nil, io.EOF
	}
	if err := s.cube.Read(&s.page, int(s.next)); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	mat, err := toMat(&s.page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return s.frame(mat, s.now(), frame.Meta{File: s.path})
}

// Close closes the file.
func (s *fitsSource) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
