package hdf5

import (
	"fmt"
	"math"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// maxAxes is the largest number of axes that the format allows.
const maxAxes = 32

// maxSide bounds the length of an axis.
const maxSide = 1 << 40

// The layout classes.
const (
	compact    = 0
	contiguous = 1
	chunked    = 2
)

// The kinds of chunk index.
const (
	byTree       = 0 // version 1 B-tree, for version 3 layouts
	singly       = 1
	implicitly   = 2
	byArray      = 3 // fixed array
	byExtensible = 4
	bySecondTree = 5 // version 2 B-tree
)

// dataset describes an array from its header.
type dataset struct {
	path    string
	shape   []int
	most    []int // largest allowed length of each axis; -1 if unlimited
	samples tiff.Samples
	filled  []byte // value of a sample that was never written
	filters []filter
	layout  layout
	unread  error // reason why it cannot be read
}

// layout describes where the samples are stored.
type layout struct {
	class    int
	from     int    // for contiguous samples: number of the first axis of a picture
	data     []byte // samples stored in the header
	at       uint64 // address of the samples, or of the index
	bytes    uint64 // bytes of all samples, or of the single packed chunk
	mask     uint32 // filter mask of the single chunk
	chunk    []int  // sides of a chunk
	index    int
	pageBits uint64
}

// newDataset reads a dataset's header.
func newDataset(path string, h header) *dataset {
	d := &dataset{path: path}
	for _, part := range []struct {
		kind   int
		what   string
		read   func(c *cursor) error
		needed bool
	}{
		{spaceMessage, "shape", d.readSpace, true}, {typeMessage, "type", d.readType, true}, {layoutMessage, "layout", d.readLayout, true},
		{oldFillMessage, "fill value", d.readOldFill, false}, {fillMessage, "fill value", d.readFill, false}, {filterMessage, "filters", d.readFilters, false},
	} {
		m := h.find(part.kind)
		if m == nil {
			if part.needed {
				d.unread = fmt.Errorf("the dataset has no %s: the file is damaged, copy it again", part.what)
				return d
			}
			continue
		}
		if m.flags&shared != 0 {
			d.unread = tiff.Unread("its %s is stored elsewhere in the file, like a named type: write the dataset without named types", part.what)
			return d
		}
		c := cursor{b: m.data}
		if d.unread = part.read(&c); d.unread == nil && c.short {
			d.unread = fmt.Errorf("%w: its %s is incomplete", bounded.ErrTorn, part.what)
		}
		if d.unread != nil {
			return d
		}
	}
	if h.find(externalMessage) != nil {
		d.unread = tiff.Unread("its samples are stored in other files: write them into this file, as h5repack does")
	}
	return d
}

// readSpace reads the axes.
func (d *dataset) readSpace(c *cursor) error {
	version, n := c.number(1), int(c.number(1))
	flags := c.number(1)
	switch version {
	case 1:
		c.take(5)
	case 2:
		c.take(1)
	default:
		return tiff.Unread("its shape has version %d, 1 or 2 expected: rewrite the file with h5repack", version)
	}
	if n > maxAxes {
		return fmt.Errorf("it has %d axes, at most %d expected: the file is damaged, copy it again", n, maxAxes)
	}
	for _, side := range c.numbers(n, 8) {
		if side > maxSide {
			return fmt.Errorf("an axis has length %d, at most %d expected: the file is damaged, copy it again", side, maxSide)
		}
		d.shape = append(d.shape, int(side))
	}
	d.most = d.shape
	if flags&1 != 0 {
		d.most = nil
		for i, side := range c.numbers(n, 8) {
			switch {
			case side == math.MaxUint64:
				d.most = append(d.most, -1)
			case side > maxSide:
				return fmt.Errorf("an axis may grow to %d, at most %d expected: the file is damaged, copy it again", side, maxSide)
			case i < len(d.shape):
				d.most = append(d.most, max(int(side), d.shape[i]))
			}
		}
	}
	return nil
}

// readLayout reads the storage layout.
func (d *dataset) readLayout(c *cursor) error {
	version, class := c.number(1), int(c.number(1))
	if version != 3 && version != 4 {
		return tiff.Unread("its layout has version %d, 3 or 4 expected: rewrite the file with h5repack", version)
	}
	l := &d.layout
	l.class = class
	switch class {
	case compact:
		l.data = c.take(int(c.number(2)))
	case contiguous:
		l.at, l.bytes = c.number(8), c.number(8)
	case chunked:
		if version == 3 {
			return l.readTree(c)
		}
		return l.readIndexed(c)
	default:
		return tiff.Unread("its layout has class %d, like a virtual dataset: write its samples into one file", class)
	}
	return nil
}

// readTree reads a version 3 layout. The last number after the sides is the size of a sample in bytes.
func (l *layout) readTree(c *cursor) error {
	n := int(c.number(1))
	l.at = c.number(8)
	return l.sides(c.numbers(n, 4))
}

func (l *layout) sides(sides []uint64) error {
	for _, side := range sides {
		if side < 1 || side > bounded.MaxChunk {
			return fmt.Errorf("its chunks have a side of %d, 1 to %d expected: write the dataset with smaller chunks", side, bounded.MaxChunk)
		}
		l.chunk = append(l.chunk, int(side))
	}
	if len(l.chunk) < 2 || len(l.chunk) > maxAxes+1 {
		return fmt.Errorf("its chunks have %d axes, 1 to %d expected: the file is damaged, copy it again", len(l.chunk)-1, maxAxes)
	}
	l.chunk = l.chunk[:len(l.chunk)-1]
	return nil
}

// readIndexed reads a version 4 layout.
func (l *layout) readIndexed(c *cursor) error {
	const packedSingly = 0x02
	flags, n, size := c.number(1), int(c.number(1)), int(c.number(1))
	if size < 1 || size > 8 {
		return fmt.Errorf("the sides of its chunks are numbers of %d bytes, 1 to 8 expected: the file is damaged, copy it again", size)
	}
	if err := l.sides(c.numbers(n, size)); err != nil {
		return err
	}
	l.index = int(c.number(1))
	switch l.index {
	case singly:
		if flags&packedSingly != 0 {
			l.bytes, l.mask = c.number(8), uint32(c.number(4))
		}
	case implicitly:
	case byArray:
		l.pageBits = c.number(1)
	case byExtensible:
		c.take(5) // repeated in the index header
	case bySecondTree:
		return tiff.Unread("its chunks are indexed by a B-tree of version 2, as libver='latest' does if several axes can grow: let only time grow, or write the file with libver='earliest'")
	default:
		return tiff.Unread("its chunks have an index of kind %d, 1 to 5 expected: write the file with libver='earliest'", l.index)
	}
	l.at = c.number(8)
	return nil
}

// readFill reads the value of samples that were never written.
func (d *dataset) readFill(c *cursor) error {
	version := c.number(1)
	defined := false
	switch version {
	case 1, 2:
		c.take(2)
		defined = c.number(1) != 0
	case 3:
		defined = c.number(1)&0x20 != 0
	default:
		return tiff.Unread("its fill value has version %d, 1 to 3 expected: rewrite the file with h5repack", version)
	}
	if defined {
		return d.readOldFill(c)
	}
	return nil
}

// readOldFill reads a fill value in the old form: the number of its bytes, then the bytes.
func (d *dataset) readOldFill(c *cursor) error {
	if value := c.take(int(c.number(4))); len(value) == d.samples.Bytes {
		d.filled = value
	}
	return nil
}
