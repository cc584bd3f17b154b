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

	"driftscope/ingest/follow"
	"driftscope/ingest/format"
	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// ndtiffOptions are the keys of an NDTiff source.
type ndtiffOptions struct {
	Growing `yaml:",inline"`
	Axes    map[string]any `yaml:"axes" reaches:"nothing"` // values of the images to read, such as {channel: DAPI, z: 3}; optional for an axis with one value
}

// ndtiffSource returns the images of one channel, position and slice in the order of the time axis. A gap in the axis, for example of a channel imaged less
// often, makes a longer time step.
type ndtiffSource struct {
	path   string
	clock  timing.Clock
	tail   follow.Tail
	follow bool
	series *series
	frames int // number of images found by Open

	folder    string // folder of the index
	indexFile *os.File
	index     *tiff.NDIndex
	torn      error // error at the end of the index
	file      *os.File
	page      tiff.Image
	ended     bool // the wait reached its limit

	own    func(tiff.NDTimes) float64 // returns the time of an image to use; nil if the images' times are not used
	asked  bool                       // own is final
	origin float64                    // time of the first image
	before float64                    // time of the last image
}

// NewNDTiff makes a source that reads one channel, position and slice of a Micro-Manager recording, complete or growing.
func NewNDTiff(decode func(dst any) error) (pipeline.Source, error) {
	var o ndtiffOptions
	c, t, err := o.times(decode(&o), "the folder that holds "+tiff.NDIndexName)
	if err != nil {
		return nil, err
	}
	images, err := newSeries(o.Axes)
	if err != nil {
		return nil, err
	}
	return &ndtiffSource{path: o.Path, clock: c, tail: t, series: images, follow: o.Follow, before: math.Inf(-1)}, nil
}

// IndexFolder returns the folder with the index: path, or its subfolder of full resolution. It returns "" if neither has an index.
func IndexFolder(path string) string {
	for _, folder := range []string{path, filepath.Join(path, "Full resolution")} {
		if info, err := os.Stat(filepath.Join(folder, tiff.NDIndexName)); err == nil && info.Mode().IsRegular() {
			return folder
		}
	}
	return ""
}

// Info returns the number of images of a complete recording.
func (s *ndtiffSource) Info() pipeline.Info {
	info := pipeline.Info{Timed: s.clock.Timed()}
	if !s.follow {
		info.Frames = s.frames
	}
	return info
}

// Open reads the index as far as it is written.
func (s *ndtiffSource) Open(context.Context) error {
	s.tail.Alive()
	if info, err := os.Stat(s.path); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is a file, the folder that holds %s expected: give its folder", s.path, tiff.NDIndexName)
	}
	if err := s.collect(); err != nil {
		return err
	}
	s.frames = len(s.series.picked)
	if s.frames == 0 && !s.follow {
		return s.nothing()
	}
	if s.frames > 0 {
		s.chooseTimes() // if the times are pending, the first Read asks again
	}
	return nil
}

// nothing returns an error that explains why no image was picked.
func (s *ndtiffSource) nothing() error {
	if s.torn != nil {
		return fmt.Errorf("%s: %w", s.path, s.torn)
	}
	return fmt.Errorf("%s: no image has axes %v, the recording has %s: choose from these", s.path, s.series.chosen, s.series)
}

// collect picks the images whose entries have arrived.
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

// openIndex opens the index once it exists.
func (s *ndtiffSource) openIndex() (err error) {
	if s.index != nil {
		return nil
	}
	if s.folder = IndexFolder(s.path); s.folder == "" {
		if s.follow {
			return nil
		}
		return fmt.Errorf("%s contains no %s: give the folder that Micro-Manager wrote", s.path, tiff.NDIndexName)
	}
	if s.indexFile, _, err = format.Open(filepath.Join(s.folder, tiff.NDIndexName)); err == nil {
		s.index = tiff.NewNDIndex(s.indexFile)
	}
	return err
}

// Read returns the next image. It skips an unreadable image as unreadable_image. It skips an image as out_of_order if the index lists it after a later image,
// or if its time is not later than the previous image's.
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

// pending reports that the index lists an image whose file does not contain it yet, as happens on network drives.
func (s *ndtiffSource) pending(err error) bool {
	return s.follow && !s.ended && (errors.Is(err, tiff.ErrTornFolder) || errors.Is(err, fs.ErrNotExist))
}

// damaged reports that the end of the index is damaged for good.
func (s *ndtiffSource) damaged() bool { return s.torn != nil && !errors.Is(s.torn, tiff.ErrTornFolder) }

// end returns the result of Read after the last image.
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

// give makes a frame of the first picked image. A pending image stays picked.
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
		return nil, s.clock.Skip("out_of_order", fmt.Errorf("%s: the index lists image %d after image %d, so it is left out", s.path, image.step, s.series.last))
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

// load reads the pixels into s.page and returns the image's time.
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
		return 0, fmt.Errorf("its time is %g s, at most %g expected: give dt or fps", t, float64(timing.MaxTime))
	}
	return t, nil
}

// openFile opens the named TIFF file if it is not open.
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

// Close closes all open files.
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
