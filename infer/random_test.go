package infer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"driftscope/infer/card"
)

// randomGraph builds graphs of allowed and other operators, with attributes and sizes that are valid or not.
type randomGraph struct {
	card.Graph
	rng    *rand.Rand
	inputs [][]int
	values []string // names of values that nodes may read
	names  int
}

// unlisted are refused operators that OpenCV 4.6 can parse. OpenCV does not return from some of them.
var unlisted = []string{"CumSum", "Scale", "Shift", "Accum", "Shape", "Gather", "ConstantFill", "ConstantOfShape", "Expand", "Cast", "LSTM", "GRU",
	"DepthToSpace", "SpaceToDepth", "LRN", "ImageScaler", "Sum", "Max", "Min", "ArgMax", "Where", "Equal", "ReduceL2", "LpNormalization",
	"MaxUnpool", "RoiAlign", "MaxRoiPool", "DetectionOutput", "QuantizeLinear", "Erf", "Mish", "LogSoftmax", "Einsum", "Range", "ScatterND"}

// RandomModel returns a model file for pictures of 1x8x8 with two latents. Equal seeds give equal files.
func RandomModel(seed uint64) ([]byte, error) {
	rng := rand.New(rand.NewPCG(seed, 29))
	encoder := random(rng, "x", []int{1, 1, 8, 8})
	encoder.finish("both", 4)
	c := cardOf8x8()
	if rng.IntN(3) > 0 {
		data, err := card.Write(c, &encoder.Graph, nil)
		return encoder.spoil(encoder.inline(data)), err
	}
	decoder := random(rng, "z", []int{1, 2})
	decoder.finish("pixels", 64)
	decoder.node("Reshape", []string{"pixels", decoder.integers(1, 1, 8, 8)}, "x")
	decoder.Outputs = []card.Value{{Name: "x", Shape: []int{1, 1, 8, 8}}}
	data, err := card.Write(c, &encoder.Graph, &decoder.Graph)
	return encoder.spoil(data), err
}

// RandomOurs returns a model like those of our own export, for pictures of 1x8x8. One of its sizes may be wrong. alone reports whether the model is read
// without a trial process.
func RandomOurs(seed uint64) (data []byte, alone bool, err error) {
	g := &randomGraph{rng: rand.New(rand.NewPCG(seed, 30)), values: []string{"x"}, inputs: [][]int{{1, 1, 8, 8}}}
	g.Name, g.Inputs = "encoder", []card.Value{{Name: "x", Shape: g.inputs[0]}}
	channels, side := 1, 8
	for range 1 + g.rng.IntN(3) {
		channels, side = g.layer(channels, 1+g.rng.IntN(20), 1+2*g.rng.IntN(3), side)
	}
	g.next("Flatten", nil, card.Attr{Name: "axis", Value: 1})
	flat, size := g.last(), channels*side*side
	g.gemm("mean", flat, size, 2)
	g.gemm("log_variance", flat, size, 2)
	g.next("Exp", nil)
	g.next("Log", nil)
	g.node("Mul", []string{g.last(), g.tensor(1, 2)}, "log_sd")
	g.Outputs = []card.Value{{Name: "mean", Shape: []int{1, 2}}, {Name: "log_sd", Shape: []int{1, 2}}}

	d := &randomGraph{rng: g.rng, values: []string{"z"}, inputs: [][]int{{1, 2}}}
	d.Name, d.Inputs = "decoder", []card.Value{{Name: "z", Shape: []int{1, 2}}}
	channels, side = 1+g.rng.IntN(8), 4
	d.gemm("seed", "z", 2, channels*16)
	d.next("Reshape", []string{d.integers(1, channels, 4, 4)})
	roi, scales := d.tensor(0), d.tensor(4)
	copy(d.Tensors[len(d.Tensors)-1].Data, []float32{1, 1, 2, 2})
	d.next("Resize", []string{roi, scales}, card.Attr{Name: "mode", Value: "nearest"}, card.Attr{Name: "coordinate_transformation_mode", Value: "asymmetric"},
		card.Attr{Name: "nearest_mode", Value: "floor"})
	d.layer(channels, 1, 1+2*g.rng.IntN(3), 0)
	d.next("Add", []string{d.tensor(1, 1, 8, 8)})
	d.node("Sigmoid", []string{d.last()}, "x")
	d.Outputs = []card.Value{{Name: "x", Shape: []int{1, 1, 8, 8}}}
	for _, part := range []*randomGraph{g, d} {
		if g.rng.IntN(3) == 0 {
			part.misfit()
		}
	}
	data, err = card.Write(cardOf8x8(), &g.Graph, &d.Graph)
	if file, wrong := card.Read(data); wrong == nil {
		m := &Model{Card: file.Card, encoder: file.Encoder, decoder: file.Decoder}
		alone = m.check() == nil && m.ours()
	}
	return data, alone, err
}

// misfit changes one size, replaces one input by another value, or removes something.
func (g *randomGraph) misfit() {
	n := &g.Nodes[g.rng.IntN(len(g.Nodes))]
	t := &g.Tensors[g.rng.IntN(len(g.Tensors))]
	switch g.rng.IntN(5) {
	case 0:
		n.Inputs[g.rng.IntN(len(n.Inputs))] = g.values[g.rng.IntN(len(g.values))]
	case 1:
		slices.Reverse(t.Shape)
	case 2:
		t.Shape = append([]int{1}, t.Shape...)
	case 3:
		if i := slices.IndexFunc(n.Attrs, func(a card.Attr) bool { _, list := a.Value.([]int); return list }); i >= 0 {
			n.Attrs[i].Value.([]int)[0] = g.rng.IntN(9)
		}
	case 4:
		n.Inputs = n.Inputs[:len(n.Inputs)-1]
	}
}

// layer appends a convolution, its leaky ReLU and, in half of the cases, pooling. side is the number of rows of the picture; 0 omits the pooling.
func (g *randomGraph) layer(in, out, k, side int) (channels, rows int) {
	g.next("Conv", []string{g.tensor(out, in, k, k), g.tensor(out)}, card.Attr{Name: "kernel_shape", Value: []int{k, k}},
		card.Attr{Name: "pads", Value: []int{k / 2, k / 2, k / 2, k / 2}}, card.Attr{Name: "strides", Value: []int{1, 1}})
	g.next("LeakyRelu", nil, card.Attr{Name: "alpha", Value: float32(0.1)})
	if side > 0 && g.rng.IntN(2) == 0 {
		g.next("MaxPool", nil, card.Attr{Name: "kernel_shape", Value: []int{2, 2}}, card.Attr{Name: "strides", Value: []int{2, 2}})
		side /= 2
	}
	return out, side
}

func (g *randomGraph) gemm(name, from string, in, out int) {
	g.node("Gemm", []string{from, g.tensor(out, in), g.tensor(out)}, name)
	g.Nodes[len(g.Nodes)-1].Attrs = []card.Attr{{Name: "transB", Value: 1}}
}

func (g *randomGraph) last() string { return g.values[len(g.values)-1] }

// next appends a node that reads the last value.
func (g *randomGraph) next(op string, inputs []string, attributes ...card.Attr) {
	g.node(op, append([]string{g.last()}, inputs...), g.name())
	g.Nodes[len(g.Nodes)-1].Attrs = attributes
}

func cardOf8x8() *card.Card {
	return &card.Card{Version: card.Version, Input: card.Input{Channels: 1, Height: 8, Width: 8}, Latent: 2, DT: 0.01, Seconds: 1,
		Preprocess: []card.Step{{Kind: "normalise"}}, Sigma: []float64{1, 1}, Mean: []float64{0, 0}, SD: []float64{1, 1}}
}

// random returns a graph of up to twelve nodes after an input.
func random(rng *rand.Rand, input string, shape []int) *randomGraph {
	g := &randomGraph{rng: rng, inputs: [][]int{shape}, values: []string{input}}
	g.Name, g.Inputs = "random", []card.Value{{Name: input, Shape: shape}}
	for range 1 + rng.IntN(12) {
		for range 40 { // most of them do not fit
			before := g.Graph
			g.grow()
			if g.accepted() || rng.IntN(2000) == 0 {
				break
			}
			g.Graph, g.values = before, g.values[:len(g.values)-len(g.Nodes[len(g.Nodes)-1].Outputs)]
		}
	}
	return g
}

// accepted reports whether the nodes so far pass the check of operators.
func (g *randomGraph) accepted() bool { return checkGraphs(g.Marshal(nil), g.inputs...) == nil }

func (g *randomGraph) name() string {
	g.names++
	return fmt.Sprint("v", g.names)
}

// shapeOf returns the shape of a value, or nil if it is unknown.
func (g *randomGraph) shapeOf(name string) []int {
	read, ok := readGraph(g.Marshal(nil))
	f := &inference{values: map[string]known{}}
	if !ok || f.begin(read, g.inputs) != nil {
		return nil
	}
	for _, n := range read.nodes {
		_ = f.add(n) // a node that does not fit has no shape
	}
	return f.values[name].shape
}

// grow appends one node.
func (g *randomGraph) grow() {
	ops := strings.Split(allowedNames(), ", ")
	op := ops[g.rng.IntN(len(ops))]
	if g.rng.IntN(300) == 0 {
		op = unlisted[g.rng.IntN(len(unlisted))]
	}
	o := allowed[op]
	first := g.values[max(0, len(g.values)-1-g.rng.IntN(3))]
	shape := g.shapeOf(first)
	attributes := g.attributes(o, shape)
	inputs := []string{first}
	roles, more := o.roles()
	if more {
		roles = append(roles, slices.Repeat(roles, g.rng.IntN(3))...)
	}
	for i, r := range roles {
		if i == 0 || r.optional && g.rng.IntN(2) == 0 {
			continue
		}
		for len(inputs) < i {
			inputs = append(inputs, "")
		}
		inputs = append(inputs, g.input(op, r, shape))
	}
	if g.rng.IntN(20) == 0 && len(inputs) > 1 && inputs[1] != "" {
		inputs[0], inputs[1] = inputs[1], inputs[0]
	}
	var outputs []string
	for range 1 + g.rng.IntN(1+min(o.outputs, 3)) {
		outputs = append(outputs, g.name())
	}
	g.node(op, inputs, outputs...)
	g.Nodes[len(g.Nodes)-1].Attrs = attributes
}

func (g *randomGraph) node(op string, inputs []string, outputs ...string) {
	g.Nodes = append(slices.Clip(g.Nodes), card.Node{Op: op, Inputs: inputs, Outputs: outputs})
	g.values = append(g.values, outputs...)
	g.Outputs = []card.Value{{Name: outputs[0], Shape: []int{1}}}
}

// input returns a value or a constant for a node's input, of a shape that probably fits.
func (g *randomGraph) input(op string, r role, x []int) string {
	if r.mark == 0 || r.mark == '~' && g.rng.IntN(2) == 0 {
		return g.values[g.rng.IntN(len(g.values))]
	}
	at := func(i int) int {
		if i >= 0 && i < len(x) {
			return x[i]
		}
		return 1 + g.rng.IntN(4)
	}
	if r.mark == '#' {
		var list []int
		for range 1 + g.rng.IntN(4) {
			list = append(list, g.rng.IntN(12)-2)
		}
		switch r.name {
		case "pads":
			list = []int{0, 0, g.rng.IntN(5), g.rng.IntN(5), 0, 0, g.rng.IntN(5), g.rng.IntN(5)}
		case "sizes":
			list = []int{at(0), at(1), 1 + g.rng.IntN(20), 1 + g.rng.IntN(20)}
		case "shape":
			if slices.Contains(x, 0) || len(x) == 0 {
				break
			}
			list = [][]int{{1, -1}, {-1}, {0, -1}, {x[0], -1, 1, 1}, {1, 1, -1}, {1, 4, -1}, {1, 2, 2, -1}, {-1, 4}, {1, -1, 4, 4}}[g.rng.IntN(9)]
		}
		return g.integers(list...)
	}
	small := func() int { return 1 + g.rng.IntN(4) }
	shape := [][]int{{at(1)}, x, {1}, {}, {at(len(x) - 1)}, {1, at(1), 1, 1}, {at(1), 1, 1}, {small()}, {small(), small()}}[g.rng.IntN(9)]
	k := 1 + g.rng.IntN(3)
	switch op + " " + r.name {
	case "Conv weights":
		shape = []int{small(), at(1), k, 1 + g.rng.IntN(3)}
		if g.rng.IntN(4) == 0 {
			shape[0], shape[1] = at(1), 1
		}
	case "ConvTranspose weights":
		shape = []int{at(1), small(), k, k}
	case "Gemm weights":
		shape = []int{small(), at(1)}
	case "MatMul y":
		shape = []int{at(len(x) - 1), small()}
	case "Resize scales", "Upsample scales":
		name := g.tensor(4)
		t := &g.Tensors[len(g.Tensors)-1]
		t.Data = []float32{1, 1, []float32{0.5, 1, 2, 3, 1.3}[g.rng.IntN(5)], []float32{0.5, 1, 2, 0.7}[g.rng.IntN(4)]}
		return name
	case "Resize roi":
		shape = []int{0}
	case "Pow exponent":
		shape = []int{}
	}
	return g.tensor(shape...)
}

func (g *randomGraph) tensor(shape ...int) string {
	t := card.Tensor{Name: g.name(), Shape: shape}
	t.Data = make([]float32, min(count(shape), 1<<16))
	for i := range t.Data {
		t.Data[i] = float32(g.rng.NormFloat64())
	}
	g.Tensors = append(slices.Clip(g.Tensors), t)
	return t.Name
}

func (g *randomGraph) integers(list ...int) string {
	t := card.IntTensor{Name: g.name(), Data: list}
	g.Ints = append(slices.Clip(g.Ints), t)
	return t.Name
}

// attributes returns some of an operator's attributes, most of them valid.
func (g *randomGraph) attributes(o operator, x []int) (list []card.Attr) {
	var names []string
	for name := range o.attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if g.rng.IntN(2) == 0 && name != "axis" && name != "perm" && name != "kernel_shape" && name != "transB" {
			continue
		}
		r := o.attributes[name]
		list = append(list, card.Attr{Name: name, Value: g.attribute(name, r, x)})
	}
	if g.rng.IntN(200) == 0 {
		list = append(list, card.Attr{Name: []string{"axis", "broadcast", "value", "to", "exclusive"}[g.rng.IntN(5)], Value: g.rng.IntN(3)})
	}
	return list
}

func (g *randomGraph) attribute(name string, r rule, x []int) any {
	within := func() int {
		low, high := max(r.low, -6), min(r.high, 6)
		if g.rng.IntN(100) == 0 {
			return g.rng.IntN(1<<20) - 1<<10
		}
		return int(low) + g.rng.IntN(max(1, int(high-low)+1))
	}
	switch r.form {
	case formInt:
		return within()
	case formFloat:
		return float32(max(r.low, -3) + g.rng.Float64()*(min(r.high, 3)-max(r.low, -3)))
	case formText:
		return r.words[g.rng.IntN(len(r.words))]
	}
	if name == "perm" {
		return g.rng.Perm(len(x))
	}
	var v []int
	for len(v) < r.count || len(v) == 0 || r.count == 0 && g.rng.IntN(2) == 0 {
		v = append(v, within())
	}
	if name == "kernel_shape" && g.rng.IntN(2) == 0 {
		v = []int{1 + g.rng.IntN(3), 1 + g.rng.IntN(3)}
	}
	return v
}

// finish reduces the last value to a row of n values.
func (g *randomGraph) finish(name string, n int) {
	last := g.values[len(g.values)-1]
	if len(g.shapeOf(last)) == 0 {
		last = g.values[0]
	}
	size := int(count(g.shapeOf(last)))
	g.node("Reshape", []string{last, g.integers(1, size)}, "row of "+name)
	g.node("Gemm", []string{"row of " + name, g.tensor(n, size), g.tensor(n)}, name)
	g.Nodes[len(g.Nodes)-1].Attrs = []card.Attr{{Name: "transB", Value: 1}}
	g.Outputs = []card.Value{{Name: name, Shape: []int{1, n}}}
}

// inline replaces some constants by Constant nodes, as PyTorch writes them.
func (g *randomGraph) inline(model []byte) []byte {
	var nodes []byte
	graph := rewrite(model, func(field protowire.Number, bytes []byte) ([]byte, bool) {
		if field != 7 {
			return bytes, true
		}
		rest := rewrite(bytes, func(field protowire.Number, bytes []byte) ([]byte, bool) {
			if field != 5 || g.rng.IntN(3) > 0 {
				return bytes, true
			}
			add := func(to []byte, field protowire.Number, part []byte) []byte {
				return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), part)
			}
			value := protowire.AppendVarint(protowire.AppendTag(add(add(nil, 1, []byte("value")), 5, bytes), 20, protowire.VarintType), 4)
			nodes = add(nodes, 1, add(add(add(nil, 2, []byte(text(bytes, 8))), 4, []byte("Constant")), 5, value))
			return nil, false
		})
		return append(nodes, rest...), true
	})
	return graph
}

// spoil changes some bytes of one file in four.
func (g *randomGraph) spoil(model []byte) []byte {
	if g.rng.IntN(4) > 0 {
		return model
	}
	for range 1 + g.rng.IntN(4) {
		at := g.rng.IntN(min(len(model), 4096))
		switch g.rng.IntN(4) {
		case 0:
			model[at] = byte(g.rng.IntN(256))
		case 1:
			model[at] ^= 1 << g.rng.IntN(8)
		case 2:
			model[at] = byte(g.rng.IntN(8))
		case 3:
			to := min(len(model), at+1+g.rng.IntN(16))
			copy(model[g.rng.IntN(min(len(model), 4096)):], model[at:to])
		}
	}
	return model
}

// Allowed returns the names of the allowed operators.
func Allowed() []string { return strings.Split(allowedNames(), ", ") }
