package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"driftscope/ingest/bounded"
	"driftscope/ingest/ndarray"
	"driftscope/ingest/tiff"
)

// MaxFrames bounds the time axis.
const MaxFrames = bounded.MaxFrames

// Image is one picture of a store, at one resolution. Not safe for concurrent use.
type Image struct {
	Width, Height    int
	Channels, Slices int        // at each time, 1 where there is no such axis
	Labels           []string   // of the channels, as far as they have any
	Interval         float64    // seconds from one time to the next; 0 where nothing is said, or not in which unit
	PixelUM          [2]float64 // along x and y; 0 where nothing is said

	level    int
	array    *array
	axes     ndarray.Axes
	chunks   chunks
	pictures *ndarray.Pictures
}

// Open reads the metadata of a store, and takes the resolution of that number, from 0, the finest. Of a store that is being written the error may
// pass: it is an fs.ErrNotExist or an ErrTorn then.
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
			return nil, fmt.Errorf("level: %d, 0 expected, for the store is a plain array: leave it out", level)
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

// own are the axes that an array names itself, or those that one of so many has.
func (a *array) own(names []string) axes {
	for _, names := range [][]string{names, a.names} {
		if len(names) == len(a.shape) && !slices.Contains(names, "") {
			return namedAxes(names)
		}
	}
	return namedAxes(strings.Split(unknownAxes[len(a.shape)], ""))
}

// lay finds the picture's axes among the array's, and its size.
func (i *Image) lay(named axes) error {
	if len(named) != len(i.array.shape) {
		return tiff.Unread("an array of %d axes of which %d are named, t, c, z, y and x expected: write the store with NGFF's metadata", len(i.array.shape), len(named))
	}
	i.axes = ndarray.NoAxes
	for at, a := range named {
		which := letter(a.Name)
		switch {
		case which < 0 && a.Type == "time":
			which = ndarray.T
		case which < 0 && a.Type == "channel":
			which = ndarray.C
		}
		switch {
		case which >= 0 && i.axes[which] < 0:
			i.axes[which] = at
		case i.array.shape[at] != 1:
			return tiff.Unread("axis %d is %.40q and %d long, one each of t, c, z, y and x expected: export one of its places", at, a.Name, i.array.shape[at])
		}
	}
	if i.axes[ndarray.Y] < 0 || i.axes[ndarray.X] < 0 {
		return tiff.Unread("no axes y and x, both expected of a picture: export its pictures as a store of their own")
	}
	return i.fit()
}

// letter is which of a picture's axes has that name, -1 where none has.
func letter(name string) int {
	if len(name) != 1 {
		return -1
	}
	return strings.Index(ndarray.Names, strings.ToLower(name))
}

// fit takes the sizes, and holds them to the bounds.
func (i *Image) fit() (err error) {
	i.Height, i.Width, i.Channels, i.Slices = i.size(ndarray.Y), i.size(ndarray.X), i.size(ndarray.C), i.size(ndarray.Z)
	a := i.array
	if err := tiff.CheckSize(i.Width, i.Height, a.samples.Depth().Bytes()); err != nil {
		return err
	}
	i.pictures, err = ndarray.NewPictures(ndarray.Array{Axes: i.axes, Chunk: a.chunk, Stride: a.stride, Samples: a.samples, Fill: a.filled, Load: i.chunks.load}, a.shape)
	return err
}

// size is how long an axis is, 1 where there is none.
func (i *Image) size(axis int) int { return i.axes.Along(axis, i.array.shape) }

// Times is how many frames there are room for by the metadata. Writers may make room for more than they write, or say so late.
func (i *Image) Times() int { return min(i.size(ndarray.T), MaxFrames) }

// Timed says that there is an axis of time.
func (i *Image) Timed() bool { return i.axes[ndarray.T] >= 0 }

// Together is how many frames one chunk holds: nobody can see which of them were written.
func (i *Image) Together() int { return i.axes.Along(ndarray.T, i.array.chunk) }

// Tiles is how many chunks a picture has.
func (i *Image) Tiles() int { return i.pictures.Tiles() }

// Again reads the metadata again, as they may say more by now. A store that was begun anew is an error.
func (i *Image) Again() error {
	now, err := Open(i.chunks.store, i.level)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrTorn):
		return nil // being written
	case err != nil:
		return err
	case now.axes != i.axes || !i.array.same(now.array, i.axes[ndarray.T]):
		return errors.New("the kind of its pictures changed: the store was rewritten, so start the run again")
	}
	i.array.shape = now.array.shape
	return nil
}

// Close frees what was taken for reading.
func (i *Image) Close() { i.chunks.unpacker.close() }

// lengths are units of space by their names in UDUNITS-2, which NGFF takes them from, and by those that writers give them, in micrometres.
var lengths = map[string]float64{
	"angstrom": 1e-4, "nanometer": 1e-3, "nm": 1e-3, "micrometer": 1, "micron": 1, "um": 1, "\u00b5m": 1, "\u03bcm": 1,
	"millimeter": 1e3, "mm": 1e3, "centimeter": 1e4, "meter": 1e6,
}

// durations are units of time, in seconds.
var durations = map[string]float64{
	"nanosecond": 1e-9, "microsecond": 1e-6, "us": 1e-6, "millisecond": 1e-3, "ms": 1e-3, "second": 1, "s": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86400,
}

// measure takes the time step and the size of a pixel, where the metadata say how long they are and in which unit.
func (i *Image) measure(named axes, scale []float64) {
	if t := i.axes[ndarray.T]; t >= 0 {
		i.Interval = scale[t] * durations[named[t].Unit]
	}
	for n, axis := range []int{ndarray.X, ndarray.Y} {
		at := i.axes[axis]
		i.PixelUM[n] = scale[at] * lengths[named[at].Unit]
	}
}
