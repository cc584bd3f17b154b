package onnx

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gocv.io/x/gocv"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
)

// TestTrunksThreeWays computes the paper's trunks in evaluation mode in three ways: with package dnnl (oneDNN, or plain Go with -tags nodnnl), with Gorgonia's
// own operations in float64, and with OpenCV from the exported ONNX.
func TestTrunksThreeWays(t *testing.T) {
	for _, c := range trunks(t) {
		t.Run(c.name, func(t *testing.T) {
			y := make([]float32, c.n*c.Out().Size())
			if err := c.Infer(y, c.x, c.theta, c.stats, c.n); err != nil {
				t.Fatal(err)
			}
			want := c.gorgonia(t, c.stats)
			sdevaetest.Agree(t, "dnnl", y, want)
			sdevaetest.Agree(t, "OpenCV", c.openCV(t), want)
		})
	}
}

// TestTrunksInTraining compares the forward pass in training mode, which normalises by the batch's moments, and these moments with Gorgonia.
func TestTrunksInTraining(t *testing.T) {
	for _, c := range trunks(t) {
		t.Run(c.name, func(t *testing.T) {
			y := make([]float32, c.n*c.Out().Size())
			if err := c.Forward(y, c.x, c.theta, c.n); err != nil {
				t.Fatal(err)
			}
			sdevaetest.Agree(t, "dnnl", y, c.gorgonia(t, nil))
			sdevaetest.Agree(t, "dnnl, its moments in Gorgonia's evaluation mode,", y, c.gorgonia(t, c.Stats()))
		})
	}
}

// trunk is one of the paper's trunks, with random parameters, moments and n pictures.
type trunk struct {
	*dnnl.Stack
	name     string
	layers   []dnnl.Layer
	theta, x []float32
	stats    []dnnl.Moments
	n        int
}

func trunks(t *testing.T) []*trunk {
	return []*trunk{
		newTrunk(t, "grey encoder", dnnl.Shape{C: 1, H: 64, W: 64}, network.EncoderLayers()),
		newTrunk(t, "colour encoder", dnnl.Shape{C: 3, H: 64, W: 64}, network.EncoderLayers()),
		newTrunk(t, "grey decoder", dnnl.Shape{C: 64, H: 8, W: 8}, network.DecoderLayers(1)),
		newTrunk(t, "colour decoder", dnnl.Shape{C: 64, H: 8, W: 8}, network.DecoderLayers(3)),
	}
}

func newTrunk(t *testing.T, name string, in dnnl.Shape, layers []dnnl.Layer) *trunk {
	t.Helper()
	const n = 2
	s, err := dnnl.New(in, layers, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	rng := rand.New(rand.NewPCG(11, 12))
	c := &trunk{Stack: s, name: name, layers: layers, n: n, theta: make([]float32, s.Params()), x: make([]float32, n*in.Size())}
	s.Init(c.theta, rng)
	for _, g := range s.Segments() {
		if g.Name == "gamma" || g.Name == "beta" { // different from 1 and 0, which would hide mistakes
			for i := range g.Len {
				c.theta[g.Offset+i] += float32(0.3 * rng.NormFloat64())
			}
		}
	}
	for i := range c.x {
		c.x[i] = rng.Float32()
	}
	if err := s.Forward(make([]float32, n*s.Out().Size()), c.x, c.theta, n); err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Stats() { // start from this batch's moments and change them, so that evaluation mode differs from training
		m = dnnl.Moments{Mean: slices.Clone(m.Mean), Var: slices.Clone(m.Var)}
		for i, v := range m.Var {
			m.Mean[i] += float32(0.2 * math.Sqrt(float64(v)) * rng.NormFloat64())
			m.Var[i] *= float32(0.5 + rng.Float64())
		}
		c.stats = append(c.stats, m)
	}
	return c
}

// gorgonia returns the output with Gorgonia's own operations in float64. If stats is nil, it uses the batch's moments.
func (c *trunk) gorgonia(t *testing.T, stats []dnnl.Moments) []float64 {
	t.Helper()
	g := G.NewGraph()
	give := func(v []float32, shape ...int) *G.Node {
		name := strconv.Itoa(len(g.AllNodes())) // Gorgonia treats nodes with equal name and shape as one node
		return G.NodeFromAny(g, tensor.New(tensor.WithShape(shape...), tensor.WithBacking(numeric.Float64s(v))), G.WithName(name))
	}
	in := c.In()
	a := give(c.x, c.n, in.C, in.H, in.W)
	segments := c.Segments()
	next := func(shape ...int) *G.Node { // the next tensor of theta
		s := segments[0]
		segments = segments[1:]
		return give(c.theta[s.Offset:s.Offset+s.Len], shape...)
	}
	var mode []G.VMOpt
	for _, l := range c.layers {
		channels := a.Shape()[1]
		switch l.Kind {
		case dnnl.Conv:
			w := next(l.Out, channels, l.Kernel, l.Kernel)
			pad := []int{l.Kernel / 2, l.Kernel / 2}
			a = G.Must(G.Conv2d(a, w, tensor.Shape{l.Kernel, l.Kernel}, pad, []int{1, 1}, []int{1, 1}))
			a = G.Must(G.BroadcastAdd(a, next(1, l.Out, 1, 1), nil, []byte{0, 2, 3}))
		case dnnl.BatchNorm:
			y, _, _, op, err := G.BatchNorm(a, next(1, channels, 1, 1), next(1, channels, 1, 1), 0, network.NormEpsilon)
			a = G.Must(y, err)
			if stats == nil {
				continue
			}
			mode = []G.VMOpt{G.EvalMode()}
			moments := func(v []float32) tensor.Tensor { return tensor.New(tensor.WithBacking(numeric.Float64s(v))) }
			if err := op.SetStats(moments(stats[0].Mean), moments(stats[0].Var)); err != nil {
				t.Fatal(err)
			}
			stats = stats[1:]
		case dnnl.LeakyReLU:
			a = G.Must(G.LeakyRelu(a, network.LeakySlope))
		case dnnl.MaxPool:
			a = G.Must(G.MaxPool2D(a, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		case dnnl.Upsample:
			a = G.Must(G.Upsample2D(a, 2))
		}
	}
	var y G.Value
	G.Read(a, &y) // read it when it is computed, because the machine reuses memory
	vm := G.NewTapeMachine(g, mode...)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return y.Data().([]float64)
}

// openCV exports the trunk and runs it on the pictures one by one, as in the tracker.
func (c *trunk) openCV(t *testing.T) (y []float32) {
	t.Helper()
	in, out := c.In(), c.Out()
	ts := &tensors{last: "x", graph: card.Graph{Name: "trunk", Inputs: []card.Value{{Name: "x", Shape: []int{1, in.C, in.H, in.W}}}}}
	ts.stack("trunk", c.Stack, c.layers, c.theta, c.stats)
	ts.graph.Outputs = []card.Value{{Name: ts.last, Shape: []int{1, out.C, out.H, out.W}}}
	net, err := gocv.ReadNetFromONNXBytes(ts.graph.Marshal(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	picture := gocv.NewMatWithSizes([]int{1, in.C, in.H, in.W}, gocv.MatTypeCV32F)
	defer picture.Close()
	pixels, err := picture.DataPtrFloat32()
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.n {
		copy(pixels, c.x[i*in.Size():(i+1)*in.Size()])
		net.SetInput(picture, "")
		drawn := net.Forward("")
		values, err := drawn.DataPtrFloat32()
		if err != nil {
			t.Fatal(err)
		}
		y = append(y, values...)
		drawn.Close()
	}
	return y
}
