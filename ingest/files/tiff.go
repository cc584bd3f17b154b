package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// tiffOptions are the keys of a TIFF source.
type tiffOptions struct {
	Path string  `yaml:"path" reaches:"read"` // one file of one or more pages
	DT   float64 `yaml:"dt"`                  // seconds from frame to frame
	FPS  float64 `yaml:"fps"`                 // frames per second, instead of dt

	Channel int `yaml:"channel"` // of a hyperstack, from 1
	Slice   int `yaml:"slice"`   // of a hyperstack, from 1

	Follow    bool          `yaml:"follow"`     // wait for more pages at the end of the file
	UntilIdle time.Duration `yaml:"until_idle"` // longest wait; default: forever
}

// tiffSource returns the pages of a file in their order. For a hyperstack it returns the pages of the chosen channel and
// slice, or all pages.
type tiffSource struct {
	path   string
	clock  timing.Clock
	choice choice
	series tiff.Series
	stack  picture.Stack
	at     int  // index of the page after the last one read
	first  bool // Open read the stack's page, and Read has not returned it
}

// NewTIFF makes a source of a file's pages, or follows it.
func NewTIFF(decode func(dst any) error) (pipeline.Source, error) {
	var o tiffOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	c, t, err := shared{o.Path, "a TIFF file", o.DT, o.FPS, o.Follow, o.UntilIdle}.timing()
	if err != nil {
		return nil, err
	}
	chosen := choice{o.Channel, o.Slice}
	if o.Channel < 0 || o.Slice < 0 {
		return nil, fmt.Errorf("channel: %d, slice: %d, numbers from 1 expected", o.Channel, o.Slice)
	}
	if o.Follow && chosen.made() {
		return nil, errors.New("channel and slice of a file that is followed cannot be chosen, for its description is often written last: follow an NDTiff, or a file of one channel")
	}
	if o.Follow {
		return &growingTIFF{path: o.Path, clock: c, tail: t}, nil
	}
	return &tiffSource{path: o.Path, clock: c, choice: chosen}, nil
}

// Info counts the chosen pages and describes the packing of the page read last.
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
	c.Warn("mixed_pages", fmt.Sprintf("the file has %d channels and %d slices at each time, and all are read as one series: choose one of each with tiff:FILE?channel=1&slice=1", s.Channels, s.Slices))
}

// Read returns the next page. It skips a damaged page as unreadable_page. If the file ends before its pages do, Read fails
// after the pages before the tear.
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
