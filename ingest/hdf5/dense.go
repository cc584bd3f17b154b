package hdf5

import (
	"errors"
	"fmt"
	"math/bits"

	"driftscope/ingest/tiff"
)

// heap is a fractal heap, in which a group of the newest form stores its links. Each row of the root has width blocks. Blocks have size least in the first two
// rows, and the size doubles with each further row. A block larger than most contains rows of blocks itself.
type heap struct {
	file        *file
	id          int // bytes of an object's ID
	width       uint64
	least, most uint64 // bytes of a block
	root        uint64
	rows        int // rows of the root; 0 if the root is a data block
	offset      int // bytes of an offset in the heap
}

// errHeap reports a damaged heap.
var errHeap = errors.New("the heap of links is incomplete: the file is damaged, copy it again")

// denseLinks returns the links of a group that stores them in a heap, indexed by a version 2 B-tree.
func (s *search) denseLinks(at, tree uint64) (links []link, err error) {
	h := heap{file: s.file}
	if err := h.read(at); err != nil {
		return nil, err
	}
	records, err := s.records(tree, 4+h.id)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		r.take(4) // hash of the name
		data, err := h.object(r)
		if err != nil {
			return nil, err
		}
		if l, hard := oneLink(data); hard {
			links = append(links, l)
		}
	}
	return links, nil
}

// read reads a heap's header.
func (h *heap) read(at uint64) error {
	const size = 146
	c, err := h.file.block(at, size)
	if err != nil {
		return err
	}
	signature := string(c.take(4))
	c.take(1)
	h.id = int(c.number(2))
	filters := c.number(2)
	c.take(1 + 4 + 96) // flags, size limit of objects, object counts
	h.width, h.least, h.most = c.number(2), c.number(8), c.number(8)
	heapBits := c.number(2)
	c.take(2)
	h.root, h.rows = c.number(8), int(c.number(2))
	h.offset = int(heapBits+7) / 8
	powers := bits.OnesCount64(h.width) == 1 && bits.OnesCount64(h.least) == 1 && bits.OnesCount64(h.most) == 1
	if signature != "FRHP" || !powers || h.least > h.most || h.most > maxHeap || h.id <= 1+h.offset || h.id > 1+8+8 || heapBits > 64 || h.rows > 64 {
		return errHeap
	}
	if filters > 0 {
		return tiff.Unread("its heap of links is packed: rewrite the file with h5repack")
	}
	return nil
}

// object returns the bytes of an object by its ID.
func (h *heap) object(id *cursor) ([]byte, error) {
	const managed = 0 // type of an object stored in a block
	flags := id.number(1)
	offset, n := id.number(h.offset), id.number(h.id-1-h.offset)
	if id.short || flags&0x30 != managed || n > maxName+64 {
		return nil, errHeap
	}
	at, err := h.place(h.root, h.rows, offset)
	if err != nil {
		return nil, err
	}
	c, err := h.file.block(at, int(n))
	if err != nil {
		return nil, err
	}
	return c.b, nil
}

// place returns the file address of an offset in a block. rows is the number of rows of blocks in it, or 0 for a data block.
func (h *heap) place(block uint64, rows int, offset uint64) (uint64, error) {
	if rows == 0 {
		return block + offset, nil
	}
	size := h.least
	for row := range rows {
		if row > 1 {
			size *= 2
		}
		if size > 1<<48 {
			return 0, errHeap
		}
		if all := size * h.width; offset >= all {
			offset -= all
			continue
		}
		entry := uint64(row)*h.width + offset/size
		c, err := h.file.block(block+uint64(prefix-1+h.offset)+8*entry, 8)
		if err != nil {
			return 0, err
		}
		inside := 0
		if size > h.most {
			inside = bits.Len64(size) - bits.Len64(h.least*h.width) + 1
		}
		if inside < 0 || inside >= rows {
			return 0, errHeap
		}
		return h.place(c.number(8), inside, offset%size)
	}
	return 0, errHeap
}

// records returns the records of a version 2 B-tree that lists links by name. Each record has size bytes.
func (s *search) records(at uint64, size int) (records []*cursor, err error) {
	c, err := s.file.block(at, 38)
	if err != nil {
		return nil, err
	}
	const byName = 5
	signature := string(c.take(4))
	c.take(1)
	kind, node, its, depth := c.number(1), int(c.number(4)), int(c.number(2)), c.number(2)
	c.take(2)
	root, count := c.number(8), int(c.number(2))
	switch {
	case signature != "BTHD" || kind != byName || its != size || node < 16 || node > maxHeap:
		return nil, errHeap
	case depth > 1:
		return nil, tiff.Unread("a group has more than a thousand links, in a tree of %d levels: write the file with libver='earliest'", depth+1)
	case count == 0:
		return nil, nil
	case depth == 0:
		return s.leaf(root, count, size)
	}
	const head = 6
	most := (node - head - 4) / size            // records per leaf
	bytes := (bits.Len64(uint64(most))-1)/8 + 1 // bytes of a record count
	c, err = s.file.block(root, head+count*size+(count+1)*(8+bytes))
	if err != nil {
		return nil, err
	}
	if string(c.take(4)) != "BTIN" {
		return nil, errHeap
	}
	c.take(head - 4)
	for range count {
		records = append(records, &cursor{b: c.take(size)})
	}
	for range count + 1 {
		child, n := c.number(8), int(c.number(bytes))
		some, err := s.leaf(child, n, size)
		if err != nil {
			return nil, err
		}
		records = append(records, some...)
	}
	return records, nil
}

// leaf returns the records of a node without children.
func (s *search) leaf(at uint64, count, size int) (records []*cursor, err error) {
	if s.seen[at] {
		return nil, fmt.Errorf("the node at address %d occurs twice: the file is damaged, copy it again", at)
	}
	s.seen[at] = true
	if err := s.more(count); err != nil {
		return nil, err
	}
	const head = 6
	c, err := s.file.block(at, head+count*size)
	if err != nil {
		return nil, err
	}
	if string(c.take(4)) != "BTLF" {
		return nil, errHeap
	}
	c.take(head - 4)
	for range count {
		records = append(records, &cursor{b: c.take(size)})
	}
	return records, nil
}
