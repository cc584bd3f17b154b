package tiff

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Writer writes pages in order: little-endian, uncompressed, one strip per page, within TIFF's 4 GiB. A page enters the chain
// of directories when it is whole, so a file cut off while writing ends with the previous page. Not safe for concurrent use.
type Writer struct {
	w    io.WriterAt
	size int64 // bytes of the header and the whole pages, even
	link int64 // offset of the link to the next page's directory
}

// NewWriter starts a file without pages. It does not close w.
func NewWriter(w io.WriterAt) (*Writer, error) {
	_, err := w.WriteAt(header(0), 0)
	return &Writer{w: w, size: headerBytes, link: headerBytes - 4}, err
}

// Size returns the length of the file up to the end of its last whole page.
func (w *Writer) Size() int64 { return w.size }

// Stored returns the bytes that Append adds for img.
func Stored(img *Image) int64 {
	extra := 0
	if img.Channels == 3 {
		extra = 2 * 2 * 3 // bits and format, one short of each per channel
	}
	return even(int64(linkAt + 4 + extra + len(img.Pix)))
}

// even rounds up: directories lie at even bytes.
func even(n int64) int64 { return (n + 1) &^ 1 }

// Append writes a page. After an error the file contains the earlier pages, and the caller may cut off the bytes beyond Size.
func (w *Writer) Append(img *Image) error {
	if err := img.check(); err != nil {
		return err
	}
	if w.size+Stored(img) > math.MaxUint32 {
		return fmt.Errorf("a page of %d bytes does not fit in the 4 GiB of a TIFF that already has %d bytes: begin another file", Stored(img), w.size)
	}
	directory := img.directory(uint32(w.size))
	if _, err := w.w.WriteAt(directory, w.size); err != nil {
		return err
	}
	if _, err := w.w.WriteAt(img.Pix, w.size+int64(len(directory))); err != nil {
		return err
	}
	if _, err := w.w.WriteAt(binary.LittleEndian.AppendUint32(nil, uint32(w.size)), w.link); err != nil {
		return err
	}
	w.link = w.size + linkAt
	w.size += Stored(img)
	return nil
}
