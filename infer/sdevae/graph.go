package sdevae

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"driftscope/online"
)

// graph is one training step of a batch of pairs in Gorgonia: 2B frames, the first B of them the pairs' first frames.
// It shares the model's weights: a step that changes them changes the model.
type graph struct {
	pairs  int
	vm     G.VM
	params []parameter
	drift  G.Nodes // the drift network's share of params

	// What a step reads. The tensors are lent to the graph; fill them in place.
	x, eps, dt, weight *tensor.Dense // (2B, CHW), (2B, d), (B, 1), (d): 1/q as smoothed over batches

	// What a step gives.
	loss, rec, q G.Value
}

// parameter is one tensor that is learnt.
type parameter struct {
	weight []float32
	node   *G.Node
}

// newGraph builds the graph for a model, a batch of pairs and an observation noise tau.
func newGraph(m *Model, pairs int, tau float64) (*graph, error) {
	g, n, d := G.NewGraph(), 2*pairs, m.Dim
	features, seed, size := m.Encoder.Out().Size(), m.Decoder.In().Size(), m.Encoder.In().Size()
	t := &graph{pairs: pairs, x: zeros(n, size), eps: zeros(n, d), dt: zeros(pairs, 1), weight: zeros(d)}
	learn := func(name string, weight []float32, shape ...int) *G.Node {
		node := G.NewTensor(g, tensor.Float32, len(shape), G.WithShape(shape...), G.WithName(name),
			G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(weight))))
		t.params = append(t.params, parameter{weight, node})
		return node
	}
	give := func(name string, value *tensor.Dense) *G.Node {
		return G.NewTensor(g, tensor.Float32, value.Dims(), G.WithShape(value.Shape()...), G.WithName(name), G.WithValue(value))
	}
	x, eps, dt, weight := give("x", t.x), give("eps", t.eps), give("dt", t.dt), give("weight", t.weight)
	ones := give("ones", filled(1, n, 1))

	var b builder
	h := b.do(m.Encoder.Apply(x, learn("encoder", m.EncoderTheta, len(m.EncoderTheta))))
	linear := func(x *G.Node, name string, w, bias []float32, in, out int) *G.Node {
		product := b.do(G.Mul(x, learn(name+"-w", w, in, out)))
		return b.do(G.Add(product, b.do(G.Mul(ones, learn(name+"-b", bias, 1, out)))))
	}
	mean := linear(h, "mean", m.MeanW, m.MeanB, features, d)
	logSD := linear(h, "log-sd", m.LogSDW, m.LogSDB, features, d)
	sd := b.do(G.Exp(logSD))
	z := b.do(G.Add(mean, b.do(G.HadamardProd(sd, eps))))
	drawn := b.do(m.Decoder.Apply(linear(z, "seed", m.SeedW, m.SeedB, d, seed),
		learn("decoder", m.DecoderTheta, len(m.DecoderTheta))))
	background := b.do(G.Mul(ones, give("background", tensor.New(tensor.WithShape(1, size), tensor.WithBacking(m.Background)))))
	y := b.do(G.Sigmoid(b.do(G.Add(drawn, background))))
	rec := b.scale(b.do(G.Sum(b.do(G.Square(b.do(G.Sub(y, x)))))), 1/(2*tau*float64(n)))

	variance := b.do(G.Square(sd))
	first, second := give("first", pick(pairs, 0)), give("second", pick(pairs, pairs))
	m0, m1 := b.do(G.Mul(first, mean)), b.do(G.Mul(second, mean))
	s0, s1 := b.do(G.Mul(first, variance)), b.do(G.Mul(second, variance))
	if b.err != nil {
		return nil, b.err
	}
	mu, theta, err := m.Drift.Graph(g, m0, tensor.Float32)
	if err != nil {
		return nil, err
	}
	t.drift = theta
	for _, node := range theta {
		t.params = append(t.params, parameter{node.Value().Data().([]float32), node})
	}
	q := b.do(online.ProfiledDiffusion(m0, m1, s0, s1, mu, dt))
	transition := b.scale(b.do(G.Sum(b.do(G.HadamardProd(q, weight)))), 0.5)
	entropy := b.scale(b.do(G.Sum(logSD)), 1/float64(n))
	loss := b.do(G.Sub(b.do(G.Add(rec, transition)), entropy))
	if b.err != nil {
		return nil, b.err
	}
	G.Read(loss, &t.loss)
	G.Read(rec, &t.rec)
	G.Read(q, &t.q)

	nodes := make(G.Nodes, len(t.params))
	for i, p := range t.params {
		nodes[i] = p.node
	}
	if _, err := G.Grad(loss, nodes...); err != nil {
		return nil, fmt.Errorf("differentiating the loss: %w", err)
	}
	t.vm = G.NewTapeMachine(g, G.BindDualValues(nodes...))
	return t, nil
}

// run computes loss and gradients for what x, eps, dt and weight hold. Gorgonia adds gradients to what is there: clear it first.
func (t *graph) run() error {
	for i := range t.params {
		if g, err := t.gradient(i); err == nil { // none before the first run
			clear(g)
		}
	}
	t.vm.Reset()
	return t.vm.RunAll()
}

func (t *graph) close() { t.vm.Close() }

// gradient lends the gradient of parameter i, valid until the next run.
func (t *graph) gradient(i int) ([]float32, error) {
	v, err := t.params[i].node.Grad()
	if err != nil {
		return nil, err
	}
	d, ok := v.(*tensor.Dense)
	if !ok {
		return nil, fmt.Errorf("%s has no gradient yet", t.params[i].node.Name())
	}
	return d.Data().([]float32), nil
}

// builder keeps the first error of a chain of graph operations; after it every further one is skipped.
type builder struct{ err error }

func (b *builder) do(n *G.Node, err error) *G.Node {
	if b.err == nil {
		b.err = err
	}
	return n
}

// scale multiplies a scalar node by a constant.
func (b *builder) scale(n *G.Node, k float64) *G.Node {
	if b.err != nil {
		return n
	}
	return b.do(G.Mul(n, G.NewConstant(float32(k))))
}

// pick is the (pairs × 2 pairs) matrix that takes rows from offset on.
func pick(pairs, offset int) *tensor.Dense {
	m := zeros(pairs, 2*pairs)
	for i := range pairs {
		m.Data().([]float32)[i*2*pairs+offset+i] = 1
	}
	return m
}

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
