package files

import (
	"os"

	"driftscope/ingest/nd2"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/pipeline"
)

// NewND2 makes a source that reads one channel and slice of an ND2 file.
func NewND2(decode func(dst any) error) (pipeline.Source, error) {
	var o finishedOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	return newFinished("nd2", o, func(file *os.File, size int64, _ *timing.Clock) (indexed, error) {
		f, err := nd2.Open(file, size)
		if err != nil {
			return nil, err
		}
		return nd2Film{f}, nil
	})
}

// nd2Film is an ND2 file. Each picture has one part, and one time for all channels.
type nd2Film struct{ file *nd2.Film }

func (f nd2Film) Axes() (times, channels, slices int) {
	return f.file.Times, f.file.Channels, f.file.Slices
}

func (f nd2Film) Read(dst *tiff.Image, time, channel, slice int) (missing, parts int, err error) {
	found, err := f.file.Read(dst, time, channel, slice)
	return absent(found), 1, err
}

func (f nd2Film) At(time, _, slice int) (float64, error) { return f.file.At(time, slice) }
func (f nd2Film) Interval() float64                      { return f.file.Interval }
func (f nd2Film) PixelUM() (x, y float64)                { return f.file.PixelUM, f.file.PixelUM }
func (f nd2Film) Labels() []string                       { return f.file.Labels }
func (nd2Film) Close() error                             { return nil }
