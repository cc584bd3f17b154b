package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"driftscope/ingest/follow"
	"driftscope/ingest/format"
	"driftscope/ingest/ndtiff"
	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// ndtiffOptions are the keys of an NDTiff source.
type ndtiffOptions struct {
	Path string         `yaml:"path" reaches:"read"`    // the folder that Micro-Manager writes to
	Axes map[string]any `yaml:"axes" reaches:"nothing"` // which images, such as {channel: DAPI, z: 3}; an axis with one value need not be named
	DT   float64        `yaml:"dt"`                     // seconds from one step of the time axis to the next; default: the images' own times
	FPS  float64        `yaml:"fps"`                    // steps a second, in place of dt

	Follow    bool          `yaml:"follow"`     // wait for more images
	UntilIdle time.Duration `yaml:"until_idle"` // how long, at most; default: for ever
}

// ndtiffSource gives the images of one channel, position and slice in the order of the time axis. Where that has gaps, as those of a
// channel that is imaged now and then, the steps are longer.
type ndtiffSource struct {
	path   string
	clock  timing.Clock
	tail   follow.Tail
	follow bool
	series *series
	frames int // that were there when it was opened

	folder    string // with the index in it
	indexFile *os.File
	index     *ndtiff.Index
	torn      error // how the index ends
	file      *os.File
	page      tiff.Image
	ended     bool // nothing came for too long

	own    func(ndtiff.Times) float64 // which of an image's own times count; nil where none do
	asked  bool                       // for that
	origin float64                    // time of the first image
	before float64                    // of the last one
}

// NewNDTiff makes a source of one channel, position and slice of what Micro-Manager wrote, or writes.
func NewNDTiff(decode func(dst any) error) (pipeline.Source, error) {
	var o ndtiffOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Path == "" {
		return nil, errors.New("path is missing: give the folder that holds " + ndtiff.IndexName)
	}
	c, err := timing.NewClock(o.DT, o.FPS)
	if err != nil {
		return nil, err
	}
	t, err := follow.NewTail(o.Follow, o.UntilIdle)
	if err != nil {
		return nil, err
	}
	images, err := newSeries(o.Axes)
	if err != nil {
		return nil, err
	}
	return &ndtiffSource{path: o.Path, clock: c, tail: t, series: images, follow: o.Follow, before: math.Inf(-1)}, nil
}

// IndexFolder is the folder with the index: the given one, or that of the full resolution in it. Empty is none.
func IndexFolder(path string) string {
	for _, folder := range []string{path, filepath.Join(path, "Full resolution")} {
		if info, err := os.Stat(filepath.Join(folder, ndtiff.IndexName)); err == nil && info.Mode().IsRegular() {
			return folder
		}
	}
	return ""
}

// Info counts the images where the recording is complete.
func (s *ndtiffSource) Info() pipeline.Info {
	info := pipeline.Info{Timed: s.clock.Timed()}
	if !s.follow {
		info.Frames = s.frames
	}
	return info
}

// Open reads the index as far as it is there.
func (s *ndtiffSource) Open(context.Context) error {
	s.tail.Alive()
	if info, err := os.Stat(s.path); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is a file, the folder that holds %s expected: give its folder", s.path, ndtiff.IndexName)
	}
	if err := s.collect(); err != nil {
		return err
	}
	s.frames = len(s.series.picked)
	if s.frames == 0 && !s.follow {
		return s.nothing()
	}
	if s.frames > 0 {
		s.chooseTimes() // what is pending is asked for again with the first image
	}
	return nil
}

// nothing says why no image was picked.
func (s *ndtiffSource) nothing() error {
	if s.torn != nil {
		return fmt.Errorf("%s: %w", s.path, s.torn)
	}
	return fmt.Errorf("%s: no image at axes %v, there is %s: choose among them", s.path, s.series.chosen, s.series)
}

// collect picks the images whose entries have come.
func (s *ndtiffSource) collect() error {
	if err := s.openIndex(); err != nil || s.index == nil {
		return err
	}
	for {
		e, err := s.index.Next()
		if s.torn = nil; err != nil && err != io.EOF {
			s.torn = err
		}
		if err == nil {
			s.tail.Alive()
			err = s.series.add(e)
			if err == nil {
				continue
			}
			return fmt.Errorf("%s: %w", s.path, err)
		}
		if err := s.series.settle(); err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
		return nil
	}
}

// openIndex opens the index once it is there.
func (s *ndtiffSource) openIndex() (err error) {
	if s.index != nil {
		return nil
	}
	if s.folder = IndexFolder(s.path); s.folder == "" {
		if s.follow {
			return nil
		}
		return fmt.Errorf("%s holds no %s: give the folder that Micro-Manager wrote", s.path, ndtiff.IndexName)
	}
	if s.indexFile, _, err = format.Open(filepath.Join(s.folder, ndtiff.IndexName)); err == nil {
		s.index = ndtiff.NewIndex(s.indexFile)
	}
	return err
}

// Read returns the next image. One that cannot be read is skipped as unreadable_image, one that the index names after a later one, or
// whose own time is not later, as out_of_order.
func (s *ndtiffSource) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.follow && !s.ended && len(s.series.picked) == 0 {
			if err := s.collect(); err != nil {
				return nil, err
			}
		}
		if len(s.series.picked) > 0 {
			if f, err := s.give(); err == nil || !s.pending(err) {
				s.tail.Alive()
				return f, err
			}
		} else if !s.follow || s.ended || s.damaged() {
			return nil, s.end()
		}
		if err := s.tail.Wait(ctx); err == io.EOF {
			s.ended = true
		} else if err != nil {
			return nil, err
		}
	}
}

// pending says that an image is named in the index and not yet in its file, as network drives may show it.
func (s *ndtiffSource) pending(err error) bool {
	return s.follow && !s.ended && (errors.Is(err, ndtiff.ErrTorn) || errors.Is(err, fs.ErrNotExist))
}

// damaged says that the index ends in something that no writer will mend.
func (s *ndtiffSource) damaged() bool { return s.torn != nil && !errors.Is(s.torn, ndtiff.ErrTorn) }

// end is what Read returns after the last image.
func (s *ndtiffSource) end() error {
	torn := s.torn
	s.torn = nil
	switch {
	case torn == nil && s.series.fixed == nil && len(s.series.values) > 0:
		return s.nothing()
	case torn == nil:
		return io.EOF
	case s.ended:
		return s.clock.Skip("torn_image", fmt.Errorf("%s: %w: its writer stopped within it", s.path, torn))
	}
	return fmt.Errorf("%s: %w; the images before it were read", s.path, torn)
}

// give makes a frame of the first image that was picked. Where it is still pending it stays so.
func (s *ndtiffSource) give() (*frame.Frame, error) {
	if !s.asked {
		if err := s.chooseTimes(); err != nil {
			return nil, err
		}
	}
	image := s.series.picked[0]
	t, err := s.load(&image)
	if err != nil && s.pending(err) {
		return nil, err
	}
	_, late := s.series.take()
	switch {
	case err != nil:
		return nil, s.clock.Skip("unreadable_image", fmt.Errorf("%s: image %d: %w", s.path, image.step, err))
	case late:
		return nil, s.clock.Skip("out_of_order", fmt.Errorf("%s: image %d comes after image %d in the index: it is left out", s.path, image.step, s.series.last))
	case !(t > s.before):
		return nil, s.clock.Skip("out_of_order", fmt.Errorf("%s: image %d was taken at %g s by its metadata, the one before at %g s: give dt or fps", s.path, image.step, t, s.before))
	}
	mat, err := picture.ToMat(&s.page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	s.before = t
	return s.clock.Frame(mat, t, frame.Meta{File: s.file.Name()})
}

// load reads the pixels into s.page, and when they were taken.
func (s *ndtiffSource) load(image *frameImage) (t float64, err error) {
	if err := s.openFile(image.entry.File); err != nil {
		return 0, err
	}
	if err := image.entry.Image(&s.page, s.file); err != nil {
		return 0, err
	}
	if s.own == nil {
		t = s.clock.At(image.step)
	} else {
		times, err := image.entry.Times(s.file)
		if err != nil {
			return 0, err
		}
		t = s.own(times) - s.origin
	}
	if !(math.Abs(t) <= timing.MaxTime) {
		return 0, fmt.Errorf("its time is %g s, within %g expected: give dt or fps", t, float64(timing.MaxTime))
	}
	return t, nil
}

// openFile makes the TIFF file of that name the open one.
func (s *ndtiffSource) openFile(name string) (err error) {
	path := filepath.Join(s.folder, name)
	if s.file != nil && s.file.Name() == path {
		return nil
	}
	if s.file != nil {
		s.file.Close()
	}
	s.file, _, err = format.Open(path)
	return err
}

// Close closes what is open.
func (s *ndtiffSource) Close() error {
	var errs []error
	for _, file := range []*os.File{s.indexFile, s.file} {
		if file != nil {
			errs = append(errs, file.Close())
		}
	}
	s.indexFile, s.index, s.file = nil, nil, nil
	return errors.Join(errs...)
}
