//go:build cgo

package infer

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"driftscope/infer/card"
)

// maxOurs is the size of the largest graph compared with our own export, in bytes. The comparison keeps two copies in memory.
const maxOurs = 64 << 20

// ours reports whether our export wrote the graph. The graph must use only the operators and attributes of our export, and writing it again must give the same
// bytes. OpenCV runs such a graph safely, so no child process is needed. checkStructure must have accepted the graph.
func ours(onnx []byte, inputs ...[]int) bool {
	if len(onnx) > maxOurs {
		return false
	}
	g, ok := readGraph(onnx)
	values, err := shapes(onnx, inputs...)
	if !ok || err != nil || slices.ContainsFunc(g.nodes, func(n *node) bool { return !n.ours(values) }) {
		return false
	}
	again, ok := g.again(onnx)
	if !ok {
		return false
	}
	written := again.Marshal(nil)
	return bytes.HasPrefix(onnx, written) && onlyMetadata(onnx[len(written):])
}

// onlyMetadata reports whether the remaining fields of a model file contain only metadata: its card and decoder.
func onlyMetadata(rest []byte) bool {
	only := true
	err := fields(rest, func(field protowire.Number, v value) error {
		only = only && field == 14 && v.kind == length
		return nil
	})
	return only && err == nil
}

// ours reports whether our export writes such a node.
func (n *node) ours(values map[string]known) bool {
	if n.domain != "" || len(n.outputs) != 1 || slices.Contains(n.inputs, "") {
		return false
	}
	switch n.op {
	case "Conv":
		k := n.ints("kernel_shape", 0, 0)
		pad := k[0] / 2
		return len(n.inputs) == 3 && n.only("kernel_shape", "pads", "strides") && n.is("kernel_shape", k[0], k[0]) && k[0]%2 == 1 &&
			n.is("pads", pad, pad, pad, pad) && n.is("strides", 1, 1)
	case "MaxPool":
		return n.only("kernel_shape", "strides") && n.is("kernel_shape", 2, 2) && n.is("strides", 2, 2)
	case "LeakyRelu":
		return n.only("alpha")
	case "Resize":
		return len(n.inputs) == 3 && n.attributes["mode"].text == "nearest" && n.attributes["nearest_mode"].text == "floor" &&
			n.attributes["coordinate_transformation_mode"].text == "asymmetric"
	case "Gemm":
		return len(n.inputs) == 3 && n.only("transB")
	case "Flatten", "Concat":
		return n.only("axis") && n.is("axis", 1)
	case "Mul", "Add":
		return len(n.attributes) == 0 && slices.Equal(values[n.inputs[0]].shape, values[n.inputs[1]].shape)
	case "Sigmoid", "Exp", "Log", "Reshape":
		return len(n.attributes) == 0
	}
	return false
}

// again converts a graph to our export's types. ok is false if these cannot represent the graph.
func (g *graph) again(onnx []byte) (w *card.Graph, ok bool) {
	w, ok = &card.Graph{}, true
	for _, n := range g.nodes {
		a, known := n.again()
		w.Nodes, ok = append(w.Nodes, a), ok && known
	}
	floats, err := card.Tensors(onnx)
	_ = inside(onnx, []protowire.Number{7}, func(graph value) { // checkStructure has reported every error
		w.Name = text(graph.bytes, 2)
		_ = fields(graph.bytes, func(field protowire.Number, v value) error {
			switch name := text(v.bytes, 1); field {
			case 5:
				name = text(v.bytes, 8)
				if t, isFloat := floats[name]; isFloat {
					w.Tensors = append(w.Tensors, t)
				} else {
					w.Ints = append(w.Ints, integersOf(name, v.bytes))
				}
			case 11:
				w.Inputs = append(w.Inputs, card.Value{Name: name, Shape: declaredShape(v.bytes)})
			case 12:
				w.Outputs = append(w.Outputs, card.Value{Name: name, Shape: declaredShape(v.bytes)})
			}
			return nil
		})
	})
	return w, ok && err == nil
}

// integersOf reads a list of integers, such as a shape.
func integersOf(name string, tensor []byte) card.IntTensor {
	t := card.IntTensor{Name: name}
	for _, i := range readConstant(tensor).integers {
		t.Data = append(t.Data, int(i))
	}
	return t
}

// again converts the node to our export's types. Attributes keep their order in the file.
func (n *node) again() (w card.Node, ok bool) {
	w = card.Node{Op: n.op, Inputs: n.inputs, Outputs: n.outputs}
	for _, name := range n.order {
		a := n.attributes[name]
		var v any
		switch a.form {
		case formFloat:
			v = a.float
		case formInt:
			v = int(a.ints[0])
		case formText:
			v = a.text
		case formInts:
			var list []int
			for _, i := range a.ints {
				list = append(list, int(i))
			}
			v = list
		default:
			return w, false
		}
		w.Attrs = append(w.Attrs, card.Attr{Name: name, Value: v})
	}
	return w, true
}
