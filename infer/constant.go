package infer

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// DataType values of onnx.proto3 for the constants that this package reads.
const (
	typeFloat = 1
	typeInt64 = 7
)

// maxRead is the largest number of values read from a constant. No shape, slice or scale has more.
const maxRead = 64

// constant holds the parts of a constant that are needed to check the nodes that read it.
type constant struct {
	kind     int64
	shape    []int
	integers []int64   // the first maxRead numbers of an int64 constant
	floats   []float32 // the first maxRead numbers of a float32 constant
}

// readConstant reads a TensorProto that checkTensor has accepted.
func readConstant(tensor []byte) *constant {
	c := &constant{shape: []int{}}
	_ = fields(tensor, func(field protowire.Number, v value) error { // checkTensor has reported every error
		switch field {
		case 1:
			return v.eachInteger(func(d int64) { c.shape = append(c.shape, int(d)) })
		case 2:
			c.kind = v.integer
		case 7:
			return v.eachInteger(func(i int64) { c.integer(i) })
		}
		return nil
	})
	_ = fields(tensor, func(field protowire.Number, v value) error {
		if field == 9 {
			c.raw(v.bytes)
		}
		return nil
	})
	c.loose(tensor)
	return c
}

func (c *constant) integer(i int64) {
	if len(c.integers) < maxRead {
		c.integers = append(c.integers, i)
	}
}

// raw reads numbers stored as bytes.
func (c *constant) raw(b []byte) {
	switch c.kind {
	case typeInt64:
		for ; len(b) >= 8 && len(c.integers) < maxRead; b = b[8:] {
			c.integer(int64(binary.LittleEndian.Uint64(b)))
		}
	case typeFloat:
		for ; len(b) >= 4 && len(c.floats) < maxRead; b = b[4:] {
			c.floats = append(c.floats, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	}
}

// loose reads float32 numbers of the field float_data, stored one by one or packed.
func (c *constant) loose(tensor []byte) {
	for len(tensor) > 0 && len(c.floats) < maxRead {
		field, kind, n := protowire.ConsumeTag(tensor)
		if n < 0 {
			return
		}
		tensor = tensor[n:]
		switch n = protowire.ConsumeFieldValue(field, kind, tensor); {
		case n < 0:
			return
		case field == 4 && kind == protowire.Fixed32Type:
			u, _ := protowire.ConsumeFixed32(tensor)
			c.floats = append(c.floats, math.Float32frombits(u))
		case field == 4 && kind == protowire.BytesType:
			packed, _ := protowire.ConsumeBytes(tensor)
			c.raw(packed)
		}
		tensor = tensor[n:]
	}
}

// count returns the number of values in a shape, at most maxElements + 1.
func count(shape []int) int64 {
	size := int64(1)
	for _, d := range shape {
		if size *= int64(d); size > maxElements {
			return maxElements + 1
		}
	}
	return size
}
