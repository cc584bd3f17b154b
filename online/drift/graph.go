// Loss of the SDE
//
// Euler and Maruyama's increment per transition, from the means of consecutive frames (infer/sdevae/train.go):
//
//	e = m(t+1) - m(t) - μ(m(t))Δt                                                            (2)
//	qᵢ = mean over pairs of (eᵢ² + S_ii(t) + S_ii(t+1))/Δt,  loss ½ Σ ln qᵢ                  (3)
//
// q is the most likely σ². ProfiledDiffusion returns it as a node of Gorgonia's graph.

package drift

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Parameters adds n's weights to g as learnable nodes of type dt (tensor.Float32 or tensor.Float64), each holding its part of n.Weights as a matrix (a bias
// is 1×out), in the order of Weights. Apply takes these nodes, and Load reads their values back.
func (n *Network) Parameters(g *gorgonia.ExprGraph, dt tensor.Dtype) (theta gorgonia.Nodes, err error) {
	if dt != tensor.Float32 && dt != tensor.Float64 {
		return nil, fmt.Errorf("drift network: graph of type %v, expected float32 or float64: convert the latents first", dt)
	}
	b := &builder{g: g, dt: dt}
	at, in := 0, n.Dim
	matrix := func(rows, cols int) {
		name := fmt.Sprintf("drift%d", len(theta))
		theta = append(theta, gorgonia.NewMatrix(g, dt, gorgonia.WithName(name), gorgonia.WithValue(b.dense(rows, cols, n.Weights[at:at+rows*cols]))))
		at += rows * cols
	}
	for _, out := range n.Hidden {
		matrix(in, out)
		matrix(1, out)
		in = out
	}
	matrix(in, n.Dim)
	matrix(1, n.Dim)
	matrix(n.Dim, n.Dim)
	return theta, nil
}

// Apply returns μ(z), (1), with the weights in theta, a result of Parameters. z is (batch, Dim) of theta's type, in latent
// units; mu is (batch, Dim), in latent/s. It may be applied several times with the same theta.
func (n *Network) Apply(theta gorgonia.Nodes, z *gorgonia.Node) (mu *gorgonia.Node, err error) {
	if s := z.Shape(); s.Dims() != 2 || s[1] != n.Dim {
		return nil, fmt.Errorf("drift network: latents of shape %v, expected (batch, %d): reshape them", s, n.Dim)
	}
	if len(theta) != 2*len(n.Hidden)+3 {
		return nil, fmt.Errorf("drift network: %d parameters, expected %d: pass the result of Parameters", len(theta), 2*len(n.Hidden)+3)
	}
	b := &builder{g: z.Graph(), dt: z.Dtype(), batch: z.Shape()[0]}
	shift := make([]float64, n.Dim)
	for i, c := range n.Centre {
		shift[i] = -c / n.Scale
	}
	u := b.add(b.scale(z, 1/n.Scale), b.rows(b.constant(1, n.Dim, shift)))
	a := u
	for l := range n.Hidden {
		a = b.try(gorgonia.Softplus(b.add(b.mul(a, theta[2*l]), b.rows(theta[2*l+1]))))
	}
	last := theta[2*len(n.Hidden):]
	mu = b.add(b.add(b.mul(a, last[0]), b.rows(last[1])), b.mul(u, last[2]))
	if b.err != nil {
		return nil, fmt.Errorf("drift network: graph: %w", b.err)
	}
	return mu, nil
}

// Load copies the values of Parameters' nodes back into Weights.
func (n *Network) Load(theta gorgonia.Nodes) error {
	weights := make([]float64, 0, n.Size())
	for _, node := range theta {
		switch x := node.Value().Data().(type) {
		case []float64:
			weights = append(weights, x...)
		case []float32:
			for _, v := range x {
				weights = append(weights, float64(v))
			}
		case float64: // a 1×1 matrix may come back as a scalar
			weights = append(weights, x)
		case float32:
			weights = append(weights, float64(x))
		}
	}
	if len(weights) != n.Size() {
		return fmt.Errorf("drift network: %d weights in the graph, expected %d: pass the nodes that this network's Parameters returned", len(weights), n.Size())
	}
	if !Finite(weights) {
		return fmt.Errorf("drift network: a weight in the graph is not a finite number: lower the learning rate")
	}
	n.Weights = weights
	return nil
}

// Increments holds pairs of consecutive latents, as nodes of one graph.
type Increments struct {
	From, To       *gorgonia.Node // the encoder's means at t and t+1, (batch, d)
	FromVar, ToVar *gorgonia.Node // its variances, (batch, d)
	Drift          *gorgonia.Node // μ at From, (batch, d), latent/s
	DT             *gorgonia.Node // time steps, (batch, 1), s
}

// ProfiledDiffusion returns the most likely σ² of each latent dimension, (3),
//
//	qᵢ = mean over pairs of (eᵢ² + S_ii(t) + S_ii(t+1))/Δt,  e = m(t+1) - m(t) - μ(m(t))Δt.
//
// q has shape (d), in latent²/s. The SDE's loss is then ½ Σ ln q minus the encoder's entropy.
func ProfiledDiffusion(p Increments) (q *gorgonia.Node, err error) {
	s := p.From.Shape()
	if s.Dims() != 2 {
		return nil, fmt.Errorf("profiled diffusion: latents of shape %v, expected (batch, d): reshape them", s)
	}
	for _, x := range []*gorgonia.Node{p.To, p.FromVar, p.ToVar, p.Drift} {
		if !x.Shape().Eq(s) {
			return nil, fmt.Errorf("profiled diffusion: %s has shape %v, expected %v: give batches of equal shape", x.Name(), x.Shape(), s)
		}
	}
	batch, d := s[0], s[1]
	if !p.DT.Shape().Eq(tensor.Shape{batch, 1}) {
		return nil, fmt.Errorf("profiled diffusion: time steps of shape %v, expected (%d, 1): give one per pair", p.DT.Shape(), batch)
	}
	b := &builder{g: p.From.Graph(), dt: p.From.Dtype(), batch: batch}
	ones := b.constant(1, d, repeat(1, d))
	step := b.mul(p.DT, ones)
	rate := b.mul(b.try(gorgonia.Inverse(p.DT)), ones)
	e := b.sub(b.sub(p.To, p.From), b.hadamard(p.Drift, step))
	each := b.hadamard(b.add(b.add(b.try(gorgonia.Square(e)), p.FromVar), p.ToVar), rate)
	mean := b.mul(b.constant(1, batch, repeat(1/float64(batch), batch)), each)
	q = b.try(gorgonia.Reshape(mean, tensor.Shape{d}))
	if b.err != nil {
		return nil, fmt.Errorf("profiled diffusion: %w", b.err)
	}
	return q, nil
}

// builder adds nodes to a graph. It stores the first error and then adds nothing more. Sums over the batch and copies along it are products
// with constant matrices: Gorgonia's own broadcasting mistakes a (n, 1) node for a vector in one dimension.
type builder struct {
	g     *gorgonia.ExprGraph
	dt    tensor.Dtype
	batch int
	err   error
}

// try returns n and stores the first error.
func (b *builder) try(n *gorgonia.Node, err error) *gorgonia.Node {
	if b.err == nil {
		b.err = err
	}
	return n
}

func (b *builder) add(x, y *gorgonia.Node) *gorgonia.Node { return b.binary(gorgonia.Add, x, y) }
func (b *builder) sub(x, y *gorgonia.Node) *gorgonia.Node { return b.binary(gorgonia.Sub, x, y) }
func (b *builder) mul(x, y *gorgonia.Node) *gorgonia.Node { return b.binary(gorgonia.Mul, x, y) }
func (b *builder) hadamard(x, y *gorgonia.Node) *gorgonia.Node {
	return b.binary(gorgonia.HadamardProd, x, y)
}

func (b *builder) binary(op func(x, y *gorgonia.Node) (*gorgonia.Node, error), x, y *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return x
	}
	return b.try(op(x, y))
}

// scale multiplies every entry of x by k.
func (b *builder) scale(x *gorgonia.Node, k float64) *gorgonia.Node {
	rows, cols := x.Shape()[0], x.Shape()[1]
	return b.hadamard(x, b.constant(rows, cols, repeat(k, rows*cols)))
}

// rows copies the 1×n matrix x into every row of a batch.
func (b *builder) rows(x *gorgonia.Node) *gorgonia.Node {
	return b.mul(b.constant(b.batch, 1, repeat(1, b.batch)), x)
}

// constant returns a rows×cols matrix that is not learnt.
func (b *builder) constant(rows, cols int, values []float64) *gorgonia.Node {
	return gorgonia.NodeFromAny(b.g, b.dense(rows, cols, values), gorgonia.WithName(fmt.Sprintf("constant%d", len(b.g.AllNodes()))))
}

// dense copies values into a tensor of b's type.
func (b *builder) dense(rows, cols int, values []float64) *tensor.Dense {
	if b.dt == tensor.Float64 {
		return tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(append([]float64(nil), values...)))
	}
	single := make([]float32, len(values))
	for i, v := range values {
		single[i] = float32(v)
	}
	return tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(single))
}

// repeat returns n copies of v.
func repeat(v float64, n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = v
	}
	return s
}
