package hdf5

import (
	"fmt"
	"math"

	"driftscope/ingest/bounded"
	"driftscope/ingest/ndarray"
	"driftscope/ingest/tiff"
)

// chunks is where those of a dataset lie.
type chunks struct {
	size    []int // sides of a chunk
	grid    []int // chunks along each axis, of what there is now
	stride  []int // numbers from one chunk to the next along each axis, of what there may be
	listed  map[int]stored
	entries int    // of the index, so far
	total   int    // numbers
	first   uint64 // where none are listed: they follow each other from here
	bytes   int    // of an unpacked one
}

// stored is where a chunk lies.
type stored struct {
	at, bytes uint64
	mask      uint32 // of filters that were left out
}

// index finds the chunks of a dataset whose samples follow each other, or that are listed.
func (d *dataset) index(f *file) (*chunks, error) {
	c := &chunks{first: d.layout.at}
	if err := c.shape(d); err != nil {
		return nil, err
	}
	switch {
	case d.layout.class == compact:
		return c, nil
	case d.layout.at == undefined:
		c.listed = map[int]stored{} // nothing was written
		return c, nil
	case d.layout.class == contiguous && uint64(c.total) > d.layout.bytes/uint64(c.bytes):
		return nil, fmt.Errorf("it has %d bytes, too few for its shape %v: the file is damaged, copy it again", d.layout.bytes, d.shape)
	case d.layout.class == contiguous:
		return c, f.part.Holds(d.layout.at, d.layout.bytes)
	}
	var err error
	switch d.layout.index {
	case implicitly:
		err = f.part.Holds(d.layout.at, 1)
	case byTree:
		err = c.listTree(f, d)
	case singly:
		bytes := uint64(c.bytes)
		if d.layout.bytes > 0 {
			bytes = d.layout.bytes
		}
		c.listed = map[int]stored{0: {d.layout.at, bytes, d.layout.mask}}
	case byArray:
		err = c.listArray(f, d)
	case byExtensible:
		err = c.listExtensible(f, d)
	}
	return c, err
}

// shape lays out the grid of chunks. Samples that follow each other are in chunks of one picture, as far as its axes are the last.
func (c *chunks) shape(d *dataset) error {
	n := len(d.shape)
	c.size = d.layout.chunk
	if d.layout.class != chunked {
		c.size = d.pictures()
	}
	if len(c.size) != n {
		return fmt.Errorf("chunks of %d axes, %d expected as its shape has: the file is damaged, copy it again", len(c.size), n)
	}
	c.bytes = d.samples.Bytes
	for _, side := range c.size {
		if side < 1 || side > ndarray.MaxChunk/c.bytes {
			return tiff.Unread("chunks of %v samples of %d bytes, at most %d MiB expected: write it in chunks of one picture", c.size, d.samples.Bytes, ndarray.MaxChunk>>20)
		}
		c.bytes *= side
	}
	c.grid, c.stride = make([]int, n), make([]int, n)
	step := 1
	for i := n - 1; i >= 0; i-- {
		c.grid[i] = (d.shape[i] + c.size[i] - 1) / c.size[i]
		most := c.grid[i]
		if d.layout.class == chunked && d.most[i] > 0 {
			most = (d.most[i] + c.size[i] - 1) / c.size[i]
		}
		c.stride[i] = step
		if most > math.MaxInt/max(step, 1) {
			return fmt.Errorf("more chunks than can be counted, of %v samples in %v: the file is damaged, copy it again", c.size, d.most)
		}
		step *= most
	}
	c.total = step
	return nil
}

// pictures is the shape of what follows each other and holds one picture at least.
func (d *dataset) pictures() []int {
	size := make([]int, len(d.shape))
	for i := range size {
		size[i] = 1
		if i >= d.layout.from {
			size[i] = max(d.shape[i], 1)
		}
	}
	return size
}

// number is that of the chunk at a place of the grid.
func (c *chunks) number(grid []int) (n int) {
	for i, at := range grid {
		n += at * c.stride[i]
	}
	return n
}

// locate says where the chunk at a place of the grid lies.
func (c *chunks) locate(grid []int) (at stored, found bool) {
	n := c.number(grid)
	if c.listed != nil {
		at, found = c.listed[n]
		return at, found
	}
	if n > (math.MaxInt-int(c.first))/c.bytes {
		return at, false
	}
	return stored{at: c.first + uint64(n)*uint64(c.bytes), bytes: uint64(c.bytes)}, true
}

// maxListed bounds the chunks that an index lists; a film of 256 GiB in chunks of 64 KiB has as many.
const maxListed = 1 << 22

// list takes in where the chunk of a number lies.
func (c *chunks) list(n int, at stored) error {
	c.listed[n] = at
	if c.entries++; c.entries > maxListed {
		return tiff.Unread("more than %d chunks: write it in larger ones", maxListed)
	}
	return nil
}

// listTree takes in what a B-tree lists.
func (c *chunks) listTree(f *file, d *dataset) error {
	c.listed = map[int]stored{}
	n := len(d.shape)
	grid := make([]int, n)
	return f.tree(d.layout.at, node{kind: chunkTree, key: 8 + 8*(n+1), seen: map[uint64]bool{}}, func(key *cursor, child uint64) error {
		at := stored{at: child, bytes: key.number(4), mask: uint32(key.number(4))}
		for i, offset := range key.numbers(n, 8) {
			if offset >= uint64(c.grid[i])*uint64(c.size[i]) {
				return nil // of what was cut off
			}
			grid[i] = int(offset) / c.size[i]
		}
		return c.list(c.number(grid), at)
	})
}

// listArray takes in what a fixed array lists.
func (c *chunks) listArray(f *file, d *dataset) error {
	head, err := f.block(d.layout.at, 28)
	if err != nil {
		return err
	}
	signature, version, packed := string(head.take(4)), head.number(1), head.number(1)
	size, bits := int(head.number(1)), head.number(1)
	count, at := head.number(8), head.number(8)
	a := array{chunks: c, file: f, size: size, packed: packed == 1}
	if signature != "FAHD" || version != 0 || packed > 1 || !a.fits() || bits > 32 {
		return fmt.Errorf("no fixed array of chunks at address %d: the file is damaged, copy it again", d.layout.at)
	}
	c.listed = map[int]stored{}
	if at == undefined {
		return nil
	}
	if count > uint64(f.part.Size)/uint64(size) {
		return fmt.Errorf("%w: an index of %d chunks in a file of %d bytes", bounded.ErrTorn, count, f.part.Size)
	}
	at += prefix
	page := uint64(1) << bits
	if count <= page {
		return a.take(at, 0, count)
	}
	pages := (count + page - 1) / page
	begun, err := f.block(at, int((pages+7)/8))
	if err != nil {
		return err
	}
	at += uint64(len(begun.b)) + checksum
	for n := range pages {
		first := n * page
		some := min(page, count-first)
		if begun.b[n/8]&(0x80>>(n%8)) != 0 {
			if err := a.take(at, first, some); err != nil {
				return err
			}
		}
		at += some*uint64(size) + checksum
	}
	return nil
}

// checksum is the length of one of metadata.
const checksum = 4

// array is a list of chunks by their numbers that is being read.
type array struct {
	chunks *chunks
	file   *file
	size   int // bytes of an element
	packed bool
}

// fits says that an element has the bytes of an address, and of a chunk's length and mask where they are packed.
func (a *array) fits() bool {
	const mask = 4
	if a.packed {
		return a.size > 8+mask && a.size <= 8+8+mask
	}
	return a.size == 8
}

// take reads so many elements, of which the first is of that number.
func (a *array) take(at, first, count uint64) error {
	if count > uint64(a.file.part.Size)/uint64(a.size) {
		return fmt.Errorf("%w: an index of %d chunks in a file of %d bytes", bounded.ErrTorn, count, a.file.part.Size)
	}
	const portion = 1 << 16 // of what is read at once
	for count > 0 {
		some := min(count, portion)
		c, err := a.file.block(at, int(some)*a.size)
		if err != nil {
			return err
		}
		if err := a.takeFrom(c, first, some); err != nil {
			return err
		}
		at, first, count = at+some*uint64(a.size), first+some, count-some
	}
	return nil
}

// takeFrom takes elements that follow in c.
func (a *array) takeFrom(c *cursor, first, count uint64) error {
	for n := range count {
		s := stored{at: c.number(8), bytes: uint64(a.chunks.bytes)}
		if a.packed {
			s.bytes, s.mask = c.number(a.size-8-4), uint32(c.number(4))
		}
		if s.at != undefined && first+n < uint64(a.chunks.total) {
			if err := a.chunks.list(int(first+n), s); err != nil {
				return err
			}
		}
	}
	return nil
}
