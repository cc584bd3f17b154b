package network

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"driftscope/online/drift"
)

// posteriors are the encoder's outputs for a batch. All are (rows, d), except below, which is (rows, d(d-1)/2) or nil.
type posteriors struct{ mean, logDiag, below, variance *G.Node }

// posterior encodes the frames x: q(z|x) = N(mean, L L'). clock is (rows, 1) and used only if the model has a clock.
func (b *builder) posterior(m *Model, x, clock *G.Node) (p posteriors) {
	features, d := m.Encoder.Out().Size(), m.Dim
	h := b.do(m.Encoder.Apply(x, b.learn("encoder", m.EncoderTheta, len(m.EncoderTheta))))
	head := func(name string, w, bias, hand []float32, out int) *G.Node {
		node := b.affine(h, b.learn(name+"-w", w, features, out), b.learn(name+"-b", bias, 1, out))
		if m.Span == 0 {
			return node
		}
		return b.add(node, b.mul(clock, b.learn(name+"-t", hand, 1, out)))
	}
	p.mean = head("mean", m.MeanW, m.MeanB, m.MeanT, d)
	p.logDiag = head("log-sd", m.LogSDW, m.LogSDB, m.LogSDT, d)
	p.variance = b.do(G.Exp(b.scale(p.logDiag, 2)))
	if m.Posterior == Cholesky && d > 1 {
		p.below = head("below", m.BelowW, m.BelowB, m.BelowT, CovarianceTerms(d))
		p.variance = b.add(p.variance, b.mul(b.do(G.Square(p.below)), b.give("row", entries(d).row)))
	}
	return p
}

// sample returns mean + L ε.
func (b *builder) sample(p posteriors, eps *G.Node, d int) *G.Node {
	z := b.add(p.mean, b.times(b.do(G.Exp(p.logDiag)), eps))
	if p.below == nil {
		return z
	}
	at := entries(d)
	return b.add(z, b.mul(b.times(p.below, b.mul(eps, b.give("column", at.column))), b.give("row-sum", at.row)))
}

// triangle marks the positions of the entries below L's diagonal. row is (entries, d) with a 1 at each entry's row, column is (d, entries) with a 1 at its
// column.
type triangle struct{ row, column *tensor.Dense }

func entries(d int) triangle {
	t := triangle{zeros(CovarianceTerms(d), d), zeros(d, CovarianceTerms(d))}
	row, column := t.row.Data().([]float32), t.column.Data().([]float32)
	k := 0
	for i := range d {
		for j := range i {
			row[k*d+i], column[j*CovarianceTerms(d)+k] = 1, 1
			k++
		}
	}
	return t
}

// diffusion returns q of the batch's pairs, (d), and the drift network's parameters.
func (b *builder) diffusion(m *Model, pairs int, p posteriors, clock, dt *G.Node) (q *G.Node, params G.Nodes) {
	first, second := b.give("first", pick(pairs, 2*pairs, 0)), b.give("second", pick(pairs, 2*pairs, pairs))
	m0, m1 := b.mul(first, p.mean), b.mul(second, p.mean)
	s0, s1 := b.mul(first, p.variance), b.mul(second, p.variance)
	start := m0
	if m.Span > 0 {
		d := m.Dim
		start = b.add(b.mul(m0, b.give("latents", pick(d, d+1, 0))), b.mul(b.mul(first, clock), b.give("hand", pick(1, d+1, d))))
	}
	mu, params := b.drift(m, start, dt)
	if b.err != nil {
		return nil, nil
	}
	return b.do(drift.ProfiledDiffusion(drift.Increments{From: m0, To: m1, FromVar: s0, ToVar: s1, Drift: mu, DT: dt})), params
}

// drift returns the mean drift, (B, d), from start to the next frame in Substeps Euler steps. start is (B, d), with one more column for the clock if the model
// has one.
func (b *builder) drift(m *Model, start, dt *G.Node) (mu *G.Node, params G.Nodes) {
	if b.err != nil {
		return nil, nil
	}
	params, b.err = m.Drift.Parameters(b.g, tensor.Float32)
	for _, node := range params {
		b.params = append(b.params, Parameter{Weight: node.Value().Data().([]float32), node: node, rate: 1})
	}
	d, width, share := m.Dim, m.Drift.Dim, 1/float32(m.Substeps)
	wide, hand := filled(share, 1, width), zeros(1, width)
	if m.Span > 0 { // the clock advances with time
		wide.Data().([]float32)[d], hand.Data().([]float32)[d] = 0, 2*share/float32(m.Span)
	}
	step, tock, at := b.mul(dt, b.give("wide", wide)), b.mul(dt, b.give("tock", hand)), start
	for k := range m.Substeps {
		v := b.do(m.Drift.Apply(params, at))
		if k == 0 {
			mu = v
		} else {
			mu = b.add(mu, v)
		}
		if k+1 < m.Substeps {
			at = b.add(at, b.add(b.times(v, step), tock))
		}
	}
	if m.Substeps > 1 {
		mu = b.scale(mu, float64(share))
	}
	if m.Span > 0 {
		mu = b.mul(mu, b.give("cut", pick(width, d, 0)))
	}
	return mu, params
}

// transition returns Σ ½ qᵢ/q̄ᵢ with the given weights 1/q̄, which has the gradient of ½ Σ ln qᵢ. If σ is learnt, it returns Σ ½ qᵢ/σᵢ² + ln σᵢ instead.
func (b *builder) transition(m *Model, q, weight *G.Node) *G.Node {
	if len(m.LogSigma) == 0 {
		return b.scale(b.do(G.Sum(b.times(q, weight))), 0.5)
	}
	logSigma := b.logSigma(m)
	quadratic := b.times(q, b.do(G.Exp(b.scale(logSigma, -2))))
	return b.do(G.Sum(b.add(b.scale(quadratic, 0.5), logSigma)))
}

// logSigma returns the learnt ln σ, (d).
func (b *builder) logSigma(m *Model) *G.Node {
	k := len(m.LogSigma)
	spread := zeros(k, m.Dim)
	for i := range m.Dim {
		spread.Data().([]float32)[min(i, k-1)*m.Dim+i] = 1
	}
	wide := b.mul(b.learn("log-sigma", m.LogSigma, 1, k), b.give("spread", spread))
	if b.err != nil {
		return nil
	}
	return b.do(G.Reshape(wide, tensor.Shape{m.Dim}))
}

// motion returns Σ σᵢ |∂f/∂zᵢ|, in picture units per √s, which is invariant to the scale of z. |∂f/∂zᵢ| is the gain times the norm of the row of weights
// through which zᵢ enters the decoder.
func (b *builder) motion(q, seedW, gain *G.Node) *G.Node {
	if b.err != nil {
		return nil
	}
	norm := b.do(G.Sqrt(b.do(G.Sum(b.do(G.Square(seedW)), 1)))) // no Reshape after the root, because it would share memory that is overwritten
	return b.do(G.Sum(b.times(b.times(b.do(G.Sqrt(q)), gain), norm)))
}

// pick returns a rows × columns matrix with ones on the diagonal that starts at column offset of the first row.
func pick(rows, columns, offset int) *tensor.Dense {
	m := zeros(rows, columns)
	for i := range min(rows, columns-offset) {
		m.Data().([]float32)[i*columns+offset+i] = 1
	}
	return m
}
