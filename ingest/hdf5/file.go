package hdf5

import (
	"fmt"
	"io"
	"math"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// Magic is the first bytes of the HDF5 part of a file.
const Magic = "\x89HDF\r\n\x1a\n"

// UserBlock is the offset of the HDF5 part in MATLAB's files, after a text header. The format also allows this value times any power of two.
const UserBlock = 512

// maxUserBlock bounds the search for the HDF5 part.
const maxUserBlock = 1 << 20

// undefined is the address of a missing part.
const undefined = math.MaxUint64

// Bounds on headers, names and indexes of a file. If parts of the file overlap, their bytes count once per part.
const (
	maxMetadata = 512 << 20 // bytes: an index of 4 million chunks has 200 MiB
	leastRead   = 512       // bytes that a shorter read counts as, because of the time it takes
)

// file is an open file.
type file struct {
	part bounded.File // starts at the superblock; addresses count from there
	root uint64       // address of the root group's header
	read int          // bytes of metadata read so far
}

// openFile finds the superblock of a file of the given size.
func openFile(r io.ReaderAt, size int64) (*file, error) {
	head := make([]byte, len(Magic))
	for at := int64(0); at <= maxUserBlock && at+int64(len(Magic)) <= size; at = max(UserBlock, 2*at) {
		if _, err := r.ReadAt(head, at); err != nil && err != io.EOF {
			return nil, err
		}
		if string(head) == Magic {
			f := &file{part: bounded.File{R: io.NewSectionReader(r, at, size-at), Size: size - at}}
			return f, f.superblock(uint64(size))
		}
	}
	return nil, fmt.Errorf("there is no HDF5 signature at byte 0, %d, or twice, four times ... that offset: give an HDF5 file", UserBlock)
}

// superblock finds the root group of a file of the given size, user block included.
func (f *file) superblock(size uint64) error {
	const most = 96 // for versions 0 to 3
	c, err := f.upTo(0, most)
	if err != nil {
		return err
	}
	c.take(len(Magic))
	version := c.number(1)
	var ends uint64
	var offsets, lengths uint64
	switch version {
	case 0, 1:
		c.take(4)
		offsets, lengths = c.number(1), c.number(1)
		c.take(9) // reserved, the sizes of nodes, flags
		if version == 1 {
			c.take(4)
		}
		c.take(16) // base, free space
		ends = c.number(8)
		c.take(16) // driver, the root's name
		f.root = c.number(8)
	case 2, 3:
		offsets, lengths = c.number(1), c.number(1)
		c.take(17) // flags, base, extension
		ends = c.number(8)
		f.root = c.number(8)
	default:
		return tiff.Unread("the superblock has version %d, 0 to 3 expected: rewrite the file with h5repack", version)
	}
	switch {
	case c.short:
		return fmt.Errorf("%w: its superblock is incomplete", bounded.ErrTorn)
	case offsets != 8 || lengths != 8:
		return tiff.Unread("addresses have %d bytes and lengths %d, 8 expected for both: rewrite the file with h5repack", offsets, lengths)
	case ends != undefined && ends > size:
		return fmt.Errorf("%w: its superblock gives it %d bytes, but it has %d", bounded.ErrTorn, ends, size)
	}
	return nil
}

// block reads n bytes at an address.
func (f *file) block(at uint64, n int) (*cursor, error) {
	if err := f.part.Holds(at, uint64(n)); err != nil {
		return nil, err
	}
	if f.read += max(n, leastRead); f.read > maxMetadata {
		return nil, tiff.Unread("headers, names and indexes have more than %d MiB: give a file with fewer objects, or write it with larger chunks", maxMetadata>>20)
	}
	b, err := f.part.Bytes(nil, at, uint64(n))
	return &cursor{b: b}, err
}

// upTo reads n bytes at an address, or fewer at the end of the file.
func (f *file) upTo(at uint64, n int) (*cursor, error) {
	if err := f.part.Holds(at, 1); err != nil {
		return nil, err
	}
	return f.block(at, int(min(int64(n), f.part.Size-int64(at))))
}

// cursor reads little-endian numbers from a block. Numbers past its end read as 0 and set short.
type cursor struct {
	b     []byte
	at    int
	short bool
}

func (c *cursor) left() int { return len(c.b) - c.at }

func (c *cursor) take(n int) []byte {
	if n < 0 || n > c.left() {
		c.short, c.at = true, len(c.b)
		return nil
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

// number returns a number of n bytes, at most 8.
func (c *cursor) number(n int) (v uint64) {
	for i, b := range c.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// numbers returns count numbers of n bytes each.
func (c *cursor) numbers(count, n int) (v []uint64) {
	for range count {
		v = append(v, c.number(n))
	}
	return v
}
