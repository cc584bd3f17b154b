package files

import (
	"fmt"
	"math"
	"os"
	"strings"

	"driftscope/ingest/hdf5"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/pipeline"
)

// hdf5Options are the keys of an HDF5 source.
type hdf5Options struct {
	Film  `yaml:",inline"`
	Plane `yaml:",inline"`

	Dataset string `yaml:"dataset" reaches:"nothing"` // path in the file; default: the largest dataset that can be a film
	Axes    string `yaml:"axes" reaches:"nothing"`    // one letter per axis; default: tyx, tcyx, tczyx
}

// NewHDF5 makes a source that reads one channel and slice of a dataset.
func NewHDF5(decode func(dst any) error) (pipeline.Source, error) {
	var o hdf5Options
	if err := decode(&o); err != nil {
		return nil, err
	}
	return newFinished("hdf5", finishedOptions{o.Film, o.Plane}, func(file *os.File, size int64, clock *timing.Clock) (indexed, error) {
		image, err := hdf5.Open(file, size, o.Dataset, o.Axes)
		if err != nil {
			return nil, err
		}
		return hdf5Film{image}, tellOf(image, clock)
	})
}

// tellOf warns about frames of a dataset that were not written, and about other datasets that can be films.
func tellOf(image *hdf5.Image, clock *timing.Clock) error {
	if len(image.Others) > 0 {
		clock.Warn("largest_dataset", fmt.Sprintf("dataset %s is read because it is the largest; the file also has %s: choose one with dataset=%s", image.Dataset, strings.Join(image.Others, ", "), image.Dataset))
	}
	written := image.Written()
	if written == 0 {
		return fmt.Errorf("dataset %s has room for %d frames, but none was written: copy the file again", image.Dataset, image.Times)
	}
	tellUnwritten(clock, "dataset", image.Times, written)
	image.Times = written
	return nil
}

// hdf5Film is a dataset without times.
type hdf5Film struct{ image *hdf5.Image }

func (f hdf5Film) Axes() (times, channels, slices int) {
	return f.image.Times, f.image.Channels, f.image.Slices
}

func (f hdf5Film) Read(dst *tiff.Image, time, channel, slice int) (missing, parts int, err error) {
	missing, err = f.image.Read(dst, time, channel, slice)
	return missing, f.image.Tiles(), err
}

func (hdf5Film) At(int, int, int) (float64, error) { return math.NaN(), nil }
func (hdf5Film) Interval() float64                 { return 0 }
func (hdf5Film) PixelUM() (x, y float64)           { return 0, 0 }
func (hdf5Film) Labels() []string                  { return nil }
func (hdf5Film) Close() error                      { return nil }

// HDF5Options parses a file name with options, such as FILE?dataset=/data&axes=tczyx&channel=2&slice=1.
func HDF5Options(text string) (options map[string]any, err error) {
	return chosenOptions(text, "h5:FILE?dataset=/data&axes=tczyx&channel=2&slice=1", "channel", "slice", "dataset", "axes")
}
