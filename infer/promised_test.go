package infer_test

import (
	"testing"

	"driftscope/infer"
	"driftscope/infer/card"
)

func (g *graph) constants(op, out string, shapes ...[]int) {
	var names []string
	for _, shape := range shapes {
		size := 1
		for _, n := range shape {
			size *= n
		}
		names = append(names, g.tensor(random(size, 3), shape...))
	}
	g.node(op, out, names)
}

func (g *graph) with(attributes ...card.Attr) { g.Nodes[len(g.Nodes)-1].Attrs = attributes }

func (g *graph) integers(name string, values ...int) string {
	g.Ints = append(g.Ints, card.IntTensor{Name: name, Data: values})
	return name
}

func integerOf(name string, v int) card.Attr    { return card.Attr{Name: name, Value: v} }
func numberOf(name string, v float32) card.Attr { return card.Attr{Name: name, Value: v} }

// TestWhatIsPromised: every operator in docs/reference/models.md runs, in the variant that PyTorch exports. (The random graphs test Constant.)
func TestWhatIsPromised(t *testing.T) {
	seen := map[string]bool{"Constant": true}
	for name, build := range map[string]func(g *graph){
		"pictures": func(g *graph) {
			g.constants("Conv", "a", []int{4, 1, 3, 3}, []int{4})
			g.with(ints("kernel_shape", 3, 3), ints("pads", 1, 1, 1, 1), ints("strides", 1, 1), ints("dilations", 1, 1), integerOf("group", 1))
			g.constants("BatchNormalization", "b", []int{4}, []int{4}, []int{4}, []int{4})
			g.with(numberOf("epsilon", 1e-5), numberOf("momentum", 0.9), integerOf("training_mode", 0))
			g.node("Relu", "c", nil)
			g.pool("d")
			g.constants("InstanceNormalization", "e", []int{4}, []int{4})
			g.with(numberOf("epsilon", 1e-5))
			g.leaky("f")
			g.constants("ConvTranspose", "g", []int{4, 2, 2, 2}, []int{2})
			g.with(ints("kernel_shape", 2, 2), ints("strides", 2, 2), ints("pads", 0, 0, 0, 0), ints("dilations", 1, 1), integerOf("group", 1))
			g.constants("PRelu", "h", []int{2, 1, 1})
			g.node("AveragePool", "i", nil, ints("kernel_shape", 2, 2), ints("strides", 2, 2), integerOf("ceil_mode", 0))
			g.double("j")
			g.node("Upsample", "k", []string{g.tensor([]float32{1, 1, 2, 2}, 4)}, card.Attr{Name: "mode", Value: "nearest"})
			g.node("Pad", "l", nil, ints("pads", 0, 0, 1, 1, 0, 0, 1, 1), card.Attr{Name: "mode", Value: "reflect"})
			g.node("Pad", "m", []string{g.integers("pads", 0, 0, 1, 1, 0, 0, 1, 1), g.tensor([]float32{0})}, card.Attr{Name: "mode", Value: "constant"})
			before := g.last
			g.node("GlobalAveragePool", "n", nil)
			g.last = before
			g.node("GlobalMaxPool", "o", nil)
			g.node("Concat", "p", []string{"n"}, integerOf("axis", 1))
			g.reshape("q", 1, 4)
		},
		"values": func(g *graph) {
			g.flatten("flat")
			for _, op := range []string{"Abs", "Sqrt", "Ceil", "Floor", "Exp", "Log", "Neg", "Sigmoid", "Softplus", "Tanh", "HardSwish", "Identity"} {
				g.node(op, op, nil)
			}
			g.node("Elu", "Elu", nil, numberOf("alpha", 1))
			g.node("Clip", "Clip", nil, numberOf("min", -1), numberOf("max", 6))
			g.node("Dropout", "Dropout", nil, numberOf("ratio", 0.5))
			for _, op := range []string{"Add", "Sub", "Mul", "Div"} {
				g.constants(op, op, []int{1, 64})
			}
			g.node("Add", "twice", []string{"flat"})
			g.node("Pow", "Pow", []string{g.tensor([]float32{2})})
			g.node("Softmax", "Softmax", nil, integerOf("axis", 1))
			g.gemm("q", g.random(4*64, 1), g.random(4, 1))
		},
		"arrangements": func(g *graph) {
			g.node("Squeeze", "rows", nil, ints("axes", 1))
			g.node("Unsqueeze", "again", nil, ints("axes", 1))
			g.node("Transpose", "turned", nil, ints("perm", 0, 1, 3, 2))
			g.node("Slice", "left", []string{g.integers("starts", 0), g.integers("ends", 4), g.integers("axes", 3), g.integers("steps", 1)})
			g.node("Squeeze", "flat rows", nil, ints("axes", 1))
			g.node("Unsqueeze", "back", []string{g.integers("first", 1)})
			g.node("Squeeze", "rows again", nil, ints("axes", 1))
			g.constants("MatMul", "product", []int{4, 6})
			g.Nodes = append(g.Nodes, card.Node{Op: "Split", Inputs: []string{"product"}, Outputs: []string{"one", "two"}, Attrs: []card.Attr{integerOf("axis", 2), ints("split", 2, 4)}})
			g.last = "two"
			for _, op := range []string{"ReduceMean", "ReduceSum"} {
				g.node(op, op, nil, ints("axes", 2), integerOf("keepdims", 1))
			}
			g.node("Concat", "both", []string{"one"}, integerOf("axis", 2))
			g.node("ReduceMax", "most", nil, ints("axes", 2), integerOf("keepdims", 0))
			g.gemm("q", g.random(4*8, 1), g.random(4, 1))
		},
	} {
		g := newGraph("x", 1, 1, 8, 8)
		build(g)
		in := card.Input{Channels: 1, Height: 8, Width: 8}
		data, err := card.Write(cardFor(in, 2), g.outputs(card.Value{Name: g.last, Shape: []int{1, 4}}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := infer.Parse(name, data); err != nil {
			t.Error(err)
		}
		for _, n := range g.Nodes {
			seen[n.Op] = true
		}
	}
	for _, op := range infer.Allowed() {
		if !seen[op] {
			t.Errorf("%s is documented, but the test has no graph with it", op)
		}
	}
}
