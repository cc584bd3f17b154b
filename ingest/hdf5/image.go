package hdf5

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// usualAxes are the default axes by number of axes.
var usualAxes = map[int]string{3: "tyx", 4: "tcyx", 5: "tczyx"}

// Image is a film in a dataset. Not safe for concurrent use.
type Image struct {
	Width, Height    int
	Times            int
	Channels, Slices int      // per time; 1 if there is no such axis
	Dataset          string   // its path
	Axes             string   // one of the letters t, c, z, y and x per axis
	Others           []string // other candidate datasets

	file     *file
	dataset  *dataset
	chunks   *chunks
	axes     bounded.Axes
	pictures *bounded.Pictures
	unpacker unpacker
	packed   []byte
}

// Open finds a dataset in a file of the given size. path names the dataset; "" selects the largest film. axes names the axes of the dataset, such as tczyx; ""
// means tyx for three axes, tcyx for four.
func Open(r io.ReaderAt, size int64, path, axes string) (*Image, error) {
	f, err := openFile(r, size)
	if err != nil {
		return nil, err
	}
	s := search{file: f, seen: map[uint64]bool{}}
	if err := s.visit(f.root, "/", 0); err != nil {
		return nil, err
	}
	d, others, err := s.choose(path)
	if err != nil {
		return nil, err
	}
	i := &Image{file: f, dataset: d, Dataset: d.path, Axes: axes, Others: others}
	if err := i.open(); err != nil {
		return nil, fmt.Errorf("dataset %s: %w", d.path, err)
	}
	return i, nil
}

// choose returns the dataset at a path, or the largest film if the path is empty.
func (s *search) choose(path string) (chosen *dataset, others []string, err error) {
	if path != "" {
		path = "/" + strings.Trim(path, "/")
		for _, d := range s.found {
			if d.path == path {
				return d, nil, nil
			}
		}
		return nil, nil, fmt.Errorf("there is no dataset %.80s, the file has %s: give one of these", printable(path), list(s.found))
	}
	var films []*dataset
	for _, d := range s.found {
		if len(d.shape) >= 3 && len(d.shape) <= bounded.AxisCount && d.unread == nil {
			films = append(films, d)
		}
	}
	if len(films) == 0 {
		for _, d := range s.found {
			if len(d.shape) >= 3 && d.unread != nil {
				return nil, nil, fmt.Errorf("dataset %s: %w", d.path, d.unread)
			}
		}
		return nil, nil, tiff.Unread("there is no dataset of 3 to 5 axes, the file has %s: give one and its axes, as dataset=/data and axes=tyx", list(s.found))
	}
	slices.SortStableFunc(films, func(a, b *dataset) int { return cmp.Compare(b.samplesAll(), a.samplesAll()) })
	if len(films) > 1 && films[0].samplesAll() == films[1].samplesAll() {
		return nil, nil, fmt.Errorf("several datasets may be the film, %s: choose one, as dataset=%s", list(films), films[0].path)
	}
	for _, d := range films[1:min(len(films), 1+listed)] {
		others = append(others, d.String())
	}
	return films[0], others, nil
}

// samplesAll returns the number of samples as a float, which cannot overflow.
func (d *dataset) samplesAll() float64 {
	n := 1.0
	for _, side := range d.shape {
		n *= float64(side)
	}
	return n
}

func (d *dataset) String() string { return fmt.Sprintf("%.80s %v", d.path, d.shape) }

// listed bounds the datasets named in an error.
const listed = 16

// list joins the names of datasets.
func list(found []*dataset) string {
	var names []string
	for _, d := range found[:min(len(found), listed)] {
		names = append(names, d.String())
	}
	if len(found) > listed {
		names = append(names, fmt.Sprintf("and %d more", len(found)-listed))
	}
	if names == nil {
		names = []string{"none"}
	}
	return strings.Join(names, ", ")
}

// open prepares the dataset for reading pictures.
func (i *Image) open() (err error) {
	d := i.dataset
	if d.unread != nil {
		return d.unread
	}
	if i.Axes == "" {
		if i.Axes = usualAxes[len(d.shape)]; i.Axes == "" {
			return fmt.Errorf("the names of its axes %v are not known: give them, as axes=tyx", d.shape)
		}
	}
	if err := i.lay(); err != nil {
		return err
	}
	d.layout.from = min(i.axes[bounded.Y], i.axes[bounded.X])
	if i.chunks, err = d.index(i.file); err != nil {
		return err
	}
	stride, step := make([]int, len(d.shape)), d.samples.Bytes
	for at, side := range slices.Backward(i.chunks.size) {
		stride[at] = step
		step *= side
	}
	i.pictures, err = bounded.NewPictures(bounded.Array{Axes: i.axes, Chunk: i.chunks.size, Stride: stride, Samples: d.samples, Fill: d.fill(), Load: i.load}, d.shape)
	return err
}

// lay finds the axes and size of a picture.
func (i *Image) lay() error {
	shape := i.dataset.shape
	i.axes = bounded.NoAxes
	if len(i.Axes) != len(shape) {
		return fmt.Errorf("axes is %.20s, %d letters expected for the shape %v", printable(i.Axes), len(shape), shape)
	}
	for at, letter := range strings.ToLower(i.Axes) {
		which := strings.IndexRune(bounded.AxisNames, letter)
		if which < 0 || i.axes[which] >= 0 {
			return fmt.Errorf("axes is %.20s, each of t, c, z, y and x at most once expected", printable(i.Axes))
		}
		i.axes[which] = at
	}
	if i.axes[bounded.Y] < 0 || i.axes[bounded.X] < 0 {
		return fmt.Errorf("axes is %.20s, which lacks y or x: give both", printable(i.Axes))
	}
	i.Height, i.Width = i.axes.Along(bounded.Y, shape), i.axes.Along(bounded.X, shape)
	i.Times, i.Channels, i.Slices = min(i.axes.Along(bounded.T, shape), bounded.MaxFrames), i.axes.Along(bounded.C, shape), i.axes.Along(bounded.Z, shape)
	if i.Times < 1 || i.Channels < 1 || i.Slices < 1 {
		return fmt.Errorf("its shape is %v, so it contains no picture: copy the file again, or give another dataset", shape)
	}
	return tiff.CheckSize(i.Width, i.Height, i.dataset.samples.Depth().Bytes())
}

// Tiles returns the number of chunks per picture.
func (i *Image) Tiles() int { return i.pictures.Tiles() }

// Written returns the number of times up to the last one with a written chunk.
func (i *Image) Written() int {
	if i.chunks.listed == nil {
		return i.Times
	}
	last := -1
	for n := range i.chunks.listed {
		for at, stride := range i.chunks.stride {
			if at == i.axes[bounded.T] {
				last = max(last, n/stride)
				break
			}
			n %= stride
		}
		if i.axes[bounded.T] < 0 {
			last = 0
		}
	}
	if last < 0 || i.axes[bounded.T] < 0 {
		return last + 1
	}
	return min(i.Times, (last+1)*i.chunks.size[i.axes[bounded.T]])
}

// Read reads the picture at a time, channel and slice, all from 0. Missing chunks have the fill value.
func (i *Image) Read(dst *tiff.Image, time, channel, slice int) (missing int, err error) {
	return i.pictures.Read(dst, bounded.Place{Time: time, Channel: channel, Slice: slice})
}

// load returns the unpacked chunk at a grid position, or nil if it was never written.
func (i *Image) load(grid []int) ([]byte, error) {
	at, found := i.chunks.locate(grid)
	if !found {
		return nil, nil
	}
	plain, err := i.fetch(at)
	if err != nil {
		return nil, fmt.Errorf("chunk %v: %w", grid, err)
	}
	return plain, nil
}

// fetch reads a chunk and unpacks it.
func (i *Image) fetch(at stored) (_ []byte, err error) {
	if at.bytes > bounded.MaxPacked {
		return nil, tiff.Unread("it has %d bytes, at most %d expected: write the file with smaller chunks", at.bytes, bounded.MaxPacked)
	}
	l := &i.dataset.layout
	if l.class == compact {
		if at.at+at.bytes > uint64(len(l.data)) {
			return nil, errors.New("the header has fewer bytes of samples than the shape needs: the file is damaged, copy it again")
		}
		return l.data[at.at:][:at.bytes], nil
	}
	if i.packed, err = i.file.part.Bytes(i.packed, at.at, at.bytes); err != nil || l.class != chunked {
		return i.packed, err
	}
	return i.unpacker.unpack(i.packed, i.dataset.filters, at.mask, i.chunks.bytes)
}
