package infer

import (
	"errors"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"driftscope/infer/card"
)

// graph holds the nodes of an ONNX file and the picture that they read, so that the first nodes can be split off. Field numbers follow onnx.proto3.
type graph struct {
	nodes    []*node
	outputs  []string
	inputs   []string          // without constants
	shapes   [][]int           // declared shapes of inputs, with 0 for a dynamic dimension; nil for an input that is not float32
	picture  string            // name of the first input
	shape    []int             // shape of the first input
	tensors  map[string][]byte // constants by name
	reads    map[string]int    // number of reads of each value by nodes
	defined  map[string]int    // number of definitions of each value, by an input, a constant or a node
	constant map[string]bool
}

// node is one operator.
type node struct {
	op, domain      string
	inputs, outputs []string
	attributes      map[string]attribute
	order           []string // names of the attributes, in file order
	taken           bool     // the trunk contains the node
}

// attribute holds the value of a node's attribute, in the type that the file uses.
type attribute struct {
	form   protowire.Number // field number of the value
	ints   []int64
	float  float32
	text   string
	tensor []byte
}

// Attribute fields that this package reads.
const (
	formFloat  protowire.Number = 2
	formInt    protowire.Number = 3
	formText   protowire.Number = 4
	formTensor protowire.Number = 5
	formInts   protowire.Number = 8
)

// readGraph reads a graph that checkStructure has accepted. ok is false if two definitions share a name.
func readGraph(onnx []byte) (g *graph, ok bool) {
	g = &graph{reads: map[string]int{}, defined: map[string]int{}, constant: map[string]bool{}, tensors: map[string][]byte{}}
	var declared [][]byte
	err := fields(onnx, func(field protowire.Number, v value) error {
		if field != 7 {
			return nil
		}
		return fields(v.bytes, func(field protowire.Number, v value) error {
			switch field {
			case 1:
				return g.read(v)
			case 5:
				name := text(v.bytes, 8)
				g.constant[name], g.tensors[name] = true, v.bytes
				g.defined[name]++
			case 11:
				declared = append(declared, v.bytes)
			case 12:
				g.outputs = append(g.outputs, text(v.bytes, 1))
			}
			return nil
		})
	})
	for _, message := range declared {
		name := text(message, 1)
		if g.constant[name] { // files of early versions list constants as inputs too
			continue
		}
		g.defined[name]++
		g.inputs, g.shapes = append(g.inputs, name), append(g.shapes, declaredShape(message))
	}
	if len(g.inputs) > 0 {
		g.picture, g.shape = g.inputs[0], g.shapes[0]
	}
	for _, times := range g.defined {
		if times != 1 {
			return nil, false
		}
	}
	return g, err == nil
}

// read appends one node.
func (g *graph) read(message value) error {
	n := &node{attributes: map[string]attribute{}}
	g.nodes = append(g.nodes, n)
	return fields(message.bytes, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			n.inputs = append(n.inputs, string(v.bytes))
			g.reads[string(v.bytes)]++
		case 2:
			n.outputs = append(n.outputs, string(v.bytes))
			if len(v.bytes) > 0 {
				g.defined[string(v.bytes)]++
			}
		case 4:
			n.op = string(v.bytes)
		case 5:
			name, a, err := readAttribute(v.bytes)
			if _, twice := n.attributes[name]; twice {
				return errors.New("a node has two attributes of the same name")
			}
			n.attributes[name], n.order = a, append(n.order, name)
			return err
		case 7:
			n.domain = string(v.bytes)
		}
		return nil
	})
}

// readAttribute refuses an attribute with values of two types, because OpenCV would silently use one of them.
func readAttribute(message []byte) (name string, a attribute, err error) {
	err = fields(message, func(field protowire.Number, v value) error {
		switch field {
		case 1:
			name = string(v.bytes)
			return nil
		case 13, 20: // the doc string, and the declared type
			return nil
		case formInt:
			a.ints = []int64{v.integer}
		case formText:
			a.text = string(v.bytes)
		case formTensor:
			a.tensor = v.bytes
		case formInts:
			err := v.eachInteger(func(i int64) { a.ints = append(a.ints, i) })
			if err != nil {
				return err
			}
		}
		if a.form != 0 && a.form != field {
			return errors.New("an attribute has values of two types")
		}
		a.form = field
		return nil
	})
	if a.form == formFloat {
		a.float = float(message, formFloat)
	}
	return name, a, err
}

// float returns a message's float32 field, the last if it occurs more than once, or NaN if it is missing.
func float(message []byte, number protowire.Number) float32 {
	f := float32(math.NaN())
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return f
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(field, kind, message); n < 0 {
			return f
		}
		if u, _ := protowire.ConsumeFixed32(message); field == number && kind == protowire.Fixed32Type {
			f = math.Float32frombits(u)
		}
		message = message[n:]
	}
	return f
}

// declaredShape returns a float32 tensor's shape, or nil for any other value. A dynamic dimension is 0.
func declaredShape(message []byte) (shape []int) {
	kind := int64(0)
	_ = inside(message, []protowire.Number{2, 1, 1}, func(v value) { kind = v.integer }) // checkStructure has reported every error
	_ = inside(message, []protowire.Number{2, 1, 2, 1}, func(v value) {
		size := 0
		_ = inside(v.bytes, []protowire.Number{1}, func(v value) { size = int(v.integer) })
		shape = append(shape, size)
	})
	if kind != 1 { // FLOAT
		return nil
	}
	return shape
}

// inside follows path through nested messages and calls f for every field at its end.
func inside(message []byte, path []protowire.Number, f func(value)) error {
	return fields(message, func(field protowire.Number, v value) error {
		if field != path[0] {
			return nil
		}
		if len(path) == 1 {
			f(v)
			return nil
		}
		return inside(v.bytes, path[1:], f)
	})
}

// next returns the only node that reads a value, or nil. The value must be the node's first input and not an output of the graph, and the node must have
// exactly one output.
func (g *graph) next(name string) *node {
	if g.reads[name] != 1 || slices.Contains(g.outputs, name) {
		return nil
	}
	i := slices.IndexFunc(g.nodes, func(n *node) bool { return len(n.inputs) > 0 && n.inputs[0] == name })
	if i < 0 || g.nodes[i].domain != "" || len(g.nodes[i].outputs) != 1 || g.nodes[i].outputs[0] == "" {
		return nil
	}
	return g.nodes[i]
}

// convolves reports whether a convolution remains outside the trunk.
func (g *graph) convolves() bool {
	return slices.ContainsFunc(g.nodes, func(n *node) bool { return n.op == "Conv" && !n.taken })
}

// only reports whether the node has no other attributes than these.
func (n *node) only(names ...string) bool {
	for name := range n.attributes {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// is reports whether an attribute has these values.
func (n *node) is(name string, want ...int64) bool {
	return slices.Equal(n.attributes[name].ints, want)
}

// isOrNone is like is, and also accepts a missing attribute.
func (n *node) isOrNone(name string, want ...int64) bool {
	_, given := n.attributes[name]
	return !given || n.is(name, want...)
}

// without returns the file without the trunk's nodes, their constants and the metadata. Instead of the picture, its input is the value `name` of the given
// shape. The remaining nodes already read this value.
func (g *graph) without(onnx []byte, name string, shape []int) []byte {
	gone, left := map[string]bool{}, map[string]bool{} // values that the trunk reads or computes; values that other nodes read
	for _, n := range g.nodes {
		for _, input := range n.inputs {
			if n.taken {
				gone[input] = true
			} else {
				left[input] = true
			}
		}
		for _, output := range n.outputs {
			gone[output] = gone[output] || n.taken
		}
	}
	for _, output := range g.outputs {
		left[output] = true
	}
	nodes := g.nodes
	keep := func(field protowire.Number, message []byte) ([]byte, bool) {
		switch field {
		case 1:
			n := nodes[0]
			nodes = nodes[1:]
			return message, !n.taken
		case 5:
			constant := text(message, 8)
			return message, !gone[constant] || left[constant]
		case 11:
			input := text(message, 1)
			if input == g.picture {
				return (&card.Value{Name: name, Shape: shape}).Marshal(), true
			}
			return message, !gone[input] || left[input]
		case 13: // types of values
			return message, !gone[text(message, 1)]
		}
		return message, true
	}
	return rewrite(onnx, func(field protowire.Number, message []byte) ([]byte, bool) {
		if field == 7 {
			return rewrite(message, keep), true
		}
		return message, field != 14
	})
}

// rewrite copies a message. f returns the new content of a length-delimited field, or false to drop the field.
func rewrite(message []byte, f func(field protowire.Number, bytes []byte) ([]byte, bool)) (out []byte) {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeField(message)
		if n < 0 {
			return out // checkStructure has reported every error
		}
		if kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(message)
			bytes, _ := protowire.ConsumeBytes(message[tag:])
			if bytes, keep := f(field, bytes); keep {
				out = protowire.AppendBytes(protowire.AppendTag(out, field, kind), bytes)
			}
		} else {
			out = append(out, message[:n]...)
		}
		message = message[n:]
	}
	return out
}
