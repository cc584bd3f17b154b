package files

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"driftscope/ingest/format"
	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/ingest/zarr"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// zarrOptions are the keys of a Zarr source.
type zarrOptions struct {
	Growing `yaml:",inline"`
	Plane   `yaml:",inline"`
	Level   int `yaml:"level"` // resolution level; 0 is the finest
}

// zarrSource returns the frames of one channel and slice of a store in the order of the time axis.
type zarrSource struct {
	zarrStore
	clock timing.Clock
	last  int // the last written frame
}

// zarrStore is a store, complete or growing, and the channel, slice and level chosen in it.
type zarrStore struct {
	path   string
	level  int
	choice choice
	image  *zarr.Image // nil before Open
	page   tiff.Image
	filled bool // the warning about missing chunks was given
}

// NewZarr makes a source that reads one channel and slice of an OME-Zarr store, complete or growing.
func NewZarr(decode func(dst any) error) (pipeline.Source, error) {
	var o zarrOptions
	c, t, err := o.times(decode(&o), "the folder of an OME-Zarr picture")
	if err != nil {
		return nil, err
	}
	if o.Channel < 0 || o.Slice < 0 || o.Level < 0 {
		return nil, fmt.Errorf("channel is %d, slice is %d and level is %d, channels and slices from 1 and levels from 0 expected", o.Channel, o.Slice, o.Level)
	}
	store := zarrStore{path: o.Path, level: o.Level, choice: choice{o.Channel, o.Slice}}
	if o.Follow {
		return &growingZarr{zarrStore: store, clock: c, tail: t}, nil
	}
	return &zarrSource{zarrStore: store, clock: c}, nil
}

// IsZarr reports whether a folder is a Zarr store, by its name or contents.
func IsZarr(folder string) bool {
	if format.Extension(folder) == ".zarr" {
		return true
	}
	for _, name := range zarr.Names {
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// open reads the metadata and chooses the frames and their times.
func (s *zarrStore) open(clock *timing.Clock) error {
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is a file, the folder of a Zarr store expected: unpack it, or give its folder", s.path)
	}
	image, err := zarr.Open(os.DirFS(s.path), s.level)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	chosen, err := s.choice.among(image.Channels, image.Slices)
	if err != nil {
		return fmt.Errorf("%s: %w%s, as zarr:%s?channel=1&slice=1", s.path, err, labelled(image.Labels), s.path)
	}
	s.image, s.choice = image, chosen
	clock.Described(image.Interval)
	clock.Settle()
	return nil
}

// labelled lists the names of channels.
func labelled(labels []string) string {
	var names []string
	for i, label := range labels {
		label = strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return unicode.ReplacementChar
		}, label)
		names = append(names, fmt.Sprintf("%d is %.64s", i+1, label))
	}
	if names == nil {
		return ""
	}
	return " (channel " + strings.Join(names, ", ") + ")"
}

// place returns the position of frame n.
func (s *zarrStore) place(n int) zarr.Place {
	return zarr.Place{Time: n, Channel: s.choice.channel - 1, Slice: s.choice.slice - 1}
}

// PixelUM returns the sides of a pixel in micrometres, or 0 if the store does not say. Valid after Open.
func (s *zarrStore) PixelUM() (x, y float64) {
	if s.image == nil {
		return 0, 0
	}
	return s.image.PixelUM[0], s.image.PixelUM[1]
}

// Close frees the memory for reading.
func (s *zarrStore) Close() error {
	if s.image != nil {
		s.image.Close()
	}
	return nil
}

// give makes a frame of the page read last.
func (s *zarrStore) give(clock *timing.Clock, missing int) (*frame.Frame, error) {
	n := clock.Next()
	if missing > 0 && !s.filled {
		s.filled = true
		tellMissing(clock, missing, s.image.Tiles())
	}
	mat, err := picture.ToMat(&s.page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	f, err := clock.Frame(mat, clock.Now(), frame.Meta{File: s.path})
	if x, y := s.PixelUM(); err == nil && n == 0 {
		tellPixel(f, "store", x, y)
	}
	return f, err
}

// absent returns the error of a missing or incomplete frame. The last frame may be incomplete because its writer stopped there.
func (s *zarrStore) absent(clock *timing.Clock, missing int, last bool) error {
	n := clock.Next()
	switch {
	case missing == s.image.Tiles():
		return clock.Skip("missing_frame", fmt.Errorf("%s: frame %d was not written, but later ones were", s.path, n))
	case last:
		return clock.Skip("torn_frame", fmt.Errorf("%s: the last frame, %d, lacks %d of %d chunks, because its writer stopped there", s.path, n, missing, s.image.Tiles()))
	}
	return nil
}

// Info returns the number of frames up to the last written one.
func (s *zarrSource) Info() pipeline.Info {
	info := pipeline.Info{Timed: s.clock.Timed()}
	if s.image != nil {
		info.Frames = s.last + 1
	}
	return info
}

// Open reads the metadata and finds the written frames.
func (s *zarrSource) Open(context.Context) (err error) {
	if err := s.open(&s.clock); err != nil {
		return err
	}
	if s.last, err = s.image.Last(s.place(0), false); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	room := s.image.Times()
	if s.last < 0 {
		return fmt.Errorf("%s has room for %d frames, but none was written: copy it again, or follow it while it is written", s.path, room)
	}
	tellUnwritten(&s.clock, "store", room, s.last+1)
	return nil
}

// Read returns the next frame. It skips unreadable frames (unreadable_frame), frames that were never written (missing_frame), and an incomplete last
// frame (torn_frame).
func (s *zarrSource) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := int(s.clock.Next())
	if n > s.last {
		return nil, io.EOF
	}
	missing, _, err := s.image.Read(&s.page, s.place(n))
	if err != nil {
		return nil, s.clock.Skip("unreadable_frame", fmt.Errorf("%s: frame %d: %w", s.path, n, err))
	}
	if missing > 0 {
		if err := s.absent(&s.clock, missing, n == s.last && n+1 < s.image.Times()); err != nil {
			return nil, err
		}
	}
	return s.give(&s.clock, missing)
}
