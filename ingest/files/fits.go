package files

import (
	"context"
	"fmt"
	"io"
	"os"

	"driftscope/ingest/fits"
	"driftscope/ingest/format"
	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// fitsSource returns the planes of a cube in their order.
type fitsSource struct {
	path  string
	clock timing.Clock
	file  *os.File
	cube  *fits.Cube
	page  tiff.Image
}

// NewFITS makes a source that reads the planes of a FITS cube.
func NewFITS(decode func(dst any) error) (pipeline.Source, error) {
	var o Film
	c, err := o.times(decode(&o), "a FITS file")
	if err != nil {
		return nil, err
	}
	return &fitsSource{path: o.Path, clock: c}, nil
}

// Info returns the number of planes.
func (s *fitsSource) Info() pipeline.Info {
	info := pipeline.Info{Timed: s.clock.Timed()}
	if s.cube != nil {
		info.Frames = s.cube.Planes
	}
	return info
}

// Open reads the header.
func (s *fitsSource) Open(context.Context) error {
	file, size, err := format.OpenFilled(s.path)
	if err != nil {
		return err
	}
	if s.cube, err = fits.Open(file, size); err != nil {
		file.Close()
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.file = file
	s.readInterval()
	s.clock.Settle()
	return nil
}

// Keywords of the frame interval, with Andor's kinetic cycle first, and of the exposure; all in seconds.
var (
	cycleKeywords    = []string{"KCT", "KINETIC", "CYCLETIM"}
	exposureKeywords = []string{"EXPTIME", "EXPOSURE"}
)

// readInterval uses the file's own time step if the user gave none. If the file states only the exposure, readInterval adds a warning, because the time between
// two exposures is missing.
func (s *fitsSource) readInterval() {
	if s.clock.Timed() {
		return
	}
	if _, _, found := s.measured(cycleKeywords); found {
		return
	}
	if keyword, exposure, found := s.measured(exposureKeywords); found {
		s.clock.Warn("exposure_as_interval", fmt.Sprintf("the file states only %s = %g s, so time steps equal the exposure: give --dt or --fps if the camera waited between frames", keyword, exposure))
	}
}

// measured passes the frame interval of the first keyword that has one to the clock.
func (s *fitsSource) measured(keywords []string) (keyword string, seconds float64, found bool) {
	for _, keyword := range keywords {
		if v, found := s.cube.Number(keyword); found && s.clock.Measured(v) {
			return keyword, v, true
		}
	}
	return "", 0, false
}

// Read returns the next plane.
func (s *fitsSource) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.clock.Next() >= uint64(s.cube.Planes) {
		return nil, io.EOF
	}
	if err := s.cube.Read(&s.page, int(s.clock.Next())); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	mat, err := picture.ToMat(&s.page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return s.clock.Frame(mat, s.clock.Now(), frame.Meta{File: s.path})
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
