package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// MaxFrames bounds the time axis.
const MaxFrames = bounded.MaxFrames

// Image is one picture of a store at one resolution. Not safe for concurrent use.
type Image struct {
	Width, Height    int
	Channels, Slices int        // per time; 1 if there is no such axis
	Labels           []string   // names of the channels; may lack the last ones, or all
	Interval         float64    // time step in seconds; 0 if it or its unit is unknown
	PixelUM          [2]float64 // along x and y; 0 if unknown

	level    int
	array    *array
	axes     bounded.Axes
	chunks   chunks
	pictures *bounded.Pictures
}

// Open reads the metadata of a store and selects a resolution level. Level 0 is the finest. While a store is being written, an fs.ErrNotExist or ErrTorn may be
// temporary.
func Open(store fs.FS, level int) (*Image, error) {
	m, plain, err := group(store)
	if err != nil {
		return nil, err
	}
	i := &Image{level: level}
	var named axes
	var scale []float64
	if plain {
		if level != 0 {
			return nil, fmt.Errorf("level is %d, 0 expected, because the store is a plain array: leave level out", level)
		}
		if i.array, err = openArray(store, "."); err == nil {
			named = i.array.own(m.Names)
			scale = make([]float64, len(i.array.shape))
		}
	} else {
		i.array, named, scale, err = m.level(store, level)
	}
	if err != nil {
		return nil, err
	}
	if len(named) == 0 && !plain {
		named = i.array.own(nil)
	}
	i.chunks = chunks{store: store, array: i.array}
	if err := i.lay(named); err != nil {
		return nil, err
	}
	i.measure(named, scale)
	for _, c := range m.Omero.Channels[:min(len(m.Omero.Channels), i.Channels, 64)] {
		i.Labels = append(i.Labels, c.Label)
	}
	return i, nil
}

// own returns the axes of an array from their names, or the default for its number of axes.
func (a *array) own(names []string) axes {
	for _, names := range [][]string{names, a.names} {
		if len(names) == len(a.shape) && !slices.Contains(names, "") {
			return namedAxes(names)
		}
	}
	return namedAxes(strings.Split(unknownAxes[len(a.shape)], ""))
}

// lay finds the axes and size of a picture.
func (i *Image) lay(named axes) error {
	if len(named) != len(i.array.shape) {
		return tiff.Unread("the array has %d axes, %d with a name, t, c, z, y and x expected: write the store with NGFF's metadata", len(i.array.shape), len(named))
	}
	i.axes = bounded.NoAxes
	for at, a := range named {
		which := letter(a.Name)
		switch {
		case which < 0 && a.Type == "time":
			which = bounded.T
		case which < 0 && a.Type == "channel":
			which = bounded.C
		}
		switch {
		case which >= 0 && i.axes[which] < 0:
			i.axes[which] = at
		case i.array.shape[at] != 1:
			return tiff.Unread("axis %d is %.40q with length %d, one each of t, c, z, y and x expected: export one of its positions", at, a.Name, i.array.shape[at])
		}
	}
	if i.axes[bounded.Y] < 0 || i.axes[bounded.X] < 0 {
		return tiff.Unread("the array lacks axis y or x, both expected: export its pictures as a separate store")
	}
	return i.fit()
}

// letter returns the picture axis with this name, or -1.
func letter(name string) int {
	if len(name) != 1 {
		return -1
	}
	return strings.Index(bounded.AxisNames, strings.ToLower(name))
}

// fit sets the sizes of the picture and its axes, and checks their bounds.
func (i *Image) fit() (err error) {
	i.Height, i.Width, i.Channels, i.Slices = i.size(bounded.Y), i.size(bounded.X), i.size(bounded.C), i.size(bounded.Z)
	a := i.array
	if err := tiff.CheckSize(i.Width, i.Height, a.samples.Depth().Bytes()); err != nil {
		return err
	}
	i.pictures, err = bounded.NewPictures(bounded.Array{Axes: i.axes, Chunk: a.chunk, Stride: a.stride, Samples: a.samples, Fill: a.filled, Load: i.chunks.load}, a.shape)
	return err
}

// size returns the length of an axis, or 1 if it does not exist.
func (i *Image) size(axis int) int { return i.axes.Along(axis, i.array.shape) }

// Times returns the number of frames in the metadata. Writers may reserve more frames than they write, or update the number late.
func (i *Image) Times() int { return min(i.size(bounded.T), MaxFrames) }

// Timed reports that there is a time axis.
func (i *Image) Timed() bool { return i.axes[bounded.T] >= 0 }

// Together returns the number of frames per chunk. A chunk does not show which of its frames were written.
func (i *Image) Together() int { return i.axes.Along(bounded.T, i.array.chunk) }

// Tiles returns the number of chunks per picture.
func (i *Image) Tiles() int { return i.pictures.Tiles() }

// Again reads the metadata again, because the number of frames may have grown. It returns an error if the store was replaced by a new one.
func (i *Image) Again() error {
	now, err := Open(i.chunks.store, i.level)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrTorn):
		return nil // the metadata are being written
	case err != nil:
		return err
	case now.axes != i.axes || !i.array.same(now.array, i.axes[bounded.T]):
		return errors.New("the size or type of the pictures changed, because the store was rewritten: start the run again")
	}
	i.array.shape = now.array.shape
	return nil
}

// Close frees the memory for reading.
func (i *Image) Close() { i.chunks.unpacker.close() }

// lengths are units of length in micrometres, by their UDUNITS-2 names, which NGFF uses, and by other names that writers use.
var lengths = map[string]float64{
	"angstrom": 1e-4, "nanometer": 1e-3, "nm": 1e-3, "micrometer": 1, "micron": 1, "um": 1, "\u00b5m": 1, "\u03bcm": 1,
	"millimeter": 1e3, "mm": 1e3, "centimeter": 1e4, "meter": 1e6,
}

// durations are units of time, in seconds.
var durations = map[string]float64{
	"nanosecond": 1e-9, "microsecond": 1e-6, "us": 1e-6, "millisecond": 1e-3, "ms": 1e-3, "second": 1, "s": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86400,
}

// measure sets the time step and the pixel size, if the metadata give a value and a unit.
func (i *Image) measure(named axes, scale []float64) {
	if t := i.axes[bounded.T]; t >= 0 {
		i.Interval = scale[t] * durations[named[t].Unit]
	}
	for n, axis := range []int{bounded.X, bounded.Y} {
		at := i.axes[axis]
		i.PixelUM[n] = scale[at] * lengths[named[at].Unit]
	}
}
