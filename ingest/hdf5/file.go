package hdf5

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Magic is what the HDF5 part of a file begins with.
const Magic = "\x89HDF\r\n\x1a\n"

// UserBlock is where it begins in MATLAB's files, behind a text of their own; the format allows its doubles, too.
const UserBlock = 512

// maxUserBlock bounds where it is looked for.
const maxUserBlock = 1 << 20

// ErrTorn is found in the error of a file that ends before what it names.
var ErrTorn = errors.New("the file is torn, copy it again")

// undefined is the address of what is not there.
const undefined = math.MaxUint64

// file is an open file. Addresses in it count from base.
type file struct {
	r    io.ReaderAt
	size int64
	base int64
	root uint64 // the header of the root group
}

// openFile finds the superblock of a file of the given size.
func openFile(r io.ReaderAt, size int64) (*file, error) {
	head := make([]byte, len(Magic))
	for at := int64(0); at <= maxUserBlock && at+int64(len(Magic)) <= size; at = max(UserBlock, 2*at) {
		if _, err := r.ReadAt(head, at); err != nil && err != io.EOF {
			return nil, err
		}
		if string(head) == Magic {
			f := &file{r: r, size: size, base: at}
			return f, f.superblock()
		}
	}
	return nil, fmt.Errorf("no HDF5 signature at byte 0, %d or its doubles: give an HDF5 file", UserBlock)
}

// superblock finds the root group.
func (f *file) superblock() error {
	const most = 96 // of versions 0 to 3
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
		return fmt.Errorf("superblock version %d, 0 to 3 expected: write it again, as h5repack does", version)
	}
	switch {
	case c.short:
		return fmt.Errorf("%w: its superblock is not whole", ErrTorn)
	case offsets != 8 || lengths != 8:
		return fmt.Errorf("addresses of %d bytes and lengths of %d, 8 of each expected: write it again, as h5repack does", offsets, lengths)
	case ends != undefined && ends > uint64(f.size):
		return fmt.Errorf("%w: it names %d bytes and has %d", ErrTorn, ends, f.size)
	}
	return nil
}

// block reads n bytes at an address.
func (f *file) block(at uint64, n int) (*cursor, error) {
	if err := f.holds(at, uint64(n)); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if got, err := f.r.ReadAt(b, f.base+int64(at)); got < n {
		return nil, fmt.Errorf("%w: %d bytes at byte %d, %d expected (%w)", ErrTorn, got, f.base+int64(at), n, err)
	}
	return &cursor{b: b}, nil
}

// upTo reads at most n bytes at an address, as many as the file has there.
func (f *file) upTo(at uint64, n int) (*cursor, error) {
	if err := f.holds(at, 1); err != nil {
		return nil, err
	}
	return f.block(at, int(min(int64(n), f.size-f.base-int64(at))))
}

// holds refuses n bytes at an address that the file has not.
func (f *file) holds(at, n uint64) error {
	if room := uint64(f.size - f.base); at == undefined || n > room || at > room-n {
		return fmt.Errorf("%w: it names %d bytes at address %d and has %d", ErrTorn, n, at, room)
	}
	return nil
}

// cursor takes little-endian numbers from a block. What is behind its end reads as 0 and sets short.
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

// number is one of n bytes, at most 8.
func (c *cursor) number(n int) (v uint64) {
	for i, b := range c.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// numbers are count of n bytes each.
func (c *cursor) numbers(count, n int) (v []uint64) {
	for range count {
		v = append(v, c.number(n))
	}
	return v
}
