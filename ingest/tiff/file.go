package tiff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds on a file.
const (
	MaxPages = 1 << 20 // of a file

	maxEntries = 4096         // of a directory
	maxChunks  = 1 << 20      // strips or tiles of a page
	maxChunk   = 3 * MaxBytes // bytes size of a decompressed strip or tile. It exceeds MaxBytes, because four doubles per pixel become three floats
)

// ErrTorn marks the error of a page or directory beyond the end of the file.
var ErrTorn = errors.New("the file is torn")

// PageError names the page that could not be read and its position in the file.
type PageError struct {
	Page   int   // from 1, as viewers count
	Offset int64 // of the page's directory, in bytes
	Err    error
}

func (e *PageError) Error() string {
	return fmt.Sprintf("page %d (directory at byte %d): %v", e.Page, e.Offset, e.Err)
}

func (e *PageError) Unwrap() error { return e.Err }

// File reads the pages in order. It reuses the memory of a page for the next one, and does not close its reader. Not safe for concurrent use.
type File struct {
	r        io.ReaderAt
	size     int64
	length   func() (int64, error) // returns the length of a followed file, also after Finish; nil for a file opened as complete
	finished bool
	order    binary.ByteOrder
	big      bool // BigTIFF: 64-bit offsets

	directories []int64        // offsets, in chain order
	seen        map[int64]bool // offsets as a set
	broken      *PageError     // why the chain ended early
	stack       stack          // ImageJ's single directory for many pages

	next  int   // page that Next reads next
	given int64 // end of the last page's pixels, in a followed file
	torn  bool
	doubt error // reason to doubt the last page while it is pending

	entries []entry // of the current directory
	page    page
	chunks  decompressor
	indices Image  // of a palette page
	wide    []byte // values of a tag, or a row of samples, during byte swapping
	word    [8]byte
}

// Open reads the header, walks the chain of directories and checks the first page's layout. size is the file's length in
// bytes. Open returns an error for an unreadable first page; Next returns one for a later page.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	first, err := f.readHeader()
	if err != nil {
		return nil, err
	}
	f.walk(first)
	f.seen = nil
	if len(f.directories) == 0 {
		return nil, f.broken
	}
	if err := f.readPage(f.directories[0]); err != nil {
		return nil, &PageError{Page: 1, Offset: f.directories[0], Err: err}
	}
	if len(f.directories) == 1 {
		f.findStack()
	}
	return f, nil
}

// Pages returns the number of pages, including torn ones.
func (f *File) Pages() int { return max(len(f.directories), f.stack.held) }

// Next decodes the next page into dst, reuses its memory, and returns io.EOF after the last page. After a *PageError, the
// next call continues with the following page. For a followed file it returns ErrPending instead of io.EOF.
func (f *File) Next(dst *Image) error {
	i := f.next
	if f.growing() && i >= f.Pages()-1 { // the last known page may be incomplete
		if err := f.grow(); err != nil {
			return err
		}
	}
	switch {
	case i < f.Pages():
		err := f.readPixels(dst, i)
		if f.growing() && err != nil && i == f.Pages()-1 {
			f.doubt = &PageError{Page: i + 1, Offset: f.directories[min(i, len(f.directories)-1)], Err: err}
			return ErrPending
		}
		f.next++
		if f.torn = errors.Is(err, ErrTorn); err != nil {
			return &PageError{Page: i + 1, Offset: f.directories[min(i, len(f.directories)-1)], Err: err}
		}
		if f.growing() {
			f.given = f.pixelsEnd() + f.stack.bytes*int64(i)
		}
		return nil
	case f.growing() && i < MaxPages:
		return ErrPending
	case f.stack.missing() > 0:
		err := fmt.Errorf("%w: %d of the %d pages of this ImageJ stack are missing: copy the file again", ErrTorn, f.stack.missing(), f.stack.claimed)
		f.stack.claimed = f.stack.held // report it once
		return &PageError{Page: i + 1, Offset: f.directories[0], Err: err}
	case f.broken != nil && !f.torn:
		err := f.broken
		f.broken = nil
		return err
	}
	return io.EOF
}

// Skip skips the next page of a file that is not followed.
func (f *File) Skip() { f.next++ }

// Compression returns the compression of the page read last: none, LZW, ...
func (f *File) Compression() string { return compressionName(f.page.compression) }

// readPixels decodes page i.
func (f *File) readPixels(dst *Image, i int) error {
	if f.stack.held > 0 {
		return f.decode(dst, f.stack.bytes*int64(i))
	}
	if err := f.readPage(f.directories[i]); err != nil {
		return err
	}
	if f.length != nil && i == len(f.directories)-1 && !f.written() {
		return fmt.Errorf("%w: the page ends in zeros", ErrTorn)
	}
	return f.decode(dst, 0)
}

// readHeader returns the offset of the first directory.
func (f *File) readHeader() (int64, error) {
	if f.size == 0 {
		return 0, errors.New("the file is empty: record or copy it again")
	}
	var head [16]byte
	n := min(f.size, int64(len(head)))
	if err := f.readAt(head[:n], 0); err != nil {
		return 0, err
	}
	switch string(head[:2]) {
	case "II":
		f.order = binary.LittleEndian
	case "MM":
		f.order = binary.BigEndian
	default:
		return 0, fmt.Errorf("not a TIFF file: it begins with %q, \"II\" or \"MM\" expected: give a TIFF, or rename the file", head[:min(n, 4)])
	}
	switch version := f.order.Uint16(head[2:]); {
	case version == 42 && n >= 8:
		return int64(f.order.Uint32(head[4:])), nil
	case version == 43 && n >= 16:
		if width := f.order.Uint16(head[4:]); width != 8 {
			return 0, Unread("the BigTIFF has %d-byte offsets, 8 expected: write it again as BigTIFF", width)
		}
		f.big = true
		return int64(f.order.Uint64(head[8:])), nil
	case version == 42 || version == 43:
		return 0, fmt.Errorf("%w: its header is cut after %d bytes: copy it again", ErrTorn, n)
	default:
		return 0, fmt.Errorf("not a TIFF file: version %d, 42 (TIFF) or 43 (BigTIFF) expected: write it again as TIFF", version)
	}
}

// walk records the offset of every directory from offset on, until the chain ends or breaks.
func (f *File) walk(offset int64) {
	if f.seen == nil {
		f.seen = map[int64]bool{}
	}
	for offset != 0 {
		next, err := f.nextDirectory(offset)
		switch {
		case err != nil:
		case f.seen[offset]:
			err = errors.New("the chain of directories is circular: write the file again")
		case len(f.directories) == MaxPages:
			err = Unread("the file has more than %d pages: split it", MaxPages)
		}
		if err != nil {
			f.broken = &PageError{Page: len(f.directories) + 1, Offset: offset, Err: err}
			return
		}
		f.seen[offset] = true
		f.directories = append(f.directories, offset)
		offset = next
	}
	if len(f.directories) == 0 {
		f.broken = &PageError{Page: 1, Err: errors.New("the file has no page, because its header names no directory: record or copy it again")}
	}
}

// readAt fills p from offset, or returns an error that gives the missing bytes.
func (f *File) readAt(p []byte, offset int64) error {
	if offset < 0 || offset > f.size || int64(len(p)) > f.size-offset {
		return fmt.Errorf("%w: it refers to %d bytes at byte %d, beyond its end at %d: copy it again", ErrTorn, len(p), uint64(offset), f.size)
	}
	n, err := f.r.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if err == io.EOF || err == nil {
		return fmt.Errorf("%w: it ends at byte %d, %d expected: copy it again", ErrTorn, offset+int64(n), f.size)
	}
	return err
}
