//go:build cgo

package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"driftscope/infer/card"
)

// readout is the part of an encoder after its trunk, if it works only on vectors: fully connected layers and elementwise arithmetic. OpenCV takes 25 us for the
// readout of our models, most of it between the operators. A readout is immutable, so encoders share it.
type readout struct {
	sizes     []int       // sizes of the values, in order of computation
	constants [][]float32 // a constant's values; nil for the other values
	steps     []step
	scalar    int // index of the second input; -1 if there is none
	outputs   []int
}

// step computes one value from earlier ones. Its fields to and from are indices of values.
type step struct {
	operate func(to []float32, from [][]float32)
	to      int
	from    []int
}

// newReadout compiles a graph whose input is a trunk's output of the given shape. second names the second input, or is empty. The result is nil if the graph
// contains anything except Flatten, Concat, Gemm, Mul, Add, Exp and Log of vectors. checkStructure must have accepted the graph.
func newReadout(onnx []byte, shape []int, second string, outputs ...string) *readout {
	g, ok := readGraph(onnx)
	if !ok || !slices.Equal(g.shape, shape) {
		return nil
	}
	constants, err := card.Tensors(onnx)
	if err != nil {
		return nil
	}
	size := 1
	for _, n := range shape {
		size *= n
	}
	c := compiler{readout: &readout{scalar: -1}, constants: constants, at: map[string]int{}, flat: map[string]bool{}}
	c.value(g.picture, size)
	if second != "" {
		c.readout.scalar = c.value(second, 1)
		c.flat[second] = true
	}
	for _, n := range g.nodes {
		if !c.add(n) || c.floats > maxTrunk {
			return nil
		}
	}
	for _, name := range outputs {
		i, made := c.at[name]
		if !made || !c.flat[name] || !slices.Contains(g.outputs, name) {
			return nil
		}
		c.readout.outputs = append(c.readout.outputs, i)
	}
	return c.readout
}

// compiler maps the graph's names to a readout's values.
type compiler struct {
	readout   *readout
	constants map[string]card.Tensor
	at        map[string]int
	flat      map[string]bool // whether the value has the shape (1, size)
	floats    int             // number of floats in all values
}

// value adds a value and returns its index. An input or a later step sets the value.
func (c *compiler) value(name string, size int) int {
	c.at[name] = len(c.readout.sizes)
	c.floats += size
	c.readout.sizes, c.readout.constants = append(c.readout.sizes, size), append(c.readout.constants, nil)
	return c.at[name]
}

// read returns the index of a vector. If name is a constant of one row, read adds it as a vector.
func (c *compiler) read(name string) (i int, ok bool) {
	if i, ok = c.at[name]; ok {
		return i, c.flat[name]
	}
	t, ok := c.constants[name]
	if !ok || len(t.Shape) != 2 || t.Shape[0] != 1 {
		return 0, false
	}
	i = c.value(name, t.Shape[1])
	c.readout.constants[i], c.flat[name] = t.Data, true
	return i, true
}

// add compiles a node. It returns false if a readout cannot run the node.
func (c *compiler) add(n *node) bool {
	if n.domain != "" || len(n.outputs) != 1 || len(n.inputs) == 0 {
		return false
	}
	name := n.outputs[0]
	if n.op == "Flatten" {
		i, known := c.at[n.inputs[0]]
		c.at[name], c.flat[name] = i, true
		return known && len(n.inputs) == 1 && n.only("axis") && n.isOrNone("axis", 1)
	}
	if n.op == "Gemm" {
		return c.layer(n, name)
	}
	var from []int
	for _, input := range n.inputs {
		i, ok := c.read(input)
		if !ok {
			return false
		}
		from = append(from, i)
	}
	operate, ok := c.operator(n, from)
	if !ok {
		return false
	}
	size := c.readout.sizes[from[0]]
	if n.op == "Concat" {
		size = 0
		for _, i := range from {
			size += c.readout.sizes[i]
		}
	}
	c.emit(name, size, operate, from...)
	return true
}

// emit adds a step and its output vector.
func (c *compiler) emit(name string, size int, operate func([]float32, [][]float32), from ...int) {
	c.readout.steps = append(c.readout.steps, step{operate, c.value(name, size), from})
	c.flat[name] = true
}

// operator returns a node's elementwise operation or concatenation. layer handles Gemm.
func (c *compiler) operator(n *node, from []int) (operate func([]float32, [][]float32), ok bool) {
	switch n.op {
	case "Concat":
		return concat, len(from) > 0 && n.only("axis") && n.is("axis", 1)
	case "Mul", "Add":
		operate = multiply
		if n.op == "Add" {
			operate = sum
		}
		return operate, len(from) == 2 && c.readout.sizes[from[0]] == c.readout.sizes[from[1]] && n.only()
	case "Exp", "Log":
		f := math.Exp
		if n.op == "Log" {
			f = math.Log
		}
		return each(f), len(from) == 1 && n.only()
	}
	return nil, false
}

// layer compiles W x + b, where W is outputs × inputs.
func (c *compiler) layer(n *node, name string) bool {
	if len(n.inputs) != 3 || !n.only("transB") || !n.is("transB", 1) {
		return false
	}
	from, ok := c.read(n.inputs[0])
	w, b := c.constants[n.inputs[1]], c.constants[n.inputs[2]]
	if !ok || len(w.Shape) != 2 || w.Shape[0] < 1 || w.Shape[1] != c.readout.sizes[from] || !slices.Equal(b.Shape, w.Shape[:1]) {
		return false
	}
	weights := blas32.General{Rows: w.Shape[0], Cols: w.Shape[1], Stride: w.Shape[1], Data: w.Data}
	c.emit(name, w.Shape[0], func(to []float32, from [][]float32) {
		copy(to, b.Data)
		blas32.Gemv(blas.NoTrans, 1, weights, vector(from[0]), 1, vector(to))
	}, from)
	return true
}

func vector(v []float32) blas32.Vector { return blas32.Vector{N: len(v), Inc: 1, Data: v} }

func concat(to []float32, from [][]float32) {
	for _, part := range from {
		to = to[copy(to, part):]
	}
}

func multiply(to []float32, from [][]float32) {
	for i, v := range from[0] {
		to[i] = v * from[1][i]
	}
}

func sum(to []float32, from [][]float32) {
	for i, v := range from[0] {
		to[i] = v + from[1][i]
	}
}

func each(f func(float64) float64) func([]float32, [][]float32) {
	return func(to []float32, from [][]float32) {
		for i, v := range from[0] {
			to[i] = float32(f(float64(v)))
		}
	}
}

// vectors holds the values of a readout for one encoder. It belongs to one goroutine.
type vectors struct {
	buffers buffers
	steps   []prepared
}

// prepared is a step whose indices are replaced by the values.
type prepared struct {
	operate func(to []float32, from [][]float32)
	to      []float32
	from    [][]float32
}

func (r *readout) vectors() *vectors {
	values := slices.Clone(r.constants)
	for i, size := range r.sizes {
		if values[i] == nil {
			values[i] = make([]float32, size)
		}
	}
	v := &vectors{buffers: buffers{input: values[0]}}
	if r.scalar >= 0 {
		v.buffers.scalar = &values[r.scalar][0]
	}
	for _, i := range r.outputs {
		v.buffers.outputs = append(v.buffers.outputs, values[i])
	}
	for _, s := range r.steps {
		p := prepared{operate: s.operate, to: values[s.to]}
		for _, i := range s.from {
			p.from = append(p.from, values[i])
		}
		v.steps = append(v.steps, p)
	}
	return v
}

func (v *vectors) forward() error {
	for _, s := range v.steps {
		s.operate(s.to, s.from)
	}
	return nil
}

func (v *vectors) memory() *buffers { return &v.buffers }

func (v *vectors) close() {}
