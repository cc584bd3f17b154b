package card

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Opset is the ONNX operator set of Graph. OpenCV 4.6 reads its operators, except for a Clip with inputs.
const Opset = 13

// Graph is an ONNX graph with the features that encoders and decoders need. Values are float32.
type Graph struct {
	Name    string
	Inputs  []Value
	Outputs []Value
	Nodes   []Node // in order of execution
	Tensors []Tensor
	Ints    []IntTensor
}

// Value is a graph's input or output: its name and shape.
type Value struct {
	Name  string
	Shape []int
}

// Node is one operator.
type Node struct {
	Op      string
	Inputs  []string
	Outputs []string
	Attrs   []Attr
}

// Attr is an operator's attribute: an int, a float32, a string or a []int.
type Attr struct {
	Name  string
	Value any
}

// Tensor is a float32 constant in row-major order.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// IntTensor is a constant vector of int64, such as the shape input of a Reshape.
type IntTensor struct {
	Name string
	Data []int
}

// Marshal encodes g as an ONNX model, with the metadata in the given order. The same graph gives the same bytes. Field numbers follow onnx.proto3.
func (g *Graph) Marshal(metadata []Property) []byte {
	var m []byte
	m = appendVarint(m, 1, 7) // ir_version
	m = appendString(m, 2, "driftscope")
	m = appendBytes(m, 7, g.marshal())
	m = appendBytes(m, 8, appendVarint(nil, 2, Opset)) // opset_import, default domain
	for _, p := range metadata {
		m = appendBytes(m, 14, appendString(appendString(nil, 1, p.Key), 2, p.Value))
	}
	return m
}

func (g *Graph) marshal() []byte {
	var b []byte
	for _, n := range g.Nodes {
		b = appendBytes(b, 1, n.marshal())
	}
	b = appendString(b, 2, g.Name)
	for _, t := range g.Tensors {
		b = appendBytes(b, 5, t.marshal())
	}
	for _, t := range g.Ints {
		b = appendBytes(b, 5, t.marshal())
	}
	for _, v := range g.Inputs {
		b = appendBytes(b, 11, v.Marshal())
	}
	for _, v := range g.Outputs {
		b = appendBytes(b, 12, v.Marshal())
	}
	return b
}

func (n *Node) marshal() []byte {
	var b []byte
	for _, s := range n.Inputs {
		b = appendString(b, 1, s)
	}
	for _, s := range n.Outputs {
		b = appendString(b, 2, s)
	}
	b = appendString(b, 3, n.Outputs[0])
	b = appendString(b, 4, n.Op)
	for _, a := range n.Attrs {
		b = appendBytes(b, 5, a.marshal())
	}
	return b
}

func (a *Attr) marshal() []byte {
	b := appendString(nil, 1, a.Name)
	switch v := a.Value.(type) {
	case float32:
		b = protowire.AppendTag(b, 2, protowire.Fixed32Type)
		b = protowire.AppendFixed32(b, math.Float32bits(v))
		return appendVarint(b, 20, 1)
	case int:
		return appendVarint(appendVarint(b, 3, uint64(v)), 20, 2)
	case string:
		return appendVarint(appendString(b, 4, v), 20, 3)
	case []int:
		for _, i := range v {
			b = appendVarint(b, 8, uint64(i))
		}
		return appendVarint(b, 20, 7)
	}
	panic(fmt.Sprintf("card: attribute %s has type %T", a.Name, a.Value))
}

func (t *Tensor) marshal() []byte {
	var b []byte
	for _, d := range t.Shape {
		b = appendVarint(b, 1, uint64(d))
	}
	b = appendVarint(b, 2, 1) // FLOAT
	b = appendString(b, 8, t.Name)
	raw := make([]byte, 4*len(t.Data))
	for i, v := range t.Data {
		binary.LittleEndian.PutUint32(raw[4*i:], math.Float32bits(v))
	}
	return appendBytes(b, 9, raw)
}

func (t *IntTensor) marshal() []byte {
	b := appendVarint(nil, 1, uint64(len(t.Data)))
	b = appendVarint(b, 2, 7) // INT64
	b = appendString(b, 8, t.Name)
	var raw []byte
	for _, v := range t.Data {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return appendBytes(b, 9, raw)
}

// Marshal encodes v as a ValueInfoProto of float32.
func (v *Value) Marshal() []byte {
	var shape []byte
	for _, d := range v.Shape {
		shape = appendBytes(shape, 1, appendVarint(nil, 1, uint64(d)))
	}
	tensor := appendBytes(appendVarint(nil, 1, 1), 2, shape)
	return appendBytes(appendString(nil, 1, v.Name), 2, appendBytes(nil, 1, tensor))
}

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendString(b []byte, field protowire.Number, v string) []byte {
	return appendBytes(b, field, []byte(v))
}
