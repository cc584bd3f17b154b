package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"driftscope/infer/card"
)

// Bounds on a graph's sizes and attributes.
const (
	maxDim       = 1 << 24 // size of a tensor's dimension
	maxAttribute = 1 << 10 // kernel size, stride, padding or number of groups
)

// message describes the fields of onnx.proto3 that we or OpenCV read. one has the wire types of single fields, many of repeated fields.
type message struct {
	name      string
	one, many types
}

type types map[protowire.Number]protowire.Type

const (
	varint  = protowire.VarintType
	fixed32 = protowire.Fixed32Type
	fixed64 = protowire.Fixed64Type
	length  = protowire.BytesType
)

var (
	modelMessage     = message{"the model", types{7: length}, nil}
	graphMessage     = message{"the graph", types{2: length}, types{1: length, 5: length, 11: length, 12: length, 13: length}}
	nodeMessage      = message{"a node", types{3: length, 4: length, 7: length}, types{1: length, 2: length, 5: length}}
	attributeMessage = message{"an attribute", types{1: length, 2: fixed32, 3: varint, 4: length, 5: length, 6: length, 20: varint},
		types{7: fixed32, 8: varint, 9: length, 10: length, 11: length}}
	tensorMessage = message{"a constant", types{2: varint, 8: length, 9: length, 14: varint},
		types{1: varint, 4: fixed32, 5: varint, 7: varint, 10: fixed64, 11: varint, 13: length}}
	valueMessages = []message{ // each message is a field of the message before it, along checkShape's path
		{"a value", types{1: length, 2: length}, nil}, {"a type", types{1: length}, nil},
		{"a tensor's type", types{1: varint, 2: length}, nil}, {"a shape", nil, types{1: length}},
		{"a size", types{1: varint, 2: length}, nil},
	}
)

// encodings maps data_type to a constant's two encodings: width is the number of bytes per number in raw_data, field is the field for numbers stored singly.
var encodings = map[int64]struct {
	width int
	field protowire.Number
}{1: {4, 4}, 2: {1, 5}, 3: {1, 5}, 4: {2, 5}, 5: {2, 5}, 6: {4, 5}, 7: {8, 7}, 9: {1, 5}, 10: {2, 5}, 11: {8, 10}}

// checkStructure refuses graphs that would crash the process instead of causing an exception in OpenCV. OpenCV divides by a tensor's sizes and by a kernel's
// strides, and trusts that a constant has the number of values that its shape requires. Field numbers follow onnx.proto3.
func checkStructure(onnx []byte) error {
	return modelMessage.fields(onnx, func(field protowire.Number, v value) error {
		if field != 7 { // graph
			return nil
		}
		return checkGraph(v.bytes)
	})
}

func checkGraph(graph []byte) error {
	defined := map[string]bool{"": true} // an empty name marks an omitted optional input
	err := graphMessage.fields(graph, func(field protowire.Number, v value) error {
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

// inputs returns the names of a graph's inputs, in order, without constants.
func inputs(onnx []byte) (names []string) {
	constant := map[string]bool{}
	_ = fields(onnx, func(field protowire.Number, v value) error { // checkStructure reports an incomplete file
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

// text returns a message's string field, the last if it occurs more than once.
func text(message []byte, number protowire.Number) (s string) {
	_ = fields(message, func(field protowire.Number, v value) error { // a later full read reports an incomplete message
		if field == number {
			s = string(v.bytes)
		}
		return nil
	})
	return s
}

// checkNode checks the bounds of a node's attributes and requires that its inputs are defined. It then marks the outputs as defined.
func checkNode(node []byte, defined map[string]bool) error {
	var outputs []string
	err := nodeMessage.fields(node, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			if !defined[string(v.bytes)] {
				return fmt.Errorf("reads %q, which no earlier node produces: the file is damaged", v.bytes)
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
	err := attributeMessage.fields(attribute, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			name = string(v.bytes)
		case 3:
			ints = append(ints, v.integer)
		case 5:
			_, err := checkTensor(v.bytes)
			return err
		case 6, 11: // subgraphs: If, Loop
			return errors.New("contains a subgraph, which OpenCV does not run")
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

// checkTensor requires that a constant has the number of values that its shape requires. It returns the constant's name.
func checkTensor(tensor []byte) (name string, err error) {
	var kind, all int64
	var counts [12]int64 // numbers per field
	raw := 0
	size := int64(1)
	dim := func(d int64) {
		if d < 0 || d > maxDim || size > math.MaxInt32 {
			size = math.MaxInt64 // matches no data
			return
		}
		size *= d
	}
	err = tensorMessage.fields(tensor, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			return v.eachInteger(dim)
		case 2:
			kind = v.integer
		case 4, 5, 7, 10, 11: // float, int32, int64, double and uint64 data
			n, err := v.count(tensorMessage.many[field])
			counts[field] += n
			all += n
			return err
		case 8:
			name = string(v.bytes)
		case 9:
			raw = len(v.bytes)
		case 13, 14:
			return errors.New("stores constants in another file: export the model as one file")
		}
		return nil
	})
	if err != nil {
		return name, err
	}
	e, known := encodings[kind]
	count := counts[e.field]
	if count != all || raw > 0 && all > 0 || known && raw > 0 && raw%e.width != 0 {
		return name, fmt.Errorf("constant %q of type %d has %d bytes of raw data and %d numbers, %d of them of its type, expected only one encoding, without partial numbers: "+
			"the file is damaged, export or copy it again", name, kind, raw, all, count)
	}
	if known && raw > 0 {
		count = int64(raw / e.width)
	}
	if !known || count != size {
		return name, fmt.Errorf("constant %q of type %d has %d numbers, but its shape needs %d: the file is damaged, export or copy it again", name, kind, count, size)
	}
	return name, nil
}

// checkShape refuses sizes below 1 in a value's shape: ValueInfoProto.type.tensor_type.shape.dim.dim_value.
func checkShape(message []byte, level int) error {
	path := [...]protowire.Number{2, 1, 2, 1}
	return valueMessages[level].fields(message, func(field protowire.Number, v value) error {
		switch {
		case level < len(path) && field == path[level]:
			return checkShape(v.bytes, level+1)
		case level == len(path) && field == 1 && (v.integer < 1 || v.integer > maxDim):
			return fmt.Errorf("found the size %d in a shape, expected 1 to %d", v.integer, maxDim)
		}
		return nil
	})
}

// value is one field of a protobuf message. Length-delimited fields set bytes, varints set integer.
type value struct {
	kind    protowire.Type
	bytes   []byte
	integer int64
}

// fields calls f for every field of message.
func fields(message []byte, f func(protowire.Number, value) error) error {
	return card.Fields(message, func(field protowire.Number, kind protowire.Type, bytes []byte, integer uint64) error {
		return f(field, value{kind, bytes, int64(integer)})
	})
}

// fields calls f for every field of a message, and refuses a field of the wrong wire type and a single field that occurs twice. OpenCV ignores the former. Of
// the latter it takes the last or merges them, so our checks would see different data than OpenCV.
func (m message) fields(bytes []byte, f func(protowire.Number, value) error) error {
	seen := map[protowire.Number]bool{}
	return fields(bytes, func(field protowire.Number, v value) error {
		kind, once := m.one[field]
		if !once {
			var repeated bool
			kind, repeated = m.many[field]
			if !repeated || v.kind == length { // an unread field, or packed numbers
				return f(field, v)
			}
		}
		if v.kind != kind {
			return fmt.Errorf("field %d of %s has the wire type %d, expected %d: the file is damaged, export or copy it again",
				field, m.name, v.kind, kind)
		}
		if seen[field] {
			return fmt.Errorf("found field %d of %s twice, expected it once: the file is damaged, export or copy it again", field, m.name)
		}
		seen[field] = once
		return f(field, v)
	})
}

// eachInteger calls f for every integer of a repeated field, packed or not.
func (v value) eachInteger(f func(int64)) error {
	if v.kind == varint {
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

// count returns the number of values of a wire type in a repeated field, packed or not.
func (v value) count(kind protowire.Type) (n int64, err error) {
	width := map[protowire.Type]int{fixed32: 4, fixed64: 8}[kind]
	switch {
	case v.kind == kind:
		return 1, nil
	case width > 0 && len(v.bytes)%width != 0:
		return 0, fmt.Errorf("found %d bytes of packed numbers, expected a multiple of %d: the file is damaged, export or copy it again",
			len(v.bytes), width)
	case width > 0:
		return int64(len(v.bytes) / width), nil
	}
	err = v.eachInteger(func(int64) { n++ })
	return n, err
}
