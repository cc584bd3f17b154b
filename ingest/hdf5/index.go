package hdf5

import (
	"fmt"
	"math"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// chunks finds the chunks of a dataset in the file.
type chunks struct {
	size    []int // sides of a chunk
	grid    []int // chunks along each axis at the current size
	stride  []int // step of the chunk number along each axis, at the maximum size
	listed  map[int]stored
	entries int    // index entries so far
	total   int    // bound on chunk numbers
	first   uint64 // address of the first chunk, if chunks are contiguous and not listed
	bytes   int    // bytes of an unpacked chunk
}

// stored is the position of a chunk in the file.
type stored struct {
	at, bytes uint64
	mask      uint32 // filters that were not applied
}

// index finds the chunks of a dataset, contiguous or indexed.
func (d *dataset) index(f *file) (*chunks, error) {
	c := &chunks{first: d.layout.at}
	if err := c.shape(d); err != nil {
		return nil, err
	}
	switch {
	case d.layout.class == compact:
		return c, nil
	case d.layout.at == undefined:
		c.listed = map[int]stored{} // nothing is written
		return c, nil
	case d.layout.class == contiguous && uint64(c.total) > d.layout.bytes/uint64(c.bytes):
		return nil, fmt.Errorf("the dataset has %d bytes, too few for its shape %v: the file is damaged, copy it again", d.layout.bytes, d.shape)
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

// shape computes the grid of chunks. Contiguous samples form chunks of one picture if its axes are the last.
func (c *chunks) shape(d *dataset) error {
	n := len(d.shape)
	c.size = d.layout.chunk
	if d.layout.class != chunked {
		c.size = d.pictures()
	}
	if len(c.size) != n {
		return fmt.Errorf("chunks have %d axes, %d expected from the shape: the file is damaged, copy it again", len(c.size), n)
	}
	c.bytes = d.samples.Bytes
	for _, side := range c.size {
		if side < 1 || side > bounded.MaxChunk/c.bytes {
			return tiff.Unread("chunks of %v samples of %d bytes are too large, at most %d MiB expected: write the file with one picture per chunk", c.size, d.samples.Bytes, bounded.MaxChunk>>20)
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
			return fmt.Errorf("there are too many chunks to count, of %v samples in %v: the file is damaged, copy it again", c.size, d.most)
		}
		step *= most
	}
	c.total = step
	return nil
}

// pictures returns the shape of a contiguous block with at least one picture.
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

// number returns the number of the chunk at a grid position.
func (c *chunks) number(grid []int) (n int) {
	for i, at := range grid {
		n += at * c.stride[i]
	}
	return n
}

// locate returns where the chunk at a grid position is stored.
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

// maxListed bounds the chunks in an index. A film of 256 GiB in chunks of 64 KiB reaches this number.
const maxListed = 1 << 22

// list records where a chunk with a given number is stored.
func (c *chunks) list(n int, at stored) error {
	c.listed[n] = at
	if c.entries++; c.entries > maxListed {
		return tiff.Unread("it has more than %d chunks: write the file with larger chunks", maxListed)
	}
	return nil
}

// listTree reads the chunks in a B-tree.
func (c *chunks) listTree(f *file, d *dataset) error {
	c.listed = map[int]stored{}
	n := len(d.shape)
	grid := make([]int, n)
	return f.tree(d.layout.at, node{kind: chunkTree, key: 8 + 8*(n+1), seen: map[uint64]bool{}}, func(key *cursor, child uint64) error {
		at := stored{at: child, bytes: key.number(4), mask: uint32(key.number(4))}
		for i, offset := range key.numbers(n, 8) {
			if offset >= uint64(c.grid[i])*uint64(c.size[i]) {
				return nil // outside the current size
			}
			grid[i] = int(offset) / c.size[i]
		}
		return c.list(c.number(grid), at)
	})
}

// listArray reads the chunks in a fixed array.
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
		return fmt.Errorf("there is no fixed array of chunks at address %d: the file is damaged, copy it again", d.layout.at)
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

// checksum is the length of a metadata checksum.
const checksum = 4

// array reads a list of numbered chunks.
type array struct {
	chunks *chunks
	file   *file
	size   int // bytes of an element
	packed bool
}

// fits reports whether an element has the expected size: an address, and for packed chunks also a length and a mask.
func (a *array) fits() bool {
	const mask = 4
	if a.packed {
		return a.size > 8+mask && a.size <= 8+8+mask
	}
	return a.size == 8
}

// take reads count elements at an address. first is the number of the first element.
func (a *array) take(at, first, count uint64) error {
	if count > uint64(a.file.part.Size)/uint64(a.size) {
		return fmt.Errorf("%w: an index of %d chunks in a file of %d bytes", bounded.ErrTorn, count, a.file.part.Size)
	}
	const portion = 1 << 16 // elements per read
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

// takeFrom reads elements from c.
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
