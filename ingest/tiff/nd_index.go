// NDTiff
//
// NDIndex reads the index and the images of an NDTiff folder, versions 2 and 3, as Micro-Manager writes it.
//
// NDTiff.index holds one entry per image, in writing order. Numbers are little-endian, 32 bits wide:
//
//	length, axes as JSON such as {"channel":"DAPI","time":7}
//	length, name of the TIFF file in the same folder
//	pixel offset, width, height, pixel type, compression, metadata offset, metadata length, metadata compression
//
// The writer preallocates 25 MiB of zeros, and 4 GiB per TIFF file, so a zero length ends the index. Pixels and metadata are
// written before their entry. Every size is bounded, and no file name leads out of the folder. Specification:
// https://github.com/micro-manager/NDStorage.

package tiff

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// NDIndexName is the name of the index file.
const NDIndexName = "NDTiff.index"

// Bounds on an entry.
const (
	maxAxesBytes     = 16 << 10
	maxAxes          = 32
	maxNameBytes     = 1 << 10
	maxMetadataBytes = 16 << 20
)

// ErrTornFolder marks the error of an incomplete entry or image. It may pass while the folder is being written.
var ErrTornFolder = errors.New("the recording is torn")

// NDEntry describes one image: its position along the axes, its file and its bytes in the file.
type NDEntry struct {
	Axes          map[string]string // values as written
	File          string            // in the folder of the index
	Width, Height int

	offset, metadata int64
	metadataBytes    int
	kind             pixelType
}

// bytes returns the size of a pixel.
func (k pixelType) bytes() int {
	switch k {
	case eightBits:
		return 1
	case ndRGB:
		return 3
	}
	return 2
}

// NDIndex reads entries in order. It does not close its reader. Not safe for concurrent use.
type NDIndex struct {
	r      io.ReaderAt
	at     int64 // offset of the next entry
	number int   // number of the next entry, from 1
	buffer []byte
}

// NewNDIndex returns a reader at the beginning of NDTiff.index.
func NewNDIndex(r io.ReaderAt) *NDIndex { return &NDIndex{r: r, number: 1} }

// Next returns the next entry. io.EOF means that there is no entry yet, ErrTornFolder that it is incomplete. Call Next again when the file has grown. After any
// other error the index is damaged, and no further entry can be found.
func (x *NDIndex) Next() (NDEntry, error) {
	e, size, err := x.read()
	if err != nil && err != io.EOF {
		return NDEntry{}, fmt.Errorf("entry %d at byte %d: %w", x.number, x.at, err)
	}
	if err == nil {
		x.at, x.number = x.at+size, x.number+1
	}
	return e, err
}

// read returns the entry at x.at and its length in bytes.
func (x *NDIndex) read() (e NDEntry, size int64, err error) {
	axes, n, err := x.text(x.at, maxAxesBytes, "axes")
	if err != nil {
		return e, 0, err
	}
	if e.Axes, err = parseAxes(axes); err != nil {
		return e, 0, err
	}
	name, m, err := x.text(x.at+n, maxNameBytes, "name")
	if err == io.EOF {
		err = fmt.Errorf("%w: the file's name is missing", ErrTornFolder)
	}
	if err != nil {
		return e, 0, err
	}
	e.File = string(name)
	const numbers = 8 * 4
	raw, err := x.bytes(x.at+n+m, numbers)
	if err != nil {
		return e, 0, err
	}
	return e, n + m + numbers, e.place(raw)
}

// text reads a length and that many bytes. It returns the text and the total length. A length of zero is io.EOF.
func (x *NDIndex) text(at int64, limit int, what string) ([]byte, int64, error) {
	raw, err := x.bytes(at, 4)
	if err != nil {
		return nil, 0, err
	}
	n := binary.LittleEndian.Uint32(raw)
	if n == 0 {
		return nil, 0, io.EOF
	}
	if n > uint32(limit) {
		return nil, 0, fmt.Errorf("%s: %d bytes, at most %d expected: the index is damaged, copy it again", what, n, limit)
	}
	text, err := x.bytes(at+4, int(n))
	if err != nil {
		return nil, 0, err
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, 0, fmt.Errorf("%w: %s with zeros in them", ErrTornFolder, what)
	}
	return text, int64(n) + 4, nil
}

// bytes reads n bytes, valid until the next call. The error is io.EOF if the file ends before the first of them.
func (x *NDIndex) bytes(at int64, n int) ([]byte, error) {
	if cap(x.buffer) < n {
		x.buffer = make([]byte, n)
	}
	got, err := x.r.ReadAt(x.buffer[:n], at)
	switch {
	case got == n:
		return x.buffer[:n], nil
	case err != nil && err != io.EOF:
		return nil, err
	case got == 0 && at == x.at:
		return nil, io.EOF
	}
	return nil, fmt.Errorf("%w: the index ends at byte %d, %d expected", ErrTornFolder, at+int64(got), at+int64(n))
}

func parseAxes(text []byte) (map[string]string, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var values map[string]any
	if err := d.Decode(&values); err != nil || len(values) > maxAxes {
		return nil, fmt.Errorf("axes are %.80q, a JSON object of at most %d expected: the index is damaged, copy it again", text, maxAxes)
	}
	axes := make(map[string]string, len(values))
	for name, value := range values {
		switch value.(type) {
		case json.Number, string:
			axes[name] = fmt.Sprint(value)
		default:
			return nil, fmt.Errorf("axis %.40q is %.40q, a number or text expected: the index is damaged, copy it again", name, fmt.Sprint(value))
		}
	}
	return axes, nil
}

// place reads the eight numbers after the file's name. Every image has a size and metadata, so zeros there mean that the entry is not written yet.
func (e *NDEntry) place(raw []byte) error {
	number := func(i int) uint32 { return binary.LittleEndian.Uint32(raw[4*i:]) }
	width, height, metadata := number(1), number(2), number(6)
	e.offset, e.metadata = int64(number(0)), int64(number(5))
	if e.kind = pixelType(number(3)); width == 0 || height == 0 || e.metadata == 0 || metadata == 0 {
		return fmt.Errorf("%w: the image's position in the file is missing", ErrTornFolder)
	}
	switch {
	case e.kind > elevenBits:
		return Unread("the pixel type is %d, 0 to %d expected: export the recording as TIFF", e.kind, elevenBits)
	case number(4) != 0 || number(7) != 0:
		return Unread("the compression is %d, none (0) expected: export the recording as TIFF", max(number(4), number(7)))
	case metadata > maxMetadataBytes:
		return fmt.Errorf("the metadata have %d bytes, at most %d expected: the index is damaged, copy it again", metadata, maxMetadataBytes)
	case !filepath.IsLocal(e.File) || strings.ContainsAny(e.File, `/\`):
		return fmt.Errorf("the index places the image in %q, a file beside the index expected: copy the recording again", e.File)
	}
	if err := CheckSize(uint64(width), uint64(height), uint64(e.kind.bytes())); err != nil {
		return err
	}
	e.Width, e.Height, e.metadataBytes = int(width), int(height), int(metadata)
	return nil
}
