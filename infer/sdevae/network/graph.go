package network

import (
	"fmt"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Graph is one training step on a batch of B pairs in Gorgonia. Of its 2B frames the first B are the pairs' first frames. It shares the model's weights, so a
// step changes the model.
type Graph struct {
	Machine Machine
	Drift   G.Nodes // the drift network's parameters

	// Inputs of a step. The graph shares these tensors; fill them in place.
	X, Eps, Dt *tensor.Dense // (2B, CHW), (2B, d), (B, 1)
	Weight     *tensor.Dense // (d): 1/q, with q smoothed over batches, if the diffusion is profiled
	Clock      *tensor.Dense // (2B, 1); nil without a clock
	Gain       *tensor.Dense // (d): |∂f/∂zᵢ| over the norm of zᵢ's row in the decoder's first layer, if l1 is enabled

	// Results of a step.
	Loss, Q G.Value
}

// NewGraph builds the graph of the loss in infer/sdevae/train.go for a model.
func NewGraph(m *Model, o Objective) (*Graph, error) {
	n, d, seed := 2*o.Pairs, m.Dim, m.Decoder.In().Size()
	t := &Graph{X: zeros(n, m.Encoder.In().Size()), Eps: zeros(n, d), Dt: zeros(o.Pairs, 1), Clock: zeros(n, 1), Weight: zeros(d), Gain: zeros(d)}
	b := newBuilder(n)
	clock := b.give("clock", t.Clock)
	post := b.posterior(m, b.give("x", t.X), clock)
	z := b.sample(post, b.give("eps", t.Eps), d)
	seedW := b.learn("seed-w", m.SeedW, d, seed)
	drawn := b.do(m.Decoder.Apply(b.affine(z, seedW, b.learn("seed-b", m.SeedB, 1, seed)), b.learn("decoder", m.DecoderTheta, len(m.DecoderTheta))))
	loss := b.do(G.ApplyOp(newReconstruction(t.X, m.Background, o.Tau), drawn))

	q, drift := b.diffusion(m, o.Pairs, post, clock, b.give("dt", t.Dt))
	t.Drift = drift
	loss = b.add(loss, b.transition(m, q, b.give("weight", t.Weight)))
	loss = b.do(G.Sub(loss, b.scale(b.do(G.Sum(post.logDiag)), 1/float64(n))))
	if o.Nu > 0 {
		square := b.add(post.variance, b.do(G.Square(post.mean)))
		loss = b.add(loss, b.scale(b.do(G.Sum(square)), o.Nu/(2*float64(n))))
	}
	if o.L1 > 0 {
		loss = b.add(loss, b.scale(b.motion(q, seedW, b.give("gain", t.Gain)), o.L1))
	}
	if b.err != nil {
		return nil, b.err
	}
	G.Read(loss, &t.Loss)
	G.Read(q, &t.Q)
	var err error
	t.Machine, err = b.machine(loss)
	for i := range t.Machine.Params {
		if p := &t.Machine.Params[i]; p.PlacesFrames() {
			p.Freeze, p.rate = o.FreezeSteps, o.EncoderRate
		}
	}
	return t, err
}

// Machine runs a graph forwards and backwards.
type Machine struct {
	vm     G.VM
	Params []Parameter
}

// Parameter is one learnt tensor.
type Parameter struct {
	Weight []float32
	node   *G.Node
	Freeze int     // first steps, in which it is frozen
	rate   float64 // relative learning rate after that
}

// PlacesFrames reports whether the parameter belongs to the encoder's means.
func (p *Parameter) PlacesFrames() bool {
	return p.node.Name() == "encoder" || strings.HasPrefix(p.node.Name(), "mean-")
}

// machine differentiates the loss with respect to every learnt tensor of the builder.
func (b *builder) machine(loss *G.Node) (Machine, error) {
	nodes := make(G.Nodes, len(b.params))
	for i, p := range b.params {
		nodes[i] = p.node
	}
	if _, err := G.Grad(loss, nodes...); err != nil {
		return Machine{}, fmt.Errorf("differentiating the loss: %w", err)
	}
	return Machine{G.NewTapeMachine(b.g, G.BindDualValues(nodes...)), b.params}, nil
}

// Run computes loss and gradients for the current inputs. It clears the gradients first, because Gorgonia adds to existing ones.
func (t *Machine) Run() error {
	for i := range t.Params {
		if g, err := t.gradient(i); err == nil { // there is none before the first run
			clear(g)
		}
	}
	t.vm.Reset()
	return t.vm.RunAll()
}

// Close frees the graph's memory.
func (t *Machine) Close() { t.vm.Close() }

// gradient returns the gradient of parameter i, valid until the next run.
func (t *Machine) gradient(i int) ([]float32, error) {
	v, err := t.Params[i].node.Grad()
	if err != nil {
		return nil, err
	}
	d, ok := v.(*tensor.Dense)
	if !ok {
		return nil, fmt.Errorf("%s has no gradient yet", t.Params[i].node.Name())
	}
	return d.Data().([]float32), nil
}

// builder adds nodes to a graph. It stores the first error of a chain of operations and skips all operations after it.
type builder struct {
	g      *G.ExprGraph
	rows   int
	ones   *G.Node // (rows, 1)
	params []Parameter
	err    error
}

// newBuilder starts a graph for batches of n frames.
func newBuilder(n int) *builder {
	b := &builder{g: G.NewGraph(), rows: n}
	b.ones = b.give("ones", filled(1, n, 1))
	return b
}

// learn adds a learnt tensor. The node shares its memory.
func (b *builder) learn(name string, weight []float32, shape ...int) *G.Node {
	node := G.NewTensor(b.g, tensor.Float32, len(shape), G.WithShape(shape...), G.WithName(name),
		G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(weight))))
	b.params = append(b.params, Parameter{Weight: weight, node: node, rate: 1})
	return node
}

// give adds an input. The node shares its memory.
func (b *builder) give(name string, value *tensor.Dense) *G.Node {
	return G.NewTensor(b.g, tensor.Float32, value.Dims(), G.WithShape(value.Shape()...), G.WithName(name), G.WithValue(value))
}

func (b *builder) do(n *G.Node, err error) *G.Node {
	if b.err == nil {
		b.err = err
	}
	return n
}

func (b *builder) add(x, y *G.Node) *G.Node {
	if b.err != nil {
		return x
	}
	return b.do(G.Add(x, y))
}

func (b *builder) mul(x, y *G.Node) *G.Node {
	if b.err != nil {
		return x
	}
	return b.do(G.Mul(x, y))
}

func (b *builder) times(x, y *G.Node) *G.Node {
	if b.err != nil {
		return x
	}
	return b.do(G.HadamardProd(x, y))
}

// scale multiplies by a constant.
func (b *builder) scale(n *G.Node, k float64) *G.Node { return b.times(n, G.NewConstant(float32(k))) }

// affine returns x W + b for every row of x. bias is (1, out).
func (b *builder) affine(x, w, bias *G.Node) *G.Node { return b.add(b.mul(x, w), b.mul(b.ones, bias)) }

func zeros(shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.Of(tensor.Float32))
}

func filled(v float32, shape ...int) *tensor.Dense {
	t := zeros(shape...)
	for i := range t.Data().([]float32) {
		t.Data().([]float32)[i] = v
	}
	return t
}
