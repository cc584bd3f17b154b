package zarr

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"driftscope/ingest/tiff"
)

// samples is the type of an array's numbers as they are stored.
type samples struct {
	kind  byte // b: true or false; u: unsigned, i: signed, f: floating point
	bytes int
	big   bool // the most significant byte comes first
}

// namedSamples are v3's types that are read.
var namedSamples = map[string]samples{
	"bool": {kind: 'b', bytes: 1}, "uint8": {kind: 'u', bytes: 1}, "uint16": {kind: 'u', bytes: 2}, "uint32": {kind: 'u', bytes: 4},
	"int8": {kind: 'i', bytes: 1}, "int16": {kind: 'i', bytes: 2}, "int32": {kind: 'i', bytes: 4},
	"float32": {kind: 'f', bytes: 4}, "float64": {kind: 'f', bytes: 8},
}

// codedSamples reads v2's dtype, such as <u2.
func codedSamples(dtype string) (samples, error) {
	for _, s := range namedSamples {
		order, rest := dtype[:min(1, len(dtype))], dtype[min(1, len(dtype)):]
		if rest == string(s.kind)+strconv.Itoa(s.bytes) && strings.Contains("<>|", order) && (order != "|" || s.bytes == 1) {
			s.big = order == ">"
			return s, nil
		}
	}
	return samples{}, unread(dtype)
}

func unread(kind string) error {
	return fmt.Errorf("samples of type %.40q, 8, 16 or 32 bits unsigned or signed, or floats of 32 or 64, expected: convert the store", kind)
}

// depth is what the samples become.
func (s samples) depth() tiff.Depth {
	switch {
	case s.bytes == 1 && s.kind != 'i':
		return tiff.Uint8
	case s.bytes == 2 && s.kind == 'u':
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
	switch {
	case s.kind == 'b':
		dst[0] = 0
		if src[0] != 0 {
			dst[0] = 255
		}
	case s.bytes == 1 && s.kind == 'u':
		dst[0] = src[0]
	case s.bytes == 2 && s.kind == 'u':
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

// fill is a fill value as a picture has it.
func (s samples) fill(text json.RawMessage) ([]byte, error) {
	v, err := fillValue(text)
	if err != nil {
		return nil, err
	}
	depth := s.depth()
	out := make([]byte, depth.Bytes())
	switch {
	case s.kind == 'b' && v != 0:
		out[0] = 255
	case depth == tiff.Float32:
		binary.LittleEndian.PutUint32(out, math.Float32bits(float32(v)))
	case !(0 <= v && v < float64(int(1)<<(8*depth.Bytes()))):
		return nil, fmt.Errorf("fill_value is %g, a number that its samples can hold expected: correct the store's metadata", v)
	case depth == tiff.Uint16:
		binary.LittleEndian.PutUint16(out, uint16(v))
	default:
		out[0] = byte(v)
	}
	return out, nil
}

// fillValue is a number, true, false, the name of one that JSON lacks, or v3's bits of a float; nothing is 0.
func fillValue(text json.RawMessage) (float64, error) {
	var v any
	if len(text) > 0 {
		if err := json.Unmarshal(text, &v); err != nil {
			return 0, err
		}
	}
	switch v := v.(type) {
	case nil:
		return 0, nil
	case float64:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case string:
		switch v {
		case "NaN":
			return math.NaN(), nil
		case "Infinity":
			return math.Inf(1), nil
		case "-Infinity":
			return math.Inf(-1), nil
		}
		if bits, err := strconv.ParseUint(v, 0, 64); err == nil && strings.HasPrefix(v, "0x") {
			if len(v) > len("0x")+8 {
				return math.Float64frombits(bits), nil
			}
			return float64(math.Float32frombits(uint32(bits))), nil
		}
	}
	return 0, fmt.Errorf("fill_value is %.40s, a number expected: correct the store's metadata", text)
}
