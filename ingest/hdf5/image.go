package hdf5

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"driftscope/ingest/tiff"
)

// The bounds on a picture and its chunks.
const (
	maxChunk  = 128 << 20 // bytes, unpacked
	maxPacked = maxChunk + maxChunk/8
	maxTiles  = 1 << 16 // chunks of one picture
)

// MaxFrames bounds the time axis: 16 million frames are two days at 100 a second.
const MaxFrames = 1 << 24

// Axes of a picture; all but the last two may be missing.
const (
	axisT = iota
	axisC
	axisZ
	axisY
	axisX
	axesAll
)

const axisNames = "tczyx"

// usualAxes are those of so many axes of which nobody said what they are.
var usualAxes = map[int]string{3: "tyx", 4: "tcyx", 5: "tczyx"}

// Image is the film in a dataset. Not safe for concurrent use.
type Image struct {
	Width, Height    int
	Times            int
	Channels, Slices int      // at each time, 1 where there is no such axis
	Dataset          string   // its path
	Axes             string   // letters of t, c, z, y and x, one for each axis
	Others           []string // datasets that could have been meant, too

	file     *file
	dataset  *dataset
	chunks   *chunks
	axis     [axesAll]int // of the dataset; -1 where there is none
	step     []int        // bytes of an unpacked chunk from one sample to the next along each axis
	filled   []byte
	unpacker unpacker
	tiles    [2]int // down and across a picture
	grid     []int
	packed   []byte
	kept     kept
}

// kept are the unpacked chunks of the last frame.
type kept struct {
	grid  []int // of the first
	tiles [][]byte
}

// Open finds the dataset of that path in a file of the given size, or where it is empty the one that holds a film, or the largest of them. axes names the
// dataset's, as tczyx does; where it is empty those of three are t, y and x, of four t, c, y and x.
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

// choose takes the dataset of a path, or of those that can be a film the only or the largest one.
func (s *search) choose(path string) (chosen *dataset, others []string, err error) {
	if path != "" {
		path = "/" + strings.Trim(path, "/")
		for _, d := range s.found {
			if d.path == path {
				return d, nil, nil
			}
		}
		return nil, nil, fmt.Errorf("no dataset %.80s, there is %s: name one", printable(path), list(s.found))
	}
	var films []*dataset
	for _, d := range s.found {
		if len(d.shape) >= 3 && len(d.shape) <= axesAll && d.unread == nil {
			films = append(films, d)
		}
	}
	if len(films) == 0 {
		for _, d := range s.found {
			if len(d.shape) >= 3 && d.unread != nil {
				return nil, nil, fmt.Errorf("dataset %s: %w", d.path, d.unread)
			}
		}
		return nil, nil, fmt.Errorf("no dataset of 3 to 5 axes, there is %s: name one and its axes, as dataset=/data and axes=tyx", list(s.found))
	}
	slices.SortStableFunc(films, func(a, b *dataset) int { return cmp.Compare(b.samplesAll(), a.samplesAll()) })
	if len(films) > 1 && films[0].samplesAll() == films[1].samplesAll() {
		return nil, nil, fmt.Errorf("several datasets that can be films, %s: name one, as dataset=%s", list(films), films[0].path)
	}
	for _, d := range films[1:min(len(films), 1+listed)] {
		others = append(others, d.String())
	}
	return films[0], others, nil
}

// samplesAll is how many there are, as a number that cannot overflow.
func (d *dataset) samplesAll() float64 {
	n := 1.0
	for _, side := range d.shape {
		n *= float64(side)
	}
	return n
}

func (d *dataset) String() string { return fmt.Sprintf("%.80s %v", d.path, d.shape) }

// listed is how many datasets an error names.
const listed = 16

// list names datasets.
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

// open lays the dataset out as pictures.
func (i *Image) open() (err error) {
	d := i.dataset
	if d.unread != nil {
		return d.unread
	}
	if i.Axes == "" {
		if i.Axes = usualAxes[len(d.shape)]; i.Axes == "" {
			return fmt.Errorf("its axes %v are not known: name them, as axes=tyx", d.shape)
		}
	}
	if err := i.lay(); err != nil {
		return err
	}
	d.layout.from = min(i.axis[axisY], i.axis[axisX])
	if i.chunks, err = d.index(i.file); err != nil {
		return err
	}
	n := len(d.shape)
	i.step, i.grid = make([]int, n), make([]int, n)
	step := d.samples.bytes
	for at := n - 1; at >= 0; at-- {
		i.step[at] = step
		step *= i.chunks.size[at]
	}
	for at, axis := range []int{axisY, axisX} {
		i.tiles[at] = i.chunks.grid[i.axis[axis]]
	}
	if i.tiles[0] > maxTiles/i.tiles[1] {
		return fmt.Errorf("pictures of %dx%d chunks, at most %d expected: write it in larger ones", i.tiles[1], i.tiles[0], maxTiles)
	}
	i.filled = d.fill()
	return nil
}

// lay finds the picture's axes among the dataset's, and its size.
func (i *Image) lay() error {
	shape := i.dataset.shape
	i.axis = [axesAll]int{-1, -1, -1, -1, -1}
	if len(i.Axes) != len(shape) {
		return fmt.Errorf("axes: %.20s, %d letters expected for its shape %v", printable(i.Axes), len(shape), shape)
	}
	for at, letter := range strings.ToLower(i.Axes) {
		which := strings.IndexRune(axisNames, letter)
		if which < 0 || i.axis[which] >= 0 {
			return fmt.Errorf("axes: %.20s, each of t, c, z, y and x at most once expected", printable(i.Axes))
		}
		i.axis[which] = at
	}
	if i.axis[axisY] < 0 || i.axis[axisX] < 0 {
		return fmt.Errorf("axes: %.20s, y and x expected among them", printable(i.Axes))
	}
	i.Height, i.Width = i.size(axisY), i.size(axisX)
	i.Times, i.Channels, i.Slices = min(i.size(axisT), MaxFrames), i.size(axisC), i.size(axisZ)
	if i.Times < 1 || i.Channels < 1 || i.Slices < 1 {
		return fmt.Errorf("its shape is %v: it holds no picture", shape)
	}
	return tiff.CheckSize(i.Width, i.Height, i.dataset.samples.depth().Bytes())
}

// size is how long an axis is, 1 where there is none.
func (i *Image) size(axis int) int {
	if i.axis[axis] < 0 {
		return 1
	}
	return i.dataset.shape[i.axis[axis]]
}

// Tiles is how many chunks a picture has.
func (i *Image) Tiles() int { return i.tiles[0] * i.tiles[1] }

// Written is how many times there are up to the last of which a chunk is there.
func (i *Image) Written() int {
	if i.chunks.listed == nil {
		return i.Times
	}
	last := -1
	for n := range i.chunks.listed {
		for at, stride := range i.chunks.stride {
			if at == i.axis[axisT] {
				last = max(last, n/stride)
				break
			}
			n %= stride
		}
		if i.axis[axisT] < 0 {
			last = 0
		}
	}
	if last < 0 || i.axis[axisT] < 0 {
		return last + 1
	}
	return min(i.Times, (last+1)*i.chunks.size[i.axis[axisT]])
}

// Read reads the picture at a time, channel and slice, all from 0. What chunks that are missing would have has the fill value.
func (i *Image) Read(dst *tiff.Image, time, channel, slice int) (missing int, err error) {
	offset := i.turn([3]int{time, channel, slice})
	dst.Width, dst.Height, dst.Channels, dst.Depth = i.Width, i.Height, 1, i.dataset.samples.depth()
	dst.Pix = slices.Grow(dst.Pix[:0], dst.Width*dst.Height*dst.Depth.Bytes())[:dst.Width*dst.Height*dst.Depth.Bytes()]
	if i.kept.tiles != nil && !slices.Equal(i.kept.grid, i.grid) {
		i.kept = kept{}
	}
	if i.kept.tiles == nil && i.chunks.bytes <= maxChunk/i.Tiles() && i.shared() {
		i.kept = kept{slices.Clone(i.grid), make([][]byte, i.Tiles())}
	}
	for n := range i.Tiles() {
		i.grid[i.axis[axisY]], i.grid[i.axis[axisX]] = n/i.tiles[1], n%i.tiles[1]
		plain, err := i.load(n)
		if err != nil {
			i.kept = kept{}
			return missing, err
		}
		if plain == nil {
			missing++
		}
		i.paste(dst, plain, offset)
	}
	return missing, nil
}

// turn makes grid that of the first chunk of a picture; offset is where the picture lies in its chunks, in bytes.
func (i *Image) turn(place [3]int) (offset int) {
	for axis, at := range place {
		if n := i.axis[axis]; n >= 0 {
			side := i.chunks.size[n]
			i.grid[n] = at / side
			offset += at % side * i.step[n]
		}
	}
	i.grid[i.axis[axisY]], i.grid[i.axis[axisX]] = 0, 0
	return offset
}

// shared says that a chunk is of several pictures.
func (i *Image) shared() bool {
	for _, axis := range []int{axisT, axisC, axisZ} {
		if n := i.axis[axis]; n >= 0 && i.chunks.size[n] > 1 {
			return true
		}
	}
	return false
}

// load gives chunk n of the current picture, unpacked; nil where it was not written.
func (i *Image) load(n int) ([]byte, error) {
	if i.kept.tiles != nil && i.kept.tiles[n] != nil {
		return i.kept.tiles[n], nil
	}
	at, found := i.chunks.locate(i.grid)
	if !found {
		return nil, nil
	}
	plain, err := i.fetch(at)
	if err != nil {
		return nil, fmt.Errorf("chunk %v: %w", i.grid, err)
	}
	if i.kept.tiles != nil {
		plain = slices.Clone(plain)
		i.kept.tiles[n] = plain
	}
	return plain, nil
}

// fetch reads a chunk and unpacks it.
func (i *Image) fetch(at stored) ([]byte, error) {
	if at.bytes > maxPacked {
		return nil, fmt.Errorf("%d bytes, at most %d expected: write it in smaller chunks", at.bytes, maxPacked)
	}
	l := &i.dataset.layout
	if l.class == compact {
		if at.at+at.bytes > uint64(len(l.data)) {
			return nil, errors.New("the header has fewer bytes than its shape: the file is damaged, copy it again")
		}
		return l.data[at.at:][:at.bytes], nil
	}
	if err := i.file.holds(at.at, at.bytes); err != nil {
		return nil, err
	}
	i.packed = slices.Grow(i.packed[:0], int(at.bytes))[:at.bytes]
	if n, err := i.file.r.ReadAt(i.packed, i.file.base+int64(at.at)); n < len(i.packed) {
		return nil, fmt.Errorf("%w: %d of %d bytes (%w)", ErrTorn, n, len(i.packed), err)
	}
	if l.class != chunked {
		return i.packed, nil
	}
	return i.unpacker.unpack(i.packed, i.dataset.filters, at.mask, i.chunks.bytes)
}

// paste puts the chunk of the grid where it belongs, from byte offset on; of a missing one, nil, the fill value.
func (i *Image) paste(dst *tiff.Image, plain []byte, offset int) {
	y, x := i.axis[axisY], i.axis[axisX]
	high, wide := i.chunks.size[y], i.chunks.size[x]
	top, left := i.grid[y]*high, i.grid[x]*wide
	rows, columns := min(high, dst.Height-top), min(wide, dst.Width-left)
	size := dst.Depth.Bytes()
	for row := range rows {
		to := dst.Pix[((top+row)*dst.Width+left)*size:][:columns*size]
		if plain == nil {
			for n := copy(to, i.filled); n < len(to); n *= 2 {
				copy(to[n:], to[:n])
			}
			continue
		}
		i.dataset.samples.row(to, plain[offset+row*i.step[y]:], i.step[x])
	}
}
