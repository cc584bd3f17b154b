package sdevae

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// dreams is the encoder alone in Gorgonia: a batch of pictures, and the posteriors that it is to answer them with.
type dreams struct {
	machine                 machine
	x, mean, logDiag, below *tensor.Dense // (n, CHW), (n, d), (n, d), (n, d(d-1)/2)
	clock                   *tensor.Dense // (n, 1)
	weight                  *tensor.Dense // (n, d): what a squared error of a mean counts
	loss                    G.Value
}

// newDreams builds the sleep phase's graph for batches of n pictures:
//
//	loss = mean over pictures of Σ (mᵢ - goalᵢ)²/var mᵢ + 0.1 Σ (ln sᵢ - goal)² + 0.1 Σ (L below the diagonal - goal)²
func newDreams(m *Model, n int) (*dreams, error) {
	d := m.Dim
	t := &dreams{x: zeros(n, m.Encoder.In().Size()), mean: zeros(n, d), logDiag: zeros(n, d), clock: zeros(n, 1), weight: zeros(n, d)}
	b := newBuilder(n)
	p := b.posterior(m, b.give("x", t.x), b.give("clock", t.clock))
	miss := func(got *G.Node, name string, goal *tensor.Dense) *G.Node {
		if b.err != nil {
			return nil
		}
		return b.do(G.Square(b.do(G.Sub(got, b.give(name, goal)))))
	}
	loss := b.do(G.Sum(b.times(miss(p.mean, "goal", t.mean), b.give("weight", t.weight))))
	loss = b.add(loss, b.scale(b.do(G.Sum(miss(p.logDiag, "goal-log-sd", t.logDiag))), looseness))
	if p.below != nil {
		t.below = zeros(n, below(d))
		loss = b.add(loss, b.scale(b.do(G.Sum(miss(p.below, "goal-below", t.below))), looseness))
	}
	loss = b.scale(loss, 1/float64(n))
	if b.err != nil {
		return nil, b.err
	}
	G.Read(loss, &t.loss)
	var err error
	t.machine, err = b.machine(loss)
	return t, err
}

// looseness is what a squared error of ln s counts beside one of a mean in its standard deviation.
const looseness = 0.1
