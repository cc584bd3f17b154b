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

// namedSamples are the supported v3 types.
var namedSamples = map[string]tiff.Samples{
	"bool": {Kind: tiff.Truth, Bytes: 1}, "uint8": {Kind: tiff.Unsigned, Bytes: 1}, "uint16": {Kind: tiff.Unsigned, Bytes: 2}, "uint32": {Kind: tiff.Unsigned, Bytes: 4},
	"int8": {Kind: tiff.Signed, Bytes: 1}, "int16": {Kind: tiff.Signed, Bytes: 2}, "int32": {Kind: tiff.Signed, Bytes: 4},
	"float32": {Kind: tiff.Floating, Bytes: 4}, "float64": {Kind: tiff.Floating, Bytes: 8},
}

// codedSamples parses v2's dtype, such as <u2.
func codedSamples(dtype string) (tiff.Samples, error) {
	for _, s := range namedSamples {
		order, rest := dtype[:min(1, len(dtype))], dtype[min(1, len(dtype)):]
		if rest == string(s.Kind)+strconv.Itoa(s.Bytes) && strings.Contains("<>|", order) && (order != "|" || s.Bytes == 1) {
			s.Big = order == ">"
			return s, nil
		}
	}
	return tiff.Samples{}, unread(dtype)
}

func unread(kind string) error {
	return tiff.Unread("samples have type %.40q, integers of 8, 16 or 32 bits or floats of 32 or 64 expected: convert the store", kind)
}

// fill returns the fill value as one sample in the picture's format.
func fill(s tiff.Samples, text json.RawMessage) ([]byte, error) {
	v, err := fillValue(text)
	if err != nil {
		return nil, err
	}
	depth := s.Depth()
	out := make([]byte, depth.Bytes())
	switch {
	case s.Kind == tiff.Truth && v != 0:
		out[0] = 255
	case depth == tiff.Float32:
		binary.LittleEndian.PutUint32(out, math.Float32bits(float32(v)))
	case !(0 <= v && v < float64(int(1)<<(8*depth.Bytes()))):
		return nil, fmt.Errorf("fill_value is %g, a number in the range of the samples expected: correct the store's metadata", v)
	case depth == tiff.Uint16:
		binary.LittleEndian.PutUint16(out, uint16(v))
	default:
		out[0] = byte(v)
	}
	return out, nil
}

// fillValue parses a number, true, false, a name such as NaN for a number that JSON lacks, or the bits of a float as in v3. A missing value is 0.
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
