package zarr

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ChunkRows is the number of rows per chunk that Rows writes.
const ChunkRows = 1 << 14

// Element types of Rows, in Zarr v2's names.
const (
	Whole8 = "<u8"
	Float8 = "<f8"
	Short2 = "<i2"
	Flag1  = "|b1"
)

// Rows writes an uncompressed Zarr v2 array that grows along its first axis. It keeps rows in memory until their chunk is full and written. The array's
// metadata count only whole chunks on the disk, so a store cut off at any point is valid. Not safe for concurrent use.
type Rows struct {
	folder, dtype string
	inner         []int // shape of a row; empty: one number
	bytes         int   // of a row
	buffer        []byte
	stored        int // rows on the disk
}

// NewRows makes the folder of an array whose rows have the shape inner.
func NewRows(folder, dtype string, inner ...int) (*Rows, error) {
	r := &Rows{folder: folder, dtype: dtype, inner: inner, bytes: int(dtype[2] - '0')}
	for _, n := range inner {
		r.bytes *= n
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	return r, r.lengthen(0)
}

// Whole appends whole numbers.
func (r *Rows) Whole(values ...uint64) {
	for _, v := range values {
		r.buffer = binary.LittleEndian.AppendUint64(r.buffer, v)
	}
}

// Floats appends numbers.
func (r *Rows) Floats(values ...float64) {
	for _, v := range values {
		r.buffer = binary.LittleEndian.AppendUint64(r.buffer, math.Float64bits(v))
	}
}

// Short appends a 16-bit number.
func (r *Rows) Short(v int16) { r.buffer = binary.LittleEndian.AppendUint16(r.buffer, uint16(v)) }

// Flag appends a boolean.
func (r *Rows) Flag(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	r.buffer = append(r.buffer, b)
}

// Flush writes the full chunks. After an error the unwritten chunks stay in memory, and the next Flush continues.
func (r *Rows) Flush() error {
	size := ChunkRows * r.bytes
	from := r.stored
	for len(r.buffer) >= size {
		if err := r.chunk(r.buffer[:size]); err != nil {
			return err
		}
		r.buffer = append(r.buffer[:0], r.buffer[size:]...)
		r.stored += ChunkRows
	}
	if r.stored == from {
		return nil
	}
	return r.lengthen(r.stored)
}

// Close writes all rows.
func (r *Rows) Close() error {
	if err := r.Flush(); err != nil || len(r.buffer) == 0 {
		return err
	}
	rows := r.stored + len(r.buffer)/r.bytes
	if err := r.chunk(append(r.buffer, make([]byte, ChunkRows*r.bytes-len(r.buffer))...)); err != nil {
		return err
	}
	r.buffer, r.stored = r.buffer[:0], rows
	return r.lengthen(rows)
}

// chunk writes the next chunk. A chunk's name has one number per axis.
func (r *Rows) chunk(data []byte) error {
	return place(filepath.Join(r.folder, strconv.Itoa(r.stored/ChunkRows)+strings.Repeat(".0", len(r.inner))), data)
}

func (r *Rows) lengthen(rows int) error {
	return document(filepath.Join(r.folder, v2Name), v2(append([]int{rows}, r.inner...), append([]int{ChunkRows}, r.inner...), r.dtype, "."))
}

// v2 returns the metadata of an uncompressed array.
func v2(shape, chunks []int, dtype, separator string) map[string]any {
	var fill any = 0
	if dtype == Flag1 {
		fill = false
	}
	return map[string]any{"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "compressor": nil, "filters": nil, "fill_value": fill,
		"order": "C", "dimension_separator": separator}
}

// Group makes a group with attributes, which may be nil.
func Group(folder string, attributes any) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if attributes != nil {
		if err := document(filepath.Join(folder, v2Attributes), attributes); err != nil {
			return err
		}
	}
	return document(filepath.Join(folder, v2Group), map[string]any{"zarr_format": 2})
}

// document writes v as JSON.
func document(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return place(path, text)
}
