package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"driftscope/infer/card"
)

// Bounds on what a graph may ask of OpenCV.
const (
	maxDim       = 1 << 24 // of a tensor
	maxAttribute = 1 << 10 // of a kernel, a stride, a padding, a group
)

// checkStructure refuses graphs that would not make OpenCV throw but end the process: it divides by a tensor's sizes and by a
// kernel's strides, and trusts that a constant holds as many numbers as its shape says. Field numbers are onnx.proto3's.
func checkStructure(onnx []byte) error {
	return fields(onnx, func(field protowire.Number, v value) error {
		if field != 7 { // graph
			return nil
		}
		return checkGraph(v.bytes)
	})
}

func checkGraph(graph []byte) error {
	defined := map[string]bool{"": true} // the empty name stands for an optional input left out
	err := fields(graph, func(field protowire.Number, v value) error {
		switch field {
		case 5:
			name, err := checkTensor(v.bytes)
			defined[name] = true
			return err
		case 11:
			defined[text(v.bytes, 1)] = true
			return checkShape(v.bytes, 0)
		case 12, 13:
			return checkShape(v.bytes, 0)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return fields(graph, func(field protowire.Number, v value) error {
		if field != 1 {
			return nil
		}
		return checkNode(v.bytes, defined)
	})
}

// inputs names what a graph must be given, in order: its inputs but for those that are constants.
func inputs(onnx []byte) (names []string) {
	constant := map[string]bool{}
	_ = fields(onnx, func(field protowire.Number, v value) error { // a torn file is found by checkStructure
		if field != 7 {
			return nil
		}
		return fields(v.bytes, func(field protowire.Number, v value) error {
			switch field {
			case 5:
				constant[text(v.bytes, 8)] = true
			case 11:
				names = append(names, text(v.bytes, 1))
			}
			return nil
		})
	})
	return slices.DeleteFunc(names, func(name string) bool { return constant[name] })
}

// text is a message's string field, the last where it occurs more than once.
func text(message []byte, number protowire.Number) (s string) {
	_ = fields(message, func(field protowire.Number, v value) error { // a torn message is found by whoever reads all of it
		if field == number {
			s = string(v.bytes)
		}
		return nil
	})
	return s
}

// checkNode bounds a node's attributes and wants its inputs defined before it; its outputs are defined from here on.
func checkNode(node []byte, defined map[string]bool) error {
	var outputs []string
	err := fields(node, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			if !defined[string(v.bytes)] {
				return fmt.Errorf("reads %q, which nothing before gives: the file is damaged", v.bytes)
			}
		case 2:
			outputs = append(outputs, string(v.bytes))
		case 5:
			return checkAttribute(v.bytes)
		}
		return nil
	})
	for _, name := range outputs {
		defined[name] = true
	}
	return err
}

func checkAttribute(attribute []byte) error {
	var name string
	var ints []int64
	err := fields(attribute, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			name = string(v.bytes)
		case 3:
			ints = append(ints, v.integer)
		case 5:
			_, err := checkTensor(v.bytes)
			return err
		case 6, 11: // subgraphs: If, Loop
			return errors.New("holds a graph within the graph, which OpenCV does not run")
		case 8:
			return v.eachInteger(func(i int64) { ints = append(ints, i) })
		}
		return nil
	})
	if err != nil {
		return err
	}
	low := int64(0)
	switch name {
	case "kernel_shape", "strides", "dilations", "group", "num_outputs", "blocksize":
		low = 1
	case "pads", "output_padding":
	default:
		return nil
	}
	for _, i := range ints {
		if i < low || i > maxAttribute {
			return fmt.Errorf("attribute %s: found %d, expected %d to %d", name, i, low, maxAttribute)
		}
	}
	return nil
}

// checkTensor compares a constant's shape with the numbers it holds. It returns the constant's name.
func checkTensor(tensor []byte) (name string, err error) {
	var kind, count int64
	raw := -1
	size := int64(1)
	dim := func(d int64) {
		if d < 0 || d > maxDim || size > math.MaxInt32 {
			size = math.MaxInt64 // matches no data
			return
		}
		size *= d
	}
	err = fields(tensor, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			return v.eachInteger(dim)
		case 2:
			kind = v.integer
		case 4, 5, 7, 10, 11: // float, int32, int64, double and uint64 data
			n, err := v.count(field)
			count += n
			return err
		case 8:
			name = string(v.bytes)
		case 9:
			raw = len(v.bytes)
		case 13, 14:
			return errors.New("keeps constants in another file: export it as one file")
		}
		return nil
	})
	if err != nil {
		return name, err
	}
	width := map[int64]int64{1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8}[kind]
	if raw >= 0 && width > 0 && count == 0 && int64(raw)%width == 0 {
		count = int64(raw) / width
	}
	if width == 0 || count != size {
		return name, fmt.Errorf("constant %q of type %d holds %d numbers, its shape wants %d: the file is damaged", name, kind, count, size)
	}
	return name, nil
}

// checkShape looks for sizes below 1 in a value's shape: ValueInfoProto.type.tensor_type.shape.dim.dim_value.
func checkShape(message []byte, level int) error {
	path := [...]protowire.Number{2, 1, 2, 1}
	return fields(message, func(field protowire.Number, v value) error {
		switch {
		case level < len(path) && field == path[level] && v.bytes != nil:
			return checkShape(v.bytes, level+1)
		case level == len(path) && field == 1 && (v.integer < 1 || v.integer > maxDim):
			return fmt.Errorf("found the size %d in a shape, expected 1 to %d", v.integer, maxDim)
		}
		return nil
	})
}

// value is one field of a protobuf message: bytes for the length-delimited, integer for varints.
type value struct {
	bytes   []byte
	integer int64
}

// fields calls f for every field of message.
func fields(message []byte, f func(protowire.Number, value) error) error {
	return card.Fields(message, func(field protowire.Number, bytes []byte, integer uint64) error {
		return f(field, value{bytes, int64(integer)})
	})
}

// eachInteger calls f for the integers of a repeated field, packed or not.
func (v value) eachInteger(f func(int64)) error {
	if v.bytes == nil {
		f(v.integer)
		return nil
	}
	for b := v.bytes; len(b) > 0; {
		u, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		f(int64(u))
		b = b[n:]
	}
	return nil
}

// count is how many numbers a typed data field holds.
func (v value) count(field protowire.Number) (n int64, err error) {
	switch {
	case v.bytes == nil:
		return 1, nil
	case field == 4:
		return int64(len(v.bytes) / 4), nil
	case field == 10:
		return int64(len(v.bytes) / 8), nil
	}
	err = v.eachInteger(func(int64) { n++ })
	return n, err
}
