//go:build cgo

package infer

import (
	"slices"

	"driftscope/infer/card"
)

// maxTrunk bounds the sum of a trunk's weights and one encoder's maps, in floats. It is 1 GiB, the same bound as for OpenCV in guard.cc.
const maxTrunk = 1 << 28

// trunk holds the first convolutions of a graph, which convolve.c runs. It is immutable, so encoders share it.
type trunk struct {
	layers []layer
	lanes  int // floats per vector for which the weights are packed
}

// layer is a convolution of stride 1 that keeps the picture's size, followed by a leaky ReLU and by pooling.
type layer struct {
	in, rows, cols int // channels, rows and columns of its input
	out, kernel    int
	pool           int     // 2: maximum of 2 × 2 values; 1: no pooling
	slope          float32 // factor for negative values; 1 keeps them
	weights, bias  []float32
}

// output returns the shape of the trunk's output.
func (t *trunk) output() []int {
	l := t.layers[len(t.layers)-1]
	return []int{1, l.out, l.rows / l.pool, l.cols / l.pool}
}

// border returns the width of the zero padding around the input of layer i, or 0 if there is no layer i.
func (t *trunk) border(i int) int {
	if i >= len(t.layers) {
		return 0
	}
	return t.layers[i].kernel / 2
}

// pack reorders the weights for a kernel with this number of floats per vector.
func (t *trunk) pack(lanes int) *trunk {
	p := &trunk{layers: slices.Clone(t.layers), lanes: lanes}
	for i := range p.layers {
		l := &p.layers[i]
		l.weights = packed(l.weights, l.out, l.in, l.kernel, lanes)
		l.bias = append(slices.Clone(l.bias), make([]float32, filled(l.out, lanes)-l.out)...)
	}
	return p
}

// fits reports whether the trunk and its maps stay within maxTrunk. checkStructure and the card bound the sizes, so no product overflows.
func (t *trunk) fits() bool {
	floats := 0
	for _, l := range t.layers {
		floats += mapSize(l.in, l.rows, l.cols, l.kernel/2) + 16*len(l.weights) // a layer with one output is padded to 16 lanes
	}
	out := t.output()
	return floats+mapSize(out[1], out[2], out[3], 0) <= maxTrunk
}

// cut splits off a graph's trunk: the chain of Conv, LeakyRelu or Relu, and MaxPool that starts at the picture of the given shape. The trunk ends at any other
// operator, or at a value that several nodes read. readout is the remaining graph, which starts at the trunk's output. The trunk is nil if OpenCV must run the
// whole graph, because it starts with another operator, a convolution would remain, or an attribute is not supported. checkStructure must have accepted the
// graph.
func cut(onnx []byte, shape []int) (t *trunk, readout []byte) {
	g, ok := readGraph(onnx)
	if !ok || !slices.Equal(g.shape, shape) {
		return nil, nil
	}
	constants, err := card.Tensors(onnx)
	if err != nil {
		return nil, nil
	}
	t, last := g.take(constants)
	if t == nil || g.convolves() || !t.fits() {
		return nil, nil
	}
	return t, g.without(onnx, last, t.output())
}

// take marks the nodes of the trunk. last names the trunk's output.
func (g *graph) take(constants map[string]card.Tensor) (t *trunk, last string) {
	t = &trunk{}
	size, after := [3]int{g.shape[1], g.shape[2], g.shape[3]}, pooled
	last = g.picture
	for n := g.next(last); n != nil; n = g.next(last) {
		place, known := places[n.op]
		if !known || place <= after && place != convolved || !t.add(n, constants, &size) {
			break
		}
		n.taken, last, after = true, n.outputs[0], place
	}
	if len(t.layers) == 0 || g.reads[last] == 0 || slices.Contains(g.outputs, last) {
		return nil, ""
	}
	return t, last
}

// The order of a layer's operators. Only the first is mandatory.
const (
	convolved = iota
	bent
	pooled
)

var places = map[string]int{"Conv": convolved, "LeakyRelu": bent, "Relu": bent, "MaxPool": pooled}

// add adds a node to the trunk and updates size, the channels, rows and columns, from the node's input to its output. If the kernel cannot run the node, add
// changes nothing and returns false.
func (t *trunk) add(n *node, constants map[string]card.Tensor, size *[3]int) bool {
	if n.op == "Conv" {
		l, ok := n.convolution(constants, *size)
		if ok {
			t.layers, size[0] = append(t.layers, l), l.out
		}
		return ok
	}
	l := &t.layers[len(t.layers)-1]
	if n.op == "MaxPool" {
		if !n.halves() || size[1] < 2 || size[2] < 2 {
			return false
		}
		l.pool, size[1], size[2] = 2, size[1]/2, size[2]/2
		return true
	}
	slope, ok := n.bend()
	if ok {
		l.slope = slope
	}
	return ok
}

// convolution reads a Conv of stride 1 that keeps the picture's size and has constant weights.
func (n *node) convolution(constants map[string]card.Tensor, size [3]int) (l layer, ok bool) {
	if len(n.inputs) < 2 || len(n.inputs) > 3 || !n.only("kernel_shape", "strides", "pads", "dilations", "group", "auto_pad") {
		return l, false
	}
	w := constants[n.inputs[1]]
	if len(w.Shape) != 4 || w.Shape[0] < 1 || w.Shape[1] != size[0] {
		return l, false
	}
	if w.Shape[2] != w.Shape[3] || w.Shape[2]%2 == 0 || w.Shape[2] > maxAttribute {
		return l, false
	}
	l = layer{in: size[0], rows: size[1], cols: size[2], out: w.Shape[0], kernel: w.Shape[2], pool: 1, slope: 1, weights: w.Data}
	l.bias = make([]float32, l.out)
	if len(n.inputs) == 3 && n.inputs[2] != "" {
		b := constants[n.inputs[2]]
		if !slices.Equal(b.Shape, []int{l.out}) {
			return l, false
		}
		l.bias = b.Data
	}
	k, pad := int64(l.kernel), int64(l.kernel/2)
	keeps := n.is("pads", pad, pad, pad, pad) || pad == 0 && n.isOrNone("pads")
	return l, keeps && n.padsItself() && n.isOrNone("kernel_shape", k, k) && n.isOrNone("strides", 1, 1) &&
		n.isOrNone("dilations", 1, 1) && n.isOrNone("group", 1) && finite(l.weights) && finite(l.bias)
}

// halves reports whether a MaxPool takes the maximum of 2 × 2 values and drops an odd last row or column.
func (n *node) halves() bool {
	return n.only("kernel_shape", "strides", "pads", "dilations", "ceil_mode", "storage_order", "auto_pad") && n.padsItself() &&
		n.is("kernel_shape", 2, 2) && n.is("strides", 2, 2) && n.isOrNone("pads", 0, 0, 0, 0) && n.isOrNone("dilations", 1, 1) &&
		n.isOrNone("ceil_mode", 0) && n.isOrNone("storage_order", 0) && len(n.inputs) == 1
}

// bend returns the factor for negative values in a LeakyRelu or Relu.
func (n *node) bend() (slope float32, ok bool) {
	alpha, given := n.attributes["alpha"]
	if n.op == "Relu" {
		return 0, len(n.inputs) == 1 && len(n.attributes) == 0
	}
	slope = 0.01 // the default
	if given {
		slope = alpha.float
	}
	usual := !given || alpha.form == formFloat
	return slope, usual && len(n.inputs) == 1 && n.only("alpha") && finite([]float32{slope})
}

func finite(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return notFinite(float64(x)) })
}
