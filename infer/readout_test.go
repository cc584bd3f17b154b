package infer_test

import (
	"math"
	"testing"

	"driftscope/infer"
	"driftscope/infer/card"
)

// features is the shape of the input of these graphs.
var features = []int{1, 2, 2, 2}

// bentReadout returns a graph with everything that pretrain's models have after the trunk: a clock, monomials, a polynomial, and variances propagated by the
// polynomial's slopes.
func bentReadout() *graph {
	g := newGraph("h", features...)
	g.Inputs = append(g.Inputs, card.Value{Name: "t", Shape: []int{1, 1}})
	axis := card.Attr{Name: "axis", Value: 1}
	g.node("Flatten", "flat", nil, axis)
	g.node("Concat", "features", []string{"t"}, axis)
	g.gemm("s", g.random(2*9, 3), g.random(2, 1))
	g.gemm("rest", []float32{1, 0, 1, 0, 0, 1}, make([]float32, 3))
	g.last = "s"
	g.gemm("factor", []float32{1, 0, 0, 1, 0, 1}, make([]float32, 3))
	g.node("Mul", "products", []string{"rest"})
	g.last = "s"
	g.node("Concat", "monomials", []string{"products"}, axis)
	g.gemm("mean", g.random(2*5, 2), g.random(2, 1))
	g.last = "features"
	g.gemm("log_variance", g.random(2*9, 3), g.random(2, 1))
	g.node("Exp", "variance", nil)
	g.gemm("mapped", []float32{1, 0.5, 0.25, 2}, []float32{0.1, 0.1})
	g.node("Add", "more", []string{"variance"})
	g.node("Log", "log", nil)
	g.node("Mul", "log_sd", []string{g.tensor([]float32{0.5, 0.5}, 1, 2)})
	return g
}

// finished marshals a graph with the outputs of an encoder of two latents.
func finished(g *graph) []byte {
	return g.outputs(card.Value{Name: "mean", Shape: []int{1, 2}}, card.Value{Name: "log_sd", Shape: []int{1, 2}}).Marshal(nil)
}

// TestReadoutAsOpenCV: for every frame, the compiled readout gives the same values as OpenCV.
func TestReadoutAsOpenCV(t *testing.T) {
	r := infer.OpenReadout(finished(bentReadout()), features)
	if r == nil {
		t.Fatal("the graph was not compiled")
	}
	defer r.Close()
	for seed := range uint64(5) {
		own, opencv, err := r.Forward(random(8, seed), float32(seed))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range opencv {
			if math.Abs(float64(own[i]-want)) > 1e-5*(1+math.Abs(float64(want))) { // float32, different order of summation
				t.Errorf("frame %d, value %d: found %g, OpenCV has %g", seed, i, own[i], want)
			}
		}
	}
}

// TestWhatIsNoReadout: OpenCV runs a graph that needs other operators, or states them in another way.
func TestWhatIsNoReadout(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(g *graph)
	}{
		{"another operator", func(g *graph) { g.Nodes[12].Op = "Tanh" }},
		{"columns before rows", func(g *graph) { g.Nodes[3].Attrs = nil }},
		{"a factor", func(g *graph) {
			g.Nodes[3].Attrs = append(g.Nodes[3].Attrs, card.Attr{Name: "alpha", Value: float32(2)})
		}},
		{"no bias", func(g *graph) { g.Nodes[3].Inputs = g.Nodes[3].Inputs[:2] }},
		{"weights of another size", func(g *graph) { g.Tensors[0].Shape = []int{3, 6} }},
		{"one below the other", func(g *graph) { g.Nodes[1].Attrs[0].Value = 0 }},
		{"vectors of two sizes", func(g *graph) { g.Nodes[13].Inputs[1] = "t" }},
		{"a column", func(g *graph) { g.Tensors[len(g.Tensors)-1].Shape = []int{2, 1} }},
		{"features as they are", func(g *graph) { g.Nodes[1].Inputs[0] = "h" }},
		{"other features", func(g *graph) { g.Inputs[0].Shape = []int{1, 8, 1, 1} }},
		{"no such output", func(g *graph) { g.Nodes[len(g.Nodes)-1].Outputs[0] = "log_scale" }},
	} {
		g := bentReadout()
		c.change(g)
		if r := infer.OpenReadout(finished(g), features); r != nil {
			t.Errorf("%s: found a readout", c.name)
			r.Close()
		}
	}
}

// FuzzReadout searches for a graph whose compiled form differs from OpenCV's result or panics. Sums that cancel lose digits of float32, so a difference of a
// thousandth is allowed.
func FuzzReadout(f *testing.F) {
	f.Add(finished(bentReadout()))
	picture := random(8, 3)
	f.Fuzz(func(t *testing.T, onnx []byte) {
		r := infer.OpenReadout(onnx, features)
		if r == nil {
			return
		}
		defer r.Close()
		own, opencv, err := r.Forward(picture, 0.5)
		if err != nil {
			return
		}
		for i, want := range opencv {
			if d := math.Abs(float64(own[i] - want)); d > 1e-3*(1+math.Abs(float64(want))) && !math.IsInf(d, 0) {
				t.Fatalf("value %d: found %g, OpenCV has %g", i, own[i], want)
			}
		}
	})
}
