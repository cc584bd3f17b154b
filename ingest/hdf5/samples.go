package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"

	"driftscope/ingest/tiff"
)

// Classes of types.
const (
	fixedPoint    = 0
	floatingPoint = 1
)

// classes are the names of the others, for errors.
var classes = []string{"fixed point", "floating point", "time", "string", "bits", "opaque", "compound", "reference", "enumeration (as truth values are)", "of variable length", "array"}

// samples is the type of an array's samples.
type samples struct {
	kind  byte // 'u', 'i' or 'f'
	bytes int
	big   bool // the byte of most weight is first
}

// readType reads the type of the samples.
func (d *dataset) readType(c *cursor) error {
	class := int(c.number(1)) & 0x0f
	bits := c.number(3)
	size := c.number(4)
	if class > floatingPoint {
		name := "unknown"
		if class < len(classes) {
			name = classes[class]
		}
		return fmt.Errorf("its samples are of class %d, %s; whole numbers or floats expected", class, name)
	}
	offset, precision := c.number(2), c.number(2)
	d.samples = samples{kind: 'u', bytes: int(size), big: bits&1 != 0}
	switch {
	case class == floatingPoint:
		d.samples.kind = 'f'
	case bits&0x08 != 0:
		d.samples.kind = 'i'
	}
	known := size == 4 || class == fixedPoint && (size == 1 || size == 2) || class == floatingPoint && size == 8
	if !known || offset != 0 || precision != 8*size || class == floatingPoint && bits&0x40 != 0 {
		return fmt.Errorf("its samples are %s of %d bits in %d bytes, whole numbers of 8, 16 or 32 or floats of 32 or 64 expected", classes[class], precision, size)
	}
	return nil
}

// depth is what the samples become.
func (s samples) depth() tiff.Depth {
	switch {
	case s.kind == 'u' && s.bytes == 1:
		return tiff.Uint8
	case s.kind == 'u' && s.bytes == 2:
		return tiff.Uint16
	}
	return tiff.Float32
}

// plain says that samples are stored as a picture has them.
func (s samples) plain() bool {
	return s.kind == 'u' && (s.bytes == 1 || s.bytes == 2 && !s.big) || s.kind == 'f' && s.bytes == 4 && !s.big
}

// row fills dst with as many samples of src, each step bytes behind the one before.
func (s samples) row(dst, src []byte, step int) {
	size := s.depth().Bytes()
	if s.plain() && step == s.bytes {
		copy(dst, src)
		return
	}
	for to, from := 0, 0; to < len(dst); to, from = to+size, from+step {
		s.one(dst[to:to+size], src[from:from+s.bytes])
	}
}

// one converts a sample.
func (s samples) one(dst, src []byte) {
	order := binary.ByteOrder(binary.LittleEndian)
	if s.big {
		order = binary.BigEndian
	}
	switch s.depth() {
	case tiff.Uint8:
		dst[0] = src[0]
	case tiff.Uint16:
		binary.LittleEndian.PutUint16(dst, order.Uint16(src))
	default:
		binary.LittleEndian.PutUint32(dst, math.Float32bits(s.float(src, order)))
	}
}

// float is the value of a sample that becomes a float32.
func (s samples) float(src []byte, order binary.ByteOrder) float32 {
	switch {
	case s.kind == 'u':
		return float32(order.Uint32(src))
	case s.kind == 'f' && s.bytes == 4:
		return math.Float32frombits(order.Uint32(src))
	case s.kind == 'f':
		return float32(math.Float64frombits(order.Uint64(src)))
	case s.bytes == 1:
		return float32(int8(src[0]))
	case s.bytes == 2:
		return float32(int16(order.Uint16(src)))
	}
	return float32(int32(order.Uint32(src)))
}

// fill is the fill value as a picture has it.
func (d *dataset) fill() []byte {
	out := make([]byte, d.samples.depth().Bytes())
	if d.filled != nil {
		d.samples.one(out, d.filled)
	}
	return out
}
