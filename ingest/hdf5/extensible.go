package hdf5

import (
	"errors"
	"fmt"
	"math/bits"

	"driftscope/ingest/tiff"
)

// extensible reads an extensible array: the list of chunks of a dataset that grows along its first axis. The first elements are in an index block, the others
// in growing data blocks: super block u has 2^(u/2) data blocks of least · 2^((u+1)/2) elements. The index block contains the addresses of the first data
// blocks; super blocks contain the other addresses.
type extensible struct {
	array
	seen    map[uint64]bool // blocks already read
	first   uint64          // elements in the index block
	least   uint64          // elements in each of the first data blocks
	direct  int             // super blocks whose addresses are in the index block
	supers  int
	page    uint64 // elements per page of a data block
	offset  int    // bytes of the element number at the start of a block
	address uint64 // address of the index block
}

// prefix is the start of a block: signature, version, client ID and the address of the header.
const prefix = 4 + 2 + 8

// listExtensible reads the chunks of an extensible array.
func (c *chunks) listExtensible(f *file, d *dataset) error {
	for i, most := range d.most {
		if grows := most < 0; grows != (i == 0) {
			return tiff.Unread("it can grow along other axes than its first: let only time, the first axis, grow, or write the file with libver='earliest'")
		}
	}
	e := extensible{array: array{chunks: c, file: f}, seen: map[uint64]bool{}}
	if err := e.readHead(d.layout.at); err != nil {
		return err
	}
	c.listed = map[int]stored{}
	if e.address == undefined {
		return nil
	}
	return e.walk()
}

// readHead reads the array's header.
func (e *extensible) readHead(at uint64) error {
	const size = 72
	h, err := e.file.block(at, size)
	if err != nil {
		return err
	}
	signature, version, packed := string(h.take(4)), h.number(1), h.number(1)
	e.size = int(h.number(1))
	most, first, least, pointers, page := h.number(1), h.number(1), h.number(1), h.number(1), h.number(1)
	h.take(48) // counts of blocks and elements
	e.address = h.number(8)
	e.packed = packed == 1
	e.first, e.least, e.offset = first, least, int(most+7)/8
	powers := bits.OnesCount64(least) == 1 && bits.OnesCount64(pointers) == 1
	if signature != "EAHD" || version != 0 || packed > 1 || !e.fits() || !powers || most > 62 || page > 32 || pointers < 2 {
		return fmt.Errorf("there is no extensible array of chunks at address %d: the file is damaged, copy it again", at)
	}
	e.page = 1 << page
	e.direct = 2 * (bits.Len64(pointers) - 1)
	if e.supers = 1 + int(most) - (bits.Len64(least) - 1); e.supers < e.direct {
		return fmt.Errorf("an extensible array has only %d super blocks at address %d: the file is damaged, copy it again", e.supers, at)
	}
	return nil
}

// walk reads the index block and the blocks it refers to, up to the size of the dataset.
func (e *extensible) walk() error {
	blocks := 0 // data blocks addressed directly in the index block
	for u := range e.direct {
		blocks += 1 << (u / 2)
	}
	index, err := e.open(e.address, "EAIB", int(e.first)*e.size+8*(blocks+e.supers-e.direct))
	if err != nil {
		return err
	}
	if err := e.takeFrom(index, 0, e.first); err != nil {
		return err
	}
	at := e.first
	for u := range e.supers {
		count, elements := 1<<(u/2), e.least<<((u+1)/2)
		if at >= uint64(e.chunks.total) {
			return nil
		}
		if u < e.direct {
			err = e.blocks(index, nil, at, span{count, elements})
		} else {
			err = e.super(index.number(8), at, span{count, elements})
		}
		if err != nil {
			return err
		}
		at += uint64(count) * elements
	}
	return nil
}

// span is a number of data blocks and their number of elements.
type span struct {
	count    int
	elements uint64
}

// open returns the n bytes after the prefix of a block. It returns an error if the block was read before.
func (e *extensible) open(at uint64, signature string, n int) (*cursor, error) {
	if e.seen[at] {
		return nil, fmt.Errorf("the block at address %d occurs twice: the file is damaged, copy it again", at)
	}
	e.seen[at] = true
	c, err := e.file.block(at, prefix+n)
	if err != nil {
		return nil, err
	}
	if found := string(c.take(4)); found != signature {
		return nil, fmt.Errorf("there is no block %s at address %d: the file is damaged, copy it again", signature, at)
	}
	c.take(prefix - 4)
	return c, nil
}

// super reads the data blocks of a super block. first is the number of the first element.
func (e *extensible) super(at, first uint64, s span) error {
	if at == undefined {
		return nil
	}
	pages := 0 // bytes of the page bitmap
	if s.elements > e.page {
		pages = s.count * int((s.elements/e.page+7)/8)
	}
	if s.count > maxNode || pages > maxHeap {
		return fmt.Errorf("a super block has %d data blocks, at most %d expected: the file is damaged, copy it again", s.count, maxNode)
	}
	c, err := e.open(at, "EASB", e.offset+pages+8*s.count)
	if err != nil {
		return err
	}
	c.take(e.offset)
	return e.blocks(c, c.take(pages), first, s)
}

// blocks reads the data blocks whose addresses follow in c. begun has a bit for each written page.
func (e *extensible) blocks(c *cursor, begun []byte, first uint64, s span) error {
	for n := range s.count {
		at := c.number(8)
		from := first + uint64(n)*s.elements
		if at == undefined || from >= uint64(e.chunks.total) {
			continue
		}
		if s.elements <= e.page {
			block, err := e.open(at, "EADB", e.offset+int(s.elements)*e.size)
			if err != nil {
				return err
			}
			block.take(e.offset)
			if err := e.takeFrom(block, from, s.elements); err != nil {
				return err
			}
			continue
		}
		pages := s.elements / e.page
		if uint64(s.count)*pages > 8*uint64(len(begun)) {
			return errors.New("the list of chunks has pages, but no bitmap of the existing pages: the file is damaged, copy it again")
		}
		if _, err := e.open(at, "EADB", e.offset); err != nil {
			return err
		}
		at += uint64(prefix+e.offset) + checksum
		for p := range pages {
			bit := uint64(n)*pages + p
			if begun[bit/8]&(0x80>>(bit%8)) != 0 {
				if err := e.take(at, from+p*e.page, e.page); err != nil {
					return err
				}
			}
			at += e.page*uint64(e.size) + checksum
		}
	}
	return nil
}
