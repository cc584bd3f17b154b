package infer_test

import (
	"math/rand/v2"
	"strconv"

	"driftscope/infer/card"
)

// graph builds ONNX graphs for tests. By default, every node reads the value before it.
type graph struct {
	card.Graph
	last string
	rng  *rand.Rand
}

func newGraph(input string, shape ...int) *graph {
	g := &graph{last: input, rng: rand.New(rand.NewPCG(21, 22))}
	g.Name = "test"
	g.Inputs = []card.Value{{Name: input, Shape: shape}}
	return g
}

func (g *graph) tensor(data []float32, shape ...int) string {
	name := "t" + strconv.Itoa(len(g.Tensors))
	g.Tensors = append(g.Tensors, card.Tensor{Name: name, Shape: shape, Data: data})
	return name
}

// node appends the operator op, which reads the last value and inputs. out becomes the last value.
func (g *graph) node(op, out string, inputs []string, attrs ...card.Attr) {
	g.Nodes = append(g.Nodes, card.Node{Op: op, Inputs: append([]string{g.last}, inputs...), Outputs: []string{out}, Attrs: attrs})
	g.last = out
}

func (g *graph) flatten(out string) { g.node("Flatten", out, nil, card.Attr{Name: "axis", Value: 1}) }

// gemm appends out = w·last + b, where w has len(b) rows.
func (g *graph) gemm(out string, w, b []float32) {
	rows := len(b)
	g.node("Gemm", out, []string{g.tensor(w, rows, len(w)/rows), g.tensor(b, rows)}, card.Attr{Name: "transB", Value: 1})
}

// conv appends a 5x5 convolution with padding 2.
func (g *graph) conv(out string, w, b []float32) {
	in := len(w) / len(b) / 25
	g.node("Conv", out, []string{g.tensor(w, len(b), in, 5, 5), g.tensor(b, len(b))},
		card.Attr{Name: "kernel_shape", Value: []int{5, 5}}, card.Attr{Name: "pads", Value: []int{2, 2, 2, 2}},
		card.Attr{Name: "strides", Value: []int{1, 1}})
}

func (g *graph) leaky(out string) {
	g.node("LeakyRelu", out, nil, card.Attr{Name: "alpha", Value: float32(0.01)})
}

func (g *graph) pool(out string) {
	g.node("MaxPool", out, nil, card.Attr{Name: "kernel_shape", Value: []int{2, 2}}, card.Attr{Name: "strides", Value: []int{2, 2}})
}

func (g *graph) reshape(out string, shape ...int) {
	g.Ints = append(g.Ints, card.IntTensor{Name: out + ".shape", Data: shape})
	g.node("Reshape", out, []string{out + ".shape"})
}

func (g *graph) double(out string) {
	g.node("Resize", out, []string{g.tensor(nil, 0), g.tensor([]float32{1, 1, 2, 2}, 4)},
		card.Attr{Name: "mode", Value: "nearest"}, card.Attr{Name: "coordinate_transformation_mode", Value: "asymmetric"},
		card.Attr{Name: "nearest_mode", Value: "floor"})
}

// random returns n weights of magnitude about 1/scale.
func (g *graph) random(n int, scale float32) []float32 {
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(g.rng.NormFloat64()) / scale
	}
	return w
}

func (g *graph) outputs(v ...card.Value) *card.Graph {
	g.Outputs = v
	return &g.Graph
}

// linearEncoder returns an encoder with means M x + m and log sds L x + l of the flattened picture x. weights has 2d rows, M above L.
func linearEncoder(in card.Input, weights, biases []float32) *card.Graph {
	d, size := len(biases)/2, in.Channels*in.Height*in.Width
	g := newGraph("x", 1, in.Channels, in.Height, in.Width)
	g.flatten("flat")
	g.gemm("mean", weights[:d*size], biases[:d])
	g.last = "flat"
	g.gemm("log_sd", weights[d*size:], biases[d:])
	return g.outputs(card.Value{Name: "mean", Shape: []int{1, d}}, card.Value{Name: "log_sd", Shape: []int{1, d}})
}

// linearDecoder returns a decoder with the picture sigmoid(w z + b).
func linearDecoder(in card.Input, d int, w, b []float32) *card.Graph {
	g := newGraph("z", 1, d)
	g.gemm("flat", w, b)
	g.reshape("picture", 1, in.Channels, in.Height, in.Width)
	g.node("Sigmoid", "x", nil)
	return g.outputs(card.Value{Name: "x", Shape: []int{1, in.Channels, in.Height, in.Width}})
}

// paperEncoder returns the encoder of the paper's table with random weights, for 64x64 pixels with this number of channels.
func paperEncoder(colours, d int) *card.Graph {
	g := newGraph("x", 1, colours, 64, 64)
	channels := []int{colours, 8, 16, 32, 64}
	for i := range 4 {
		n := strconv.Itoa(i)
		g.conv("c"+n, g.random(channels[i+1]*channels[i]*25, 10), g.random(channels[i+1], 10))
		g.leaky("l" + n)
		if i < 3 {
			g.pool("p" + n)
		}
	}
	g.flatten("flat")
	g.gemm("mean", g.random(d*4096, 64), g.random(d, 1))
	g.last = "flat"
	g.gemm("log_sd", g.random(d*4096, 64), g.random(d, 1))
	return g.outputs(card.Value{Name: "mean", Shape: []int{1, d}}, card.Value{Name: "log_sd", Shape: []int{1, d}})
}

// paperDecoder returns a decoder with three upsamplings, as in the paper's published code.
func paperDecoder(d int) *card.Graph {
	g := newGraph("z", 1, d)
	g.gemm("seed", g.random(4096*d, 1), g.random(4096, 1))
	g.reshape("unflat", 1, 64, 8, 8)
	channels := []int{64, 32, 16, 8, 8, 3}
	for i := range 5 {
		n := strconv.Itoa(i)
		if i < 3 {
			g.double("u" + n)
		}
		g.conv("c"+n, g.random(channels[i+1]*channels[i]*25, 20), g.random(channels[i+1], 10))
		if i < 4 {
			g.leaky("l" + n)
		}
	}
	g.node("Sigmoid", "x", nil)
	return g.outputs(card.Value{Name: "x", Shape: []int{1, 3, 64, 64}})
}

// cardFor returns a valid card for the given input and latent dimension.
func cardFor(in card.Input, d int) *card.Card {
	c := &card.Card{
		Version: card.Version, Input: in, Latent: d, DT: 0.01, Seconds: 1,
		Preprocess: []card.Step{{Kind: "normalise", Options: map[string]any{"window": []int{0, 255}}}},
	}
	for range d {
		c.Sigma, c.Mean, c.SD = append(c.Sigma, 1), append(c.Mean, 0), append(c.SD, 1)
	}
	return c
}
