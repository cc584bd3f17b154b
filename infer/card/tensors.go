package card

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxDimension is the largest size of a tensor along one axis.
const maxDimension = 1 << 24

// Tensors returns a graph's float32 constants by name, in the encoding of Graph.Marshal. It skips constants of other types or encodings.
func Tensors(onnx []byte) (map[string]Tensor, error) {
	found := map[string]Tensor{}
	err := Fields(onnx, func(field protowire.Number, _ protowire.Type, graph []byte, _ uint64) error {
		if field != 7 {
			return nil
		}
		return Fields(graph, func(field protowire.Number, _ protowire.Type, message []byte, _ uint64) error {
			if field != 5 {
				return nil
			}
			t, ok, err := readTensor(message)
			if ok {
				found[t.Name] = t
			}
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("the graph is torn or not ONNX (%w): export or copy it again", err)
	}
	return found, nil
}

// readTensor parses one TensorProto. ok is false if its data is not raw float32.
func readTensor(message []byte) (t Tensor, ok bool, err error) {
	var kind uint64
	var raw []byte
	size := uint64(1)
	err = Fields(message, func(field protowire.Number, _ protowire.Type, bytes []byte, integer uint64) error {
		switch field {
		case 1:
			if integer > maxDimension || size*integer > MaxFile {
				return fmt.Errorf("a constant has the size %d along an axis", integer)
			}
			size *= integer
			t.Shape = append(t.Shape, int(integer))
		case 2:
			kind = integer
		case 8:
			t.Name = string(bytes)
		case 9:
			raw = bytes
		}
		return nil
	})
	if err != nil || kind != 1 || raw == nil {
		return t, false, err
	}
	if uint64(len(raw)) != 4*size {
		return t, false, fmt.Errorf("constant %q has %d bytes, but its shape %v needs %d", t.Name, len(raw), t.Shape, 4*size)
	}
	t.Data = make([]float32, size)
	for i := range t.Data {
		t.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return t, true, nil
}

// Fields calls f for every field of a protobuf message with its wire type. bytes is the content of a length-delimited field and a part of message. integer is
// the value of a varint. Fields returns the first error of f, or an error if the message is incomplete.
func Fields(message []byte, f func(field protowire.Number, kind protowire.Type, bytes []byte, integer uint64) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if field > protowire.MaxValidNumber { // protobuf in C++ would read the low bits as a different field
			return fmt.Errorf("found field %d, expected 1 to %d", field, protowire.MaxValidNumber)
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(field, kind, message); n < 0 {
			return protowire.ParseError(n)
		}
		var bytes []byte
		var integer uint64
		switch kind {
		case protowire.BytesType:
			bytes, _ = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			integer, _ = protowire.ConsumeVarint(message)
		}
		if err := f(field, kind, bytes, integer); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}
