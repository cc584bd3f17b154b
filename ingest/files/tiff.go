package files

import (
	"context"
	"errors"
	"fmt"
	"io"

	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// tiffOptions are the keys of a TIFF source.
type tiffOptions struct {
	Growing `yaml:",inline"`
	Plane   `yaml:",inline"`
}

// tiffSource returns the pages of a file in their order. For a hyperstack it returns only the pages of the chosen channel and slice, or all pages if none is
// chosen.
type tiffSource struct {
	path   string
	clock  timing.Clock
	choice choice
	series tiff.Series
	stack  picture.Stack
	at     int  // index of the page after the last one read
	first  bool // Open read the stack's page, and Read has not returned it
}

// NewTIFF makes a source that reads the pages of a file, complete or growing.
func NewTIFF(decode func(dst any) error) (pipeline.Source, error) {
	var o tiffOptions
	c, t, err := o.times(decode(&o), "a TIFF file")
	if err != nil {
		return nil, err
	}
	chosen := choice{o.Channel, o.Slice}
	if o.Channel < 0 || o.Slice < 0 {
		return nil, fmt.Errorf("channel is %d and slice is %d, numbers from 1 expected", o.Channel, o.Slice)
	}
	if o.Follow && chosen.made() {
		return nil, errors.New("channel and slice cannot be chosen in a followed file, because its description is often written last: follow an NDTiff, or a file of one channel")
	}
	if o.Follow {
		return &growingTIFF{path: o.Path, clock: c, tail: t}, nil
	}
	return &tiffSource{path: o.Path, clock: c, choice: chosen}, nil
}

// Info returns the number of chosen pages and the compression of the page read last.
func (s *tiffSource) Info() pipeline.Info {
	info := pipeline.Info{Timed: s.clock.Timed()}
	if s.stack.Pages == nil {
		return info
	}
	info.Compression = s.stack.Pages.Compression()
	for page := range s.stack.Pages.Pages() {
		if s.choice.has(s.series, page) {
			info.Frames++
		}
	}
	return info
}

// Open reads the first page, and so rejects a file without pages.
func (s *tiffSource) Open(context.Context) error {
	if err := s.open(); err != nil {
		s.stack.Close()
		return fmt.Errorf("%s: %w", s.path, err)
	}
	oneSeries := s.choice.made() || !s.series.Mixed()
	if oneSeries {
		s.clock.Described(s.series.Interval)
	}
	s.clock.Settle()
	if !oneSeries {
		mixed(&s.clock, s.series)
	}
	return nil
}

func (s *tiffSource) open() error {
	if err := s.stack.Open(s.path); err != nil {
		return err
	}
	if err := s.stack.Pages.Next(&s.stack.Page); err != nil {
		return err
	}
	s.series = s.stack.Pages.Series()
	var err error
	if s.choice, err = s.choice.of(s.series); err != nil {
		return err
	}
	s.at, s.first = 1, s.choice.has(s.series, 0)
	return nil
}

// mixed warns about a series whose pages differ in more than time.
func mixed(c *timing.Clock, s tiff.Series) {
	c.Warn("mixed_pages", fmt.Sprintf("the file has %d channels and %d slices at each time, and all are read as one series: choose a channel and a slice with tiff:FILE?channel=1&slice=1", s.Channels, s.Slices))
}

// Read returns the next page. It skips a damaged page as unreadable_page. If the file is cut off, Read returns the whole pages, then an error.
func (s *tiffSource) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.first {
		s.pass()
		if err := s.stack.Pages.Next(&s.stack.Page); err == io.EOF {
			return nil, err
		} else if errors.Is(err, tiff.ErrTorn) {
			return nil, fmt.Errorf("%s: %w; the pages before it were read", s.path, err)
		} else if err != nil {
			return nil, s.clock.Skip("unreadable_page", fmt.Errorf("%s: %w", s.path, err))
		}
	}
	s.first = false
	mat, err := picture.ToMat(&s.stack.Page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return s.clock.Frame(mat, s.clock.Now(), frame.Meta{File: s.path})
}

// pass moves to the next chosen page.
func (s *tiffSource) pass() {
	for ; s.at < s.stack.Pages.Pages() && !s.choice.has(s.series, s.at); s.at++ {
		s.stack.Pages.Skip()
	}
	s.at++
}

// Close closes the file.
func (s *tiffSource) Close() error { return s.stack.Close() }
