package sdevae

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"driftscope/infer/sdevae/dnnl"
	"driftscope/online/drift"
)

// slope is the leaky ReLU's, and epsilon what batch normalisation adds to a variance, as in the paper's code.
const (
	slope   = 0.01
	epsilon = 1e-5
)

// Model is encoder, decoder and drift as trained. Matrices are row-major float32.
type Model struct {
	Dim     int
	Encoder *dnnl.Stack // picture → features
	Decoder *dnnl.Stack // seed → picture

	EncoderTheta, DecoderTheta []float32
	EncoderStats, DecoderStats []dnnl.Moments // of batch normalisation, over the training frames

	Posterior             Posterior
	MeanW, LogSDW         []float32 // features × d
	MeanB, LogSDB         []float32 // d
	BelowW, BelowB        []float32 // features × d(d-1)/2, and that many; empty where the posterior is diagonal
	Span                  float64   // T of the clock, seconds; 0 where there is none
	MeanT, LogSDT, BelowT []float32 // the clock's weights: d, d, and d(d-1)/2 where there are covariances; empty without a clock
	SeedW                 []float32 // d × seed
	SeedB                 []float32 // seed
	LogSigma              []float32 // learnt diffusion: d or 1; empty where it is profiled
	Substeps              int       // of the drift within a pair
	Background            []float32 // CHW: the logit of the clip's mean picture, which the decoder adds to before the sigmoid

	Drift *drift.Network // in the coordinates of m; with a clock, that is one dimension more, and what comes out of it means nothing

	readout *readout // what the encoder's last layer may see of its features; nil is all
}

// newModel builds the paper's networks for pictures of the given shape and draws their first weights. The caller sets Background and,
// with a clock, Span.
func newModel(in dnnl.Shape, c Config, batch int, rng *rand.Rand) (*Model, error) {
	dim := c.Latent
	encoder, err := dnnl.New(in, encoderLayers(), batch)
	if err != nil {
		return nil, err
	}
	decoder, err := dnnl.New(dnnl.Shape{C: 64, H: in.H / 8, W: in.W / 8}, decoderLayers(in.C), batch)
	if err != nil {
		encoder.Close()
		return nil, err
	}
	m := &Model{Dim: dim, Posterior: c.Posterior, Substeps: c.Substeps, Encoder: encoder, Decoder: decoder,
		EncoderTheta: make([]float32, encoder.Params()), DecoderTheta: make([]float32, decoder.Params())}
	features, seed := encoder.Out().Size(), decoder.In().Size()
	encoder.Init(m.EncoderTheta, rng)
	decoder.Init(m.DecoderTheta, rng)
	m.MeanW, m.MeanB = uniform(features*dim, features, rng), uniform(dim, features, rng)
	m.LogSDW, m.LogSDB = uniform(features*dim, features, rng), make([]float32, dim)
	if c.Posterior == Cholesky { // starts diagonal
		m.BelowW, m.BelowB = make([]float32, features*below(dim)), make([]float32, below(dim))
	}
	switch c.Diffusion {
	case LearntDiagonal:
		m.LogSigma = make([]float32, dim)
	case LearntIsotropic:
		m.LogSigma = make([]float32, 1)
	}
	m.SeedW, m.SeedB = uniform(dim*seed, dim, rng), uniform(seed, dim, rng)
	if c.Clock { // starts without effect
		m.MeanT, m.LogSDT, m.BelowT = make([]float32, dim), make([]float32, dim), make([]float32, len(m.BelowB))
		dim++
	}
	m.Drift = drift.NewNetwork(dim, rng)
	return m, nil
}

// encoderLayers is the paper's encoder up to the flattening.
func encoderLayers() []dnnl.Layer {
	conv := func(out int) dnnl.Layer { return dnnl.Layer{Kind: dnnl.Conv, Out: out, Kernel: 5} }
	norm, relu, pool := dnnl.Layer{Kind: dnnl.BatchNorm}, dnnl.Layer{Kind: dnnl.LeakyReLU}, dnnl.Layer{Kind: dnnl.MaxPool}
	return []dnnl.Layer{
		conv(8), relu, pool,
		conv(16), norm, relu, pool,
		conv(32), norm, relu, pool,
		conv(64), norm, relu,
	}
}

// decoderLayers is the published code's decoder: three upsamplings from an eighth of the picture's side, two convolutions there.
func decoderLayers(channels int) []dnnl.Layer {
	conv := func(out int) dnnl.Layer { return dnnl.Layer{Kind: dnnl.Conv, Out: out, Kernel: 5} }
	var layers []dnnl.Layer
	for _, out := range []int{32, 16, 8} {
		layers = append(layers, dnnl.Layer{Kind: dnnl.Upsample}, conv(out), dnnl.Layer{Kind: dnnl.BatchNorm}, dnnl.Layer{Kind: dnnl.LeakyReLU})
	}
	return append(layers, conv(8), conv(channels))
}

// Close frees the convolutions' memory.
func (m *Model) Close() {
	m.Encoder.Close()
	m.Decoder.Close()
}

// Encode maps n frames (n × CHW) and their clock, from -1 to 1 and nil where the model has none, to their posteriors, in evaluation mode.
func (m *Model) Encode(frames, clock []float32, n int) (*Posteriors, error) {
	size, features, batch, d, b := m.Encoder.In().Size(), m.Encoder.Out().Size(), m.Encoder.Batch(), m.Dim, below(m.Dim)
	h, p := make([]float32, batch*features), newPosteriors(n, d, m.Posterior)
	for at := 0; at < n; at += batch {
		k := min(batch, n-at)
		if err := m.Encoder.Infer(h[:k*features], frames[at*size:(at+k)*size], m.EncoderTheta, m.EncoderStats, k); err != nil {
			return nil, err
		}
		affine(p.Mean[at*d:(at+k)*d], h, m.MeanW, m.MeanB, k, features, d)
		affine(p.LogDiag[at*d:(at+k)*d], h, m.LogSDW, m.LogSDB, k, features, d)
		if len(p.Below) > 0 {
			affine(p.Below[at*b:(at+k)*b], h, m.BelowW, m.BelowB, k, features, b)
		}
	}
	tick(p.Mean, clock, m.MeanT)
	tick(p.LogDiag, clock, m.LogSDT)
	tick(p.Below, clock, m.BelowT)
	return p, nil
}

// read encodes frames of a clip, and gives their pixels as well.
func (m *Model) read(c *Clip, frames []int) (x []float32, p *Posteriors, err error) {
	x = c.pick(frames)
	p, err = m.Encode(x, m.clock(c, frames), len(frames))
	return x, p, err
}

// Decode draws n pictures (n × CHW) from n latents (n × d, in m's coordinates), in evaluation mode.
func (m *Model) Decode(pictures, z []float32, n int) error {
	size, seed, batch := m.Decoder.Out().Size(), m.Decoder.In().Size(), m.Decoder.Batch()
	h := make([]float32, batch*seed)
	for at := 0; at < n; at += batch {
		k := min(batch, n-at)
		affine(h[:k*seed], z[at*m.Dim:], m.SeedW, m.SeedB, k, m.Dim, seed)
		if err := m.Decoder.Infer(pictures[at*size:(at+k)*size], h[:k*seed], m.DecoderTheta, m.DecoderStats, k); err != nil {
			return err
		}
	}
	for i, v := range pictures[:n*size] {
		pictures[i] = sigmoid(v + m.Background[i%size])
	}
	return nil
}

// calibrate measures batch normalisation's moments over the given frames with the weights as they stand, frames and order fixed.
func (m *Model) calibrate(c *Clip, frames []int) error {
	size, features, seed, batch := c.Size(), m.Encoder.Out().Size(), m.Decoder.In().Size(), m.Encoder.Batch()
	x, h := make([]float32, batch*size), make([]float32, batch*features)
	z, g, y := make([]float32, batch*m.Dim), make([]float32, batch*seed), make([]float32, batch*size)
	var encoder, decoder pool
	for at := 0; at < len(frames); at += batch {
		k := min(batch, len(frames)-at)
		for i, f := range frames[at : at+k] {
			copy(x[i*size:], c.Frame(f))
		}
		if err := m.Encoder.Forward(h[:k*features], x[:k*size], m.EncoderTheta, k); err != nil {
			return err
		}
		encoder.add(m.Encoder.Stats(), k)
		affine(z[:k*m.Dim], h, m.MeanW, m.MeanB, k, features, m.Dim)
		tick(z[:k*m.Dim], m.clock(c, frames[at:at+k]), m.MeanT)
		affine(g[:k*seed], z, m.SeedW, m.SeedB, k, m.Dim, seed)
		if err := m.Decoder.Forward(y[:k*size], g[:k*seed], m.DecoderTheta, k); err != nil {
			return err
		}
		decoder.add(m.Decoder.Stats(), k)
	}
	m.EncoderStats, m.DecoderStats = encoder.moments(), decoder.moments()
	return nil
}

// affine computes dst = x W + b for n rows: x is n × in, W in × out, b out, dst n × out.
func affine(dst, x, w, b []float32, n, in, out int) {
	for i := range n {
		copy(dst[i*out:(i+1)*out], b)
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1,
		blas32.General{Rows: n, Cols: in, Stride: in, Data: x},
		blas32.General{Rows: in, Cols: out, Stride: out, Data: w}, 1,
		blas32.General{Rows: n, Cols: out, Stride: out, Data: dst})
}

// background is the logit of the clip's mean picture.
func background(c *Clip) []float32 {
	const edge = 0.01 // a mean of 0 or 1 has no logit
	mean := average(c.Pixels, c.Len(), c.Size())
	for i, v := range mean {
		p := float64(min(max(v, edge), 1-edge))
		mean[i] = float32(math.Log(p / (1 - p)))
	}
	return mean
}

// uniform draws n weights from ±1/√fanIn, PyTorch's default for linear layers.
func uniform(n, fanIn int, rng *rand.Rand) []float32 {
	k, w := 1/math.Sqrt(float64(fanIn)), make([]float32, n)
	for i := range w {
		w[i] = float32((2*rng.Float64() - 1) * k)
	}
	return w
}

// weights lists the model's learnt tensors and the moments that go with them, for copying.
func (m *Model) weights() []*[]float32 {
	return []*[]float32{&m.EncoderTheta, &m.DecoderTheta, &m.MeanW, &m.LogSDW, &m.BelowW, &m.MeanB, &m.LogSDB, &m.BelowB,
		&m.MeanT, &m.LogSDT, &m.BelowT, &m.SeedW, &m.SeedB, &m.LogSigma}
}

// clone copies the weights; the convolutions' memory is shared with m and stays m's.
func (m *Model) clone() *Model {
	c := *m
	for _, w := range c.weights() {
		*w = slices.Clone(*w)
	}
	drift := *m.Drift
	drift.Weights = slices.Clone(m.Drift.Weights)
	c.Drift = &drift
	return &c
}

// adopt takes over a clone's weights.
func (m *Model) adopt(c *Model) {
	for i, w := range m.weights() {
		copy(*w, *c.weights()[i])
	}
	m.EncoderStats, m.DecoderStats, m.Drift = c.EncoderStats, c.DecoderStats, c.Drift
}
