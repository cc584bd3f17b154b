package infer_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gocv.io/x/gocv"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/flow/latent"
)

// stage is a convolution of a test's trunk, with its activation and pooling.
type stage struct {
	out, kernel int
	bent        string // LeakyRelu, Relu or nothing
	alpha       float32
	pool        bool
}

// trunkOf appends stages; the first stage's weights are t0, its biases t1.
func (g *graph) trunkOf(in card.Input, stages ...stage) {
	channels := in.Channels
	for i, s := range stages {
		name := fmt.Sprint(i)
		area, pad := s.kernel*s.kernel, s.kernel/2
		scale := float32(math.Sqrt(float64(channels*area))) / 2
		weights := g.tensor(g.random(s.out*channels*area, scale), s.out, channels, s.kernel, s.kernel)
		g.node("Conv", "c"+name, []string{weights, g.tensor(g.random(s.out, 4), s.out)},
			ints("kernel_shape", s.kernel, s.kernel), ints("pads", pad, pad, pad, pad))
		switch s.bent {
		case "Relu":
			g.node("Relu", "l"+name, nil)
		case "LeakyRelu":
			g.node("LeakyRelu", "l"+name, nil, card.Attr{Name: "alpha", Value: s.alpha})
		}
		if s.pool {
			g.pool("p" + name)
		}
		channels = s.out
	}
}

func ints(name string, values ...int) card.Attr { return card.Attr{Name: name, Value: values} }

var paperStages = []stage{
	{8, 5, "LeakyRelu", 0.01, true}, {16, 5, "LeakyRelu", 0.01, true}, {32, 5, "LeakyRelu", 0.01, true}, {64, 5, "LeakyRelu", 0.01, false},
}

// TestTrunkAsOpenCV: every kernel that the processor can run gives OpenCV's values to 1e-5 of the largest value. That is a hundred times the rounding of
// float32: up to a thousand terms are summed in a different order, through four layers.
func TestTrunkAsOpenCV(t *testing.T) {
	for _, c := range []struct {
		in     card.Input
		stages []stage
	}{
		{card.Input{Channels: 1, Height: 64, Width: 64}, paperStages},
		{card.Input{Channels: 3, Height: 64, Width: 64}, paperStages},
		{card.Input{Channels: 3, Height: 37, Width: 53}, paperStages},
		{card.Input{Channels: 1, Height: 16, Width: 200}, paperStages},
		{card.Input{Channels: 1, Height: 9, Width: 7}, []stage{{1, 1, "", 0, false}}},
		{card.Input{Channels: 1, Height: 1, Width: 1}, []stage{{2, 3, "Relu", 0, false}}},
		{card.Input{Channels: 3, Height: 2, Width: 3}, []stage{{5, 7, "LeakyRelu", 0.2, true}, {17, 3, "Relu", 0, false}}},
		{card.Input{Channels: 3, Height: 11, Width: 12}, []stage{{7, 3, "LeakyRelu", -0.5, true}, {33, 1, "LeakyRelu", 1.5, false}, {24, 5, "", 0, true}}},
		{card.Input{Channels: 1, Height: 13, Width: 17}, []stage{{48, 3, "Relu", 0, false}, {12, 9, "LeakyRelu", 0, false}, {4, 3, "", 0, true}}},
		{card.Input{Channels: 1, Height: 6, Width: 18}, []stage{{40, 3, "LeakyRelu", -1, false}, {3, 3, "", 0, false}}},
	} {
		g := newGraph("x", 1, c.in.Channels, c.in.Height, c.in.Width)
		g.trunkOf(c.in, c.stages...)
		g.flatten("flat")
		onnx := g.outputs(card.Value{Name: "flat", Shape: []int{1, 1}}).Marshal(nil)
		trunk := infer.OpenTrunk(onnx, []int{1, c.in.Channels, c.in.Height, c.in.Width})
		if trunk == nil {
			t.Errorf("%+v, %+v: found no trunk", c.in, c.stages)
			continue
		}
		picture := random(c.in.Channels*c.in.Height*c.in.Width, 5)
		var fused []float32 // of a narrower kernel with fused multiply-add
		for _, lanes := range infer.Widths() {
			ours, opencv, err := trunk.Forward(picture, lanes)
			if err != nil {
				t.Fatal(err)
			}
			if fused != nil && !slices.Equal(ours, fused) {
				t.Errorf("%+v, %+v: %d lanes differ from half as many", c.in, c.stages, lanes)
			}
			if lanes >= 8 {
				fused = ours
			}
			most := 1e-5 * largest(opencv)
			for i := range opencv {
				if d := math.Abs(float64(ours[i] - opencv[i])); !(d <= most) {
					t.Fatalf("%+v, %+v, %d lanes, value %d: found %g, OpenCV has %g", c.in, c.stages, lanes, i, ours[i], opencv[i])
				}
			}
			if most == 0 {
				t.Errorf("%+v, %+v: every value is 0, so the comparison is empty", c.in, c.stages)
			}
		}
		trunk.Close()
	}
}

func largest(v []float32) (most float64) {
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	return most
}

// TestTrunkAndReadout: trunk and remaining graph together give the latents of the whole graph, also with a clock.
func TestTrunkAndReadout(t *testing.T) {
	in := card.Input{Channels: 3, Height: 64, Width: 64}
	m := parse(t, in, 3, paperEncoder(3, 3), nil)
	if m.Layers() != 4 || m.Whole().Layers() != 0 {
		t.Fatalf("found %d layers of a trunk, and %d of the whole model, expected 4 and none", m.Layers(), m.Whole().Layers())
	}
	if !m.Compiled() || m.Whole().Compiled() {
		t.Fatal("the readout was not compiled, or the whole model was")
	}
	f := picture(t, 64, 64, gocv.MatTypeCV32FC3, random(64*64*3, 9)...)
	var want, z latent.Latent
	if err := open(t, m.Whole()).Encode(context.Background(), &want, f); err != nil {
		t.Fatal(err)
	}
	for _, lanes := range infer.Widths() {
		if err := open(t, m.Narrowed(lanes)).Encode(context.Background(), &z, f); err != nil {
			t.Fatal(err)
		}
		for k := range want.Mean { // float32, different order of summation; the means and log sds are sums of 4096 terms of about 1
			if math.Abs(z.Mean[k]-want.Mean[k]) > 1e-4 || math.Abs(z.SD[k]/want.SD[k]-1) > 1e-4 {
				t.Errorf("%d lanes, latent %d: found %g ± %g, OpenCV has %g ± %g", lanes, k, z.Mean[k], z.SD[k], want.Mean[k], want.SD[k])
			}
		}
	}
}

// TestWhatIsATrunk: some graphs have a trunk, others run in OpenCV. In both cases the model gives OpenCV's latents of the whole graph.
func TestWhatIsATrunk(t *testing.T) {
	in := card.Input{Channels: 3, Height: 8, Width: 8}
	conv := stage{out: 4, kernel: 3, bent: "LeakyRelu", alpha: 0.01}
	for _, c := range []struct {
		name   string
		layers int
		graph  func(g *graph) // builds the features
	}{
		{"nothing but a readout", 0, func(*graph) {}},
		{"one convolution", 1, func(g *graph) { g.trunkOf(in, conv) }},
		{"two", 2, func(g *graph) { g.trunkOf(in, conv, conv) }},
		{"said in full", 1, func(g *graph) {
			g.trunkOf(in, conv)
			n := &g.Nodes[0]
			n.Attrs = append(n.Attrs, ints("strides", 1, 1), ints("dilations", 1, 1), card.Attr{Name: "group", Value: 1},
				card.Attr{Name: "auto_pad", Value: "NOTSET"})
			g.node("MaxPool", "p", nil, ints("kernel_shape", 2, 2), ints("strides", 2, 2), ints("pads", 0, 0, 0, 0),
				card.Attr{Name: "ceil_mode", Value: 0})
		}},
		{"no bias, alpha left out", 1, func(g *graph) {
			g.trunkOf(in, conv)
			g.Nodes[0].Inputs, g.Nodes[1].Attrs = g.Nodes[0].Inputs[:2], nil
		}},
		{"a constant that is read elsewhere too", 1, func(g *graph) {
			g.trunkOf(in, stage{out: 8, kernel: 3, bent: "LeakyRelu", alpha: 0.01})
			g.node("Tanh", "bent", nil)
			g.node("Mul", "scaled", []string{"t1"})
		}},
		{"a vector that OpenCV adds otherwise after a convolution", 0, func(g *graph) {
			g.trunkOf(in, stage{out: 8, kernel: 3})
			g.node("Add", "sum", []string{"t1"})
		}},
		{"a bend after pooling", 1, func(g *graph) {
			g.trunkOf(in, stage{out: 4, kernel: 3, pool: true})
			g.leaky("late")
		}},
		{"two bends", 1, func(g *graph) {
			g.trunkOf(in, conv)
			g.node("Relu", "again", nil)
		}},
		{"another pooling", 1, func(g *graph) {
			g.trunkOf(in, conv)
			g.node("MaxPool", "p", nil, ints("kernel_shape", 3, 3), ints("strides", 2, 2))
		}},
		{"its last value read twice", 1, func(g *graph) {
			g.trunkOf(in, conv)
			g.node("Mul", "square", []string{"l0"})
		}},
		{"a value read elsewhere too", 0, func(g *graph) {
			g.trunkOf(in, conv, stage{out: 4, kernel: 3})
			g.node("Add", "skip", []string{"l0"})
		}},
		{"a stride", 0, func(g *graph) {
			g.trunkOf(in, conv)
			g.Nodes[0].Attrs = append(g.Nodes[0].Attrs, ints("strides", 2, 2))
		}},
		{"a dilation", 0, func(g *graph) {
			g.trunkOf(in, conv)
			g.Nodes[0].Attrs = append(g.Nodes[0].Attrs[:1], ints("pads", 2, 2, 2, 2), ints("dilations", 2, 2))
		}},
		{"groups", 0, func(g *graph) {
			g.node("Conv", "c", []string{g.tensor(g.random(3*9, 3), 3, 1, 3, 3), g.tensor(g.random(3, 3), 3)},
				ints("kernel_shape", 3, 3), ints("pads", 1, 1, 1, 1), card.Attr{Name: "group", Value: 3})
		}},
		{"no padding", 0, func(g *graph) {
			g.trunkOf(in, conv)
			g.Nodes[0].Attrs = append(g.Nodes[0].Attrs[:1], ints("pads", 0, 0, 0, 0))
		}},
		{"an even kernel", 0, func(g *graph) {
			g.node("Conv", "c", []string{g.tensor(g.random(4*3*4, 3), 4, 3, 2, 2), g.tensor(g.random(4, 3), 4)},
				ints("kernel_shape", 2, 2), ints("pads", 1, 1, 1, 1))
		}},
		{"a long kernel", 0, func(g *graph) {
			g.node("Conv", "c", []string{g.tensor(g.random(4*3*3, 3), 4, 3, 1, 3), g.tensor(g.random(4, 3), 4)},
				ints("kernel_shape", 1, 3), ints("pads", 0, 1, 0, 1))
		}},
		{"a convolution after another operator", 0, func(g *graph) {
			g.trunkOf(in, conv)
			g.node("Tanh", "t", nil)
			g.node("Conv", "c9", []string{g.tensor(g.random(4*4, 3), 4, 4, 1, 1), g.tensor(g.random(4, 3), 4)}, ints("kernel_shape", 1, 1))
		}},
	} {
		g := newGraph("x", 1, 3, 8, 8)
		c.graph(g)
		compareWithWhole(t, c.name, c.layers, in, g)
	}
}

// compareWithWhole adds a readout to a graph and compares the model with OpenCV. It finds the number of features by trial.
func compareWithWhole(t *testing.T, name string, layers int, in card.Input, g *graph) {
	t.Helper()
	features := g.last
	var m *infer.Model
	for _, n := range []int{192, 256, 64, 512, 36, 144, 324} {
		try := &graph{Graph: g.Graph, last: features, rng: newGraph("x").rng}
		try.flatten("flat")
		try.gemm("mean", try.random(2*n, 4), try.random(2, 1))
		try.last = "flat"
		try.gemm("log_sd", try.random(2*n, 16), try.random(2, 1))
		encoder := try.outputs(card.Value{Name: "mean", Shape: []int{1, 2}}, card.Value{Name: "log_sd", Shape: []int{1, 2}})
		data, err := card.Write(cardFor(in, 2), encoder, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = infer.Parse(name, data); err == nil {
			break
		}
	}
	if m == nil {
		t.Errorf("%s: OpenCV ran the graph with no number of features", name)
		return
	}
	if m.Layers() != layers {
		t.Errorf("%s: found %d layers of a trunk, expected %d", name, m.Layers(), layers)
	}
	f := picture(t, in.Height, in.Width, gocv.MatTypeCV32FC3, random(in.Height*in.Width*3, 9)...)
	var want, z latent.Latent
	if err := open(t, m.Whole()).Encode(context.Background(), &want, f); err != nil {
		t.Fatal(err)
	}
	if err := open(t, m).Encode(context.Background(), &z, f); err != nil {
		t.Fatal(err)
	}
	for k := range want.Mean { // float32, different order of summation
		if math.Abs(z.Mean[k]-want.Mean[k]) > 1e-5*max(1, math.Abs(want.Mean[k])) || math.Abs(z.SD[k]/want.SD[k]-1) > 1e-5 {
			t.Errorf("%s: found %v ± %v, OpenCV has %v ± %v", name, z.Mean, z.SD, want.Mean, want.SD)
		}
	}
}

// TestSaidOtherwise: OpenCV runs files that state the same operators in another way.
func TestSaidOtherwise(t *testing.T) {
	g := newGraph("x", 1, 1, 4, 4)
	g.trunkOf(grey4x4, stage{out: 2, kernel: 3, bent: "LeakyRelu", alpha: 0.1})
	g.flatten("flat")
	onnx := g.outputs(card.Value{Name: "flat", Shape: []int{1, 32}}).Marshal(nil)
	g.Tensors[0].Data[4] = float32(math.Inf(1))
	const size = "\x0a\x02\x08\x01" // a dimension of a shape: dim_value 1
	for _, c := range []struct {
		name, old, new string // old and new have the same length
		onnx           []byte
	}{
		{"a size that is left open", size + size, "\x0a\x02\x12\x00" + size, onnx}, // dim_param for dim_value
		{"float_data", "\x42\x02t0\x4a", "\x42\x02t0\x22", onnx},                   // field 4 for field 9
		{"float16", "\x08\x01\x12\x10", "\x08\x0a\x12\x10", onnx},                  // the picture's type
		{"no operator", "\x22\x04Conv", "\x3a\x04Conv", onnx},                      // a domain, field 7, for field 4
		{"a weight that is not finite", "", "", g.Marshal(nil)},
	} {
		if !bytes.Contains(c.onnx, []byte(c.old)) {
			t.Fatalf("%s: the file has no %q", c.name, c.old)
		}
		data := bytes.Replace(c.onnx, []byte(c.old), []byte(c.new), 1)
		if trunk := infer.OpenTrunk(data, []int{1, 1, 4, 4}); trunk != nil {
			t.Errorf("%s: found a trunk", c.name)
			trunk.Close()
		}
	}
	trunk := infer.OpenTrunk(onnx, []int{1, 1, 4, 4})
	if trunk == nil {
		t.Fatal("the file as it is has no trunk")
	}
	trunk.Close()
}

// FuzzTrunk searches for a graph whose trunk differs from OpenCV's result by more than the rounding of float32.
func FuzzTrunk(f *testing.F) {
	for _, stages := range [][]stage{{{3, 3, "LeakyRelu", 0.1, true}, {2, 5, "Relu", 0, false}}, {{17, 1, "", 0, true}}} {
		g := newGraph("x", 1, 1, 4, 4)
		g.trunkOf(grey4x4, stages...)
		g.flatten("flat")
		f.Add(g.outputs(card.Value{Name: "flat", Shape: []int{1, 8}}).Marshal(nil))
	}
	f.Add(plain(2))
	picture := random(16, 3)
	f.Fuzz(func(t *testing.T, onnx []byte) {
		trunk := infer.OpenTrunk(onnx, []int{1, 1, 4, 4})
		if trunk == nil {
			return
		}
		defer trunk.Close()
		ours, opencv, err := trunk.Forward(picture, infer.Widths()[0])
		most := 1e-4 * trunk.Bound(picture)
		if err != nil || math.IsInf(most, 0) || most != most {
			return
		}
		for i := range ours {
			if math.Abs(float64(ours[i])-float64(opencv[i])) > most {
				t.Fatalf("value %d: found %g, OpenCV has %g", i, ours[i], opencv[i])
			}
		}
	})
}
