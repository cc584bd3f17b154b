package files

import (
	"os"

	"driftscope/ingest/czi"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/pipeline"
)

// NewCZI makes a source that reads one channel and slice of a CZI file.
func NewCZI(decode func(dst any) error) (pipeline.Source, error) {
	var o finishedOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	return newFinished("czi", o, func(file *os.File, size int64, _ *timing.Clock) (indexed, error) {
		f, err := czi.Open(file, size)
		if err != nil {
			return nil, err
		}
		return cziFilm{f}, nil
	})
}

// cziFilm is a CZI file. Each picture has one part.
type cziFilm struct{ file *czi.Film }

func (f cziFilm) Axes() (times, channels, slices int) {
	return f.file.Times, f.file.Channels, f.file.Slices
}

func (f cziFilm) Read(dst *tiff.Image, time, channel, slice int) (missing, parts int, err error) {
	found, err := f.file.Read(dst, time, channel, slice)
	return absent(found), 1, err
}

func (f cziFilm) At(time, channel, slice int) (float64, error) {
	return f.file.At(time, channel, slice)
}
func (f cziFilm) Interval() float64       { return f.file.Interval }
func (f cziFilm) PixelUM() (x, y float64) { return f.file.PixelUM[0], f.file.PixelUM[1] }
func (f cziFilm) Labels() []string        { return f.file.Labels }
func (f cziFilm) Close() error            { f.file.Close(); return nil }

// absent returns the number of missing parts, 0 or 1.
func absent(found bool) int {
	if found {
		return 0
	}
	return 1
}
