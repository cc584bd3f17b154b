package infer

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"driftscope/infer/card"
	"driftscope/internal/kit/system"
)

// Widths returns the vector widths, in floats, of the kernels that this processor can run.
func Widths() (lanes []int) {
	for n := 4; n <= widest(); n *= 2 {
		lanes = append(lanes, n)
	}
	return lanes
}

// Narrowed returns the model with kernels for this number of lanes. A model that OpenCV runs does not change.
func (m *Model) Narrowed(lanes int) *Model {
	n := *m
	if m.trunk != nil {
		in := m.Card.Input
		t, _ := cut(m.encoder, []int{1, in.Channels, in.Height, in.Width})
		n.trunk = t.pack(lanes)
	}
	return &n
}

// Layers returns the number of convolutions in the trunk.
func (m *Model) Layers() int {
	if m.trunk == nil {
		return 0
	}
	return len(m.trunk.layers)
}

// OpenUnchecked lets OpenCV read and run a graph in this process, without any check.
func OpenUnchecked(onnx []byte, shape []int) error {
	n, err := openNetwork(onnx, shape, "", outputMean, outputLogSD)
	if err != nil {
		return err
	}
	n.close()
	return nil
}

// TryUnchecked runs the trial of a model whose operators were not checked.
func TryUnchecked(data []byte, patience time.Duration) error {
	file, err := card.Read(data)
	if err != nil {
		return err
	}
	m := &Model{Card: file.Card, name: "unchecked", encoder: file.Encoder, decoder: file.Decoder}
	return m.tryApart(patience)
}

// Misbehave runs a trial process that fails in the given way, as if OpenCV did.
func Misbehave(how string) error {
	if err := confine(); err != nil {
		return err
	}
	switch how {
	case "spin":
		for end := time.Now().Add(time.Hour); time.Now().Before(end); {
			continue
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "memory":
		for kept := [][]byte{}; ; {
			kept = append(kept, make([]byte, 64<<20)) // never written to, because on a busy machine that took longer than the limit of processor time
		}
	case "abort":
		return syscall.Kill(os.Getpid(), syscall.SIGABRT)
	case "talk":
		for range 1000 {
			fmt.Println("a line of a library")
		}
		out := system.ChildOutput()
		for {
			if _, err := out.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Trunk holds a graph's trunk, and the same operators for OpenCV.
type Trunk struct {
	trunk  *trunk
	opencv *network
}

// OpenTrunk returns nil if the graph, a file without a card, has no trunk or does not run.
func OpenTrunk(onnx []byte, shape []int) *Trunk {
	if len(onnx) == 0 || checkGraphs(onnx, shape) != nil {
		return nil
	}
	t, _ := cut(onnx, shape)
	if t == nil {
		return nil
	}
	constants, _ := card.Tensors(onnx)
	g, _ := readGraph(onnx)
	g.take(constants)
	i := 0
	alone := rewrite(onnx, func(field protowire.Number, bytes []byte) ([]byte, bool) {
		if field != 7 {
			return bytes, true
		}
		return rewrite(bytes, func(field protowire.Number, bytes []byte) ([]byte, bool) {
			if field == 1 {
				i++
				return bytes, g.nodes[i-1].taken
			}
			return bytes, true
		}), true
	})
	n, err := openNetwork(alone, shape, "", "features", "")
	if err != nil {
		return nil
	}
	return &Trunk{t, n}
}

// Forward returns the features of a picture from the kernel for this number of lanes, and from OpenCV.
func (t *Trunk) Forward(picture []float32, lanes int) (ours, opencv []float32, err error) {
	copy(t.opencv.buffers.input, picture)
	if err := t.opencv.forward(); err != nil {
		return nil, nil, err
	}
	ours = make([]float32, len(t.opencv.buffers.outputs[0]))
	t.trunk.pack(lanes).maps().forward(picture, ours)
	return ours, t.opencv.buffers.outputs[0], nil
}

// Bound returns the largest sum of absolute values of the terms of a feature. Rounding errors are a fraction of it, even if terms cancel.
func (t *Trunk) Bound(picture []float32) float64 {
	bound := make([]float32, len(t.opencv.buffers.outputs[0]))
	t.trunk.absolute().pack(4).maps().forward(absolute(picture), bound)
	return float64(slices.Max(bound))
}

// Close frees OpenCV's part.
func (t *Trunk) Close() { t.opencv.close() }

// absolute returns the trunk that computes t's sums of absolute values: its weights are positive and its slope does not reduce any value.
func (t *trunk) absolute() *trunk {
	a := &trunk{}
	for _, l := range t.layers {
		scale := max(1, float32(math.Abs(float64(l.slope))))
		l.weights, l.bias, l.slope = absolute(l.weights), absolute(l.bias), 1
		for _, v := range [][]float32{l.weights, l.bias} {
			for i := range v {
				v[i] *= scale
			}
		}
		a.layers = append(a.layers, l)
	}
	return a
}

func absolute(v []float32) []float32 {
	a := make([]float32, len(v))
	for i := range v {
		a[i] = float32(math.Abs(float64(v[i])))
	}
	return a
}

// TestTrunkFits: OpenCV runs a trunk of more than 1 GiB, and has the same bound.
func TestTrunkFits(t *testing.T) {
	for _, c := range []struct {
		out, kernel int
		want        bool
	}{{64, 5, true}, {255, 1, false}, {250, 3, true}, {250, 5, true}, {250, 999, false}} {
		weights := make([]float32, c.out*c.kernel*c.kernel)
		large := &trunk{layers: []layer{{in: 1, rows: 1024, cols: 1024, out: c.out, kernel: c.kernel, pool: 1, weights: weights}}}
		if large.fits() != c.want {
			t.Errorf("%d outputs, kernel %d: found %v", c.out, c.kernel, large.fits())
		}
	}
}

// Readout holds the graph after a trunk, compiled and for OpenCV.
type Readout struct{ own, opencv runner }

// OpenReadout returns nil if the graph cannot be compiled, or does not run.
func OpenReadout(onnx []byte, shape []int) *Readout {
	if len(onnx) == 0 {
		return nil
	}
	second, shapes := "", [][]int{shape}
	if names := inputs(onnx); len(names) == 2 {
		second, shapes = names[1], append(shapes, []int{1, 1})
	}
	if checkGraphs(onnx, shapes...) != nil {
		return nil
	}
	r := newReadout(onnx, shape, second, outputMean, outputLogSD)
	if r == nil {
		return nil
	}
	n, err := openNetwork(onnx, shape, second, outputMean, outputLogSD)
	if err != nil {
		return nil
	}
	return &Readout{r.vectors(), n}
}

// Forward returns the results of both for features and seconds: the means, then the log sds.
func (r *Readout) Forward(features []float32, seconds float32) (own, opencv []float32, err error) {
	var out [2][]float32
	for i, g := range []runner{r.own, r.opencv} {
		m := g.memory()
		copy(m.input, features)
		if m.scalar != nil {
			*m.scalar = seconds
		}
		if err := g.forward(); err != nil {
			return nil, nil, err
		}
		out[i] = slices.Concat(m.outputs...)
	}
	return out[0], out[1], nil
}

// Close frees OpenCV's part.
func (r *Readout) Close() { r.opencv.close() }

// Compiled reports whether our own code runs the whole encoder.
func (m *Model) Compiled() bool { return m.readout != nil }

// TestReadoutFits: OpenCV also runs a readout of more than 1 GiB: thirty vectors, each twice as long as the one before.
func TestReadoutFits(t *testing.T) {
	for _, c := range []struct {
		doublings int
		want      bool
	}{{3, true}, {30, false}} {
		g := card.Graph{Name: "test", Inputs: []card.Value{{Name: "v0", Shape: []int{1, 4}}}}
		g.Nodes = []card.Node{{Op: "Flatten", Inputs: []string{"v0"}, Outputs: []string{"v1"}}}
		for i := range c.doublings {
			from := "v" + strconv.Itoa(i+1)
			g.Nodes = append(g.Nodes, card.Node{Op: "Concat", Inputs: []string{from, from}, Outputs: []string{"v" + strconv.Itoa(i+2)},
				Attrs: []card.Attr{{Name: "axis", Value: 1}}})
		}
		last := "v" + strconv.Itoa(c.doublings+1)
		g.Outputs = []card.Value{{Name: last, Shape: []int{1, 4 << c.doublings}}}
		if r := newReadout(g.Marshal(nil), []int{1, 4}, "", last); (r != nil) != c.want {
			t.Errorf("%d doublings: found %v", c.doublings, r != nil)
		}
	}
}
