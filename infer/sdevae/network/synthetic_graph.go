package network

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// SyntheticGraph is a training step of the encoder alone, on a batch of synthetic frames with target posteriors.
type SyntheticGraph struct {
	Machine                 Machine
	X, Mean, LogDiag, Below *tensor.Dense // (n, CHW), (n, d), (n, d), (n, d(d-1)/2)
	Clock                   *tensor.Dense // (n, 1)
	Weight                  *tensor.Dense // (n, d): weight of the squared error of a mean
	Loss                    G.Value
}

// NewSyntheticGraph builds the graph for batches of n pictures. Its loss is
//
//	loss = mean over pictures of Σ (mᵢ - goalᵢ)²/var mᵢ + 0.1 Σ (ln sᵢ - goal)² + 0.1 Σ (L below the diagonal - goal)²
func NewSyntheticGraph(m *Model, n int) (*SyntheticGraph, error) {
	d := m.Dim
	t := &SyntheticGraph{X: zeros(n, m.Encoder.In().Size()), Mean: zeros(n, d), LogDiag: zeros(n, d), Clock: zeros(n, 1), Weight: zeros(n, d)}
	b := newBuilder(n)
	p := b.posterior(m, b.give("x", t.X), b.give("clock", t.Clock))
	miss := func(got *G.Node, name string, goal *tensor.Dense) *G.Node {
		if b.err != nil {
			return nil
		}
		return b.do(G.Square(b.do(G.Sub(got, b.give(name, goal)))))
	}
	loss := b.do(G.Sum(b.times(miss(p.mean, "goal", t.Mean), b.give("weight", t.Weight))))
	loss = b.add(loss, b.scale(b.do(G.Sum(miss(p.logDiag, "goal-log-sd", t.LogDiag))), looseness))
	if p.below != nil {
		t.Below = zeros(n, CovarianceTerms(d))
		loss = b.add(loss, b.scale(b.do(G.Sum(miss(p.below, "goal-below", t.Below))), looseness))
	}
	loss = b.scale(loss, 1/float64(n))
	if b.err != nil {
		return nil, b.err
	}
	G.Read(loss, &t.Loss)
	var err error
	t.Machine, err = b.machine(loss)
	return t, err
}

const looseness float64 = 0.1 // tuned train.looseness: weight of a squared error of ln s relative to an error of the mean in sd: s may be a third off
