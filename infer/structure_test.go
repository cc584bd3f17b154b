package infer_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"driftscope/infer"
	"driftscope/infer/card"
)

// Each of these graphs, or one like it, ends OpenCV 4.6 by a signal that no exception handler sees.
func TestDamagedGraphs(t *testing.T) {
	conv := func(change func(n *card.Node)) *card.Graph {
		g := newGraph("x", 1, 1, 4, 4)
		g.conv("c", g.random(25, 1), g.random(1, 1))
		change(&g.Nodes[0])
		return g.outputs(card.Value{Name: "c", Shape: []int{1, 1, 4, 4}})
	}
	for _, c := range []struct {
		name string
		g    *card.Graph
		want string
	}{
		{"no stride", conv(func(n *card.Node) { n.Attrs[2].Value = []int{0, 1} }), "attribute strides: found 0, expected 1 to 1024"},
		{"huge kernel", conv(func(n *card.Node) { n.Attrs[0].Value = []int{1 << 30, 5} }), "attribute kernel_shape: found 1073741824"},
		{"negative padding", conv(func(n *card.Node) { n.Attrs[1].Value = []int{-1, 2, 2, 2} }), "attribute pads: found -1, expected 0 to 1024"},
		{"unknown input", conv(func(n *card.Node) { n.Inputs[1] = "nobody" }), `reads "nobody", which nothing before gives`},
		{"short constant", func() *card.Graph {
			g := newGraph("x", 1, 1, 4, 4)
			g.flatten("flat")
			g.gemm("mean", make([]float32, 64), make([]float32, 4))
			g.Tensors[0].Shape = []int{4, 1 << 20}
			return g.outputs(card.Value{Name: "mean", Shape: []int{1, 4}})
		}(), `constant "t0" of type 1 holds 64 numbers, its shape wants 4194304`},
		{"overflowing shape", func() *card.Graph {
			g := newGraph("x", 1, 1, 4, 4)
			g.flatten("flat")
			g.gemm("mean", make([]float32, 64), make([]float32, 4))
			g.Tensors[0].Shape = []int{1 << 22, 1 << 22, 1 << 22, 1 << 22}
			return g.outputs(card.Value{Name: "mean", Shape: []int{1, 4}})
		}(), `constant "t0" of type 1 holds 64 numbers`},
		{"size zero", func() *card.Graph {
			g := newGraph("x", 1, 0, 4, 4)
			g.flatten("flat")
			return g.outputs(card.Value{Name: "flat", Shape: []int{1, 4}})
		}(), "found the size 0 in a shape, expected 1 to 16777216"},
	} {
		_, err := infer.Parse("damaged.onnx", written(t, 2, c.g, nil))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q in it", c.name, err, c.want)
		}
	}
}

// Constants in another file are refused: the model is one file.
func TestExternalData(t *testing.T) {
	g := linearEncoder(grey4x4, random(64, 1), make([]float32, 4))
	data := written(t, 2, g, nil)
	tensor := protowire.AppendVarint(protowire.AppendTag(nil, 14, protowire.VarintType), 1) // data_location: external
	graph := protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), tensor)
	data = protowire.AppendBytes(protowire.AppendTag(data, 7, protowire.BytesType), graph) // protobuf merges repeated messages
	if _, err := infer.Parse("external.onnx", data); err == nil || !strings.Contains(err.Error(), "export it as one file") {
		t.Errorf("found %v, expected external data to be refused", err)
	}
}
