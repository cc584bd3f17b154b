package nd2

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf16"
)

// Bounds on metadata.
const (
	maxLevels  = 64      // nesting depth
	maxRecords = 1 << 20 // per chunk
)

// The types of records.
const (
	boolean    = 1
	signed32   = 2
	unsigned32 = 3
	signed64   = 4
	unsigned64 = 5
	double     = 6
	pointer    = 7
	text       = 8
	byteArray  = 9
	levelType  = 11
	compressed = 76
)

// level is an ordered list of records. The records of an unnamed list have empty names.
type level []record

// record is a name and its value.
type record struct {
	name   string
	number float64
	text   string
	bytes  []byte
	inside level
}

// find returns the last record with this name, or nil.
func (l level) find(name string) *record {
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].name == name {
			return &l[i]
		}
	}
	return nil
}

// level returns the level with this name, or nil.
func (l level) level(name string) level {
	if r := l.find(name); r != nil {
		return r.inside
	}
	return nil
}

// number returns the number with this name, or standard if there is none.
func (l level) number(name string, standard float64) float64 {
	if r := l.find(name); r != nil {
		return r.number
	}
	return standard
}

// whole returns the integer with this name. ok is false if it is not within 0 to most.
func (l level) whole(name string, most int) (int, bool) {
	v := l.number(name, -1)
	if !(v >= 0 && v <= float64(most)) || v != math.Trunc(v) {
		return 0, false
	}
	return int(v), true
}

// errLite reports damaged metadata.
var errLite = errors.New("incomplete metadata (lite variant)")

// decoder reads a chunk's records.
type decoder struct {
	b       []byte
	records int
}

// decode reads the records of a chunk, which may be compressed as a whole.
func decode(b []byte) (level, error) {
	if len(b) > 2 && b[0] == compressed {
		const skipped = 12
		if len(b) < skipped {
			return nil, errLite
		}
		r, err := zlib.NewReader(bytes.NewReader(b[skipped:]))
		if err != nil {
			return nil, err
		}
		if b, err = io.ReadAll(io.LimitReader(r, maxMetadata+1)); err != nil {
			return nil, err
		}
		if len(b) > maxMetadata {
			return nil, fmt.Errorf("they unpack to more than %d bytes", maxMetadata)
		}
	}
	d := decoder{b: b}
	return d.take(1, 0)
}

// take reads count records.
func (d *decoder) take(count, depth int) (level, error) {
	if depth > maxLevels {
		return nil, errLite
	}
	var l level
	for range count {
		if len(d.b) == 0 {
			return l, nil
		}
		r, err := d.record(depth)
		if err != nil {
			return nil, err
		}
		if d.records++; d.records > maxRecords {
			return nil, fmt.Errorf("they have more than %d records", maxRecords)
		}
		l = append(l, r)
	}
	return l, nil
}

// bytes takes n bytes.
func (d *decoder) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(d.b)) {
		return nil, errLite
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b, nil
}

// record reads one record.
func (d *decoder) record(depth int) (r record, err error) {
	begin := len(d.b)
	head, err := d.bytes(2)
	if err != nil {
		return r, err
	}
	kind := head[0]
	name, err := d.bytes(2 * uint64(head[1]))
	if err != nil {
		return r, err
	}
	r.name = characters(name)
	switch kind {
	case text:
		n := 0
		for n+1 < len(d.b) && (d.b[n] != 0 || d.b[n+1] != 0) {
			n += 2
		}
		value, err := d.bytes(uint64(n) + 2)
		if err != nil {
			return r, err
		}
		r.text = characters(value)
		return r, nil
	case byteArray:
		n, err := d.bytes(8)
		if err != nil {
			return r, err
		}
		r.bytes, err = d.bytes(binary.LittleEndian.Uint64(n))
		return r, err
	case levelType:
		return r, d.level(&r, begin, depth)
	}
	size, known := map[byte]uint64{boolean: 1, signed32: 4, unsigned32: 4, signed64: 8, unsigned64: 8, double: 8, pointer: 8}[kind]
	if !known {
		return r, fmt.Errorf("a record %.40q of type %d", r.name, kind)
	}
	value, err := d.bytes(size)
	if err != nil {
		return r, err
	}
	r.number = value64(kind, value)
	return r, nil
}

// value64 decodes the number in a record of the given type.
func value64(kind byte, b []byte) float64 {
	little := binary.LittleEndian
	switch kind {
	case boolean:
		return float64(b[0])
	case signed32:
		return float64(int32(little.Uint32(b)))
	case unsigned32:
		return float64(little.Uint32(b))
	case signed64:
		return float64(int64(little.Uint64(b)))
	case double:
		return math.Float64frombits(little.Uint64(b))
	}
	return float64(little.Uint64(b))
}

// level reads the contents of a record of type level: the number of its records, the length from the record's beginning to the end of its records, the records,
// and one offset per record. begin is the number of bytes that were left at the record's beginning.
func (d *decoder) level(r *record, begin, depth int) error {
	head, err := d.bytes(12)
	if err != nil {
		return err
	}
	count, length := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint64(head[4:])
	read := uint64(begin - len(d.b))
	if length < read {
		return errLite
	}
	inside, err := d.bytes(length - read)
	if err != nil {
		return err
	}
	const least = 3 // bytes of a record
	if int64(count) > int64(len(inside)/least) {
		return errLite
	}
	rest := d.b
	d.b = inside
	if r.inside, err = d.take(int(count), depth+1); err != nil {
		return err
	}
	d.b = rest
	if r.inside == nil {
		r.inside = level{}
	}
	_, err = d.bytes(min(8*uint64(count), uint64(len(d.b))))
	return err
}

// characters decodes UTF-16 text up to the first zero.
func characters(b []byte) string {
	var units []uint16
	for ; len(b) > 1; b = b[2:] {
		unit := binary.LittleEndian.Uint16(b)
		if unit == 0 {
			break
		}
		units = append(units, unit)
	}
	return string(utf16.Decode(units))
}
