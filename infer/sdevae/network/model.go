package network

import (
	"math"
	"math/rand/v2"
	"slices"

	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"driftscope/online/drift"
)

// LeakySlope is the slope of the leaky ReLU. Batch normalisation adds NormEpsilon to a variance. Both values come from the paper's code.
const (
	LeakySlope  = 0.01
	NormEpsilon = 1e-5
)

// Model holds encoder, decoder and drift during training. Matrices are row-major float32.
type Model struct {
	Dim     int
	Encoder *dnnl.Stack // picture → features
	Decoder *dnnl.Stack // seed → picture

	EncoderTheta, DecoderTheta []float32
	EncoderStats, DecoderStats []dnnl.Moments // moments of batch normalisation over the training frames

	Posterior             Posterior
	MeanW, LogSDW         []float32 // features × d
	MeanB, LogSDB         []float32 // d
	BelowW, BelowB        []float32 // features × d(d-1)/2, and d(d-1)/2; empty if the posterior is diagonal
	Span                  float64   // T of the clock, seconds; 0 without a clock
	MeanT, LogSDT, BelowT []float32 // the clock's weights: d, d, and d(d-1)/2 if there are covariances; empty without a clock
	SeedW                 []float32 // d × seed
	SeedB                 []float32 // seed
	LogSigma              []float32 // learnt diffusion, d or 1 values; empty if it is profiled
	Substeps              int       // Euler steps of the drift within a pair
	Background            []float32 // CHW: logit of the clip's mean picture, added to the decoder's output before the sigmoid

	Drift *drift.Network // in the coordinates of the means m; with a clock it has one more dimension, whose output is unused

	readout *readout // part of the features that the encoder's last layers read; nil means all
}

// New builds the paper's networks for pictures of the given shape, with random weights. The caller sets Background and, with a clock, Span.
func New(in dnnl.Shape, f Form, batch int, rng *rand.Rand) (*Model, error) {
	dim := f.Latent
	encoder, err := dnnl.New(in, EncoderLayers(), batch)
	if err != nil {
		return nil, err
	}
	decoder, err := dnnl.New(dnnl.Shape{C: 64, H: in.H / 8, W: in.W / 8}, DecoderLayers(in.C), batch)
	if err != nil {
		encoder.Close()
		return nil, err
	}
	m := &Model{Dim: dim, Posterior: f.Posterior, Substeps: f.Substeps, Encoder: encoder, Decoder: decoder,
		EncoderTheta: make([]float32, encoder.Params()), DecoderTheta: make([]float32, decoder.Params())}
	features, seed := encoder.Out().Size(), decoder.In().Size()
	encoder.Init(m.EncoderTheta, rng)
	decoder.Init(m.DecoderTheta, rng)
	m.MeanW, m.MeanB = uniform(features*dim, features, rng), uniform(dim, features, rng)
	m.LogSDW, m.LogSDB = uniform(features*dim, features, rng), make([]float32, dim)
	if f.Posterior == Cholesky { // starts diagonal
		m.BelowW, m.BelowB = make([]float32, features*CovarianceTerms(dim)), make([]float32, CovarianceTerms(dim))
	}
	switch f.Diffusion {
	case LearntDiagonal:
		m.LogSigma = make([]float32, dim)
	case LearntIsotropic:
		m.LogSigma = make([]float32, 1)
	}
	m.SeedW, m.SeedB = uniform(dim*seed, dim, rng), uniform(seed, dim, rng)
	if f.Clock { // starts without effect
		m.MeanT, m.LogSDT, m.BelowT = make([]float32, dim), make([]float32, dim), make([]float32, len(m.BelowB))
		dim++
	}
	m.Drift = drift.NewNetwork(dim, rng)
	return m, nil
}

// EncoderLayers returns the layers of the paper's encoder before the flattening.
func EncoderLayers() []dnnl.Layer {
	conv := func(out int) dnnl.Layer { return dnnl.Layer{Kind: dnnl.Conv, Out: out, Kernel: 5} }
	norm, relu, pool := dnnl.Layer{Kind: dnnl.BatchNorm}, dnnl.Layer{Kind: dnnl.LeakyReLU}, dnnl.Layer{Kind: dnnl.MaxPool}
	return []dnnl.Layer{
		conv(8), relu, pool,
		conv(16), norm, relu, pool,
		conv(32), norm, relu, pool,
		conv(64), norm, relu,
	}
}

// DecoderLayers returns the layers of the published code's decoder: three upsamplings, which start at an eighth of the picture's side, then two convolutions.
func DecoderLayers(channels int) []dnnl.Layer {
	conv := func(out int) dnnl.Layer { return dnnl.Layer{Kind: dnnl.Conv, Out: out, Kernel: 5} }
	var layers []dnnl.Layer
	for _, out := range []int{32, 16, 8} {
		layers = append(layers, dnnl.Layer{Kind: dnnl.Upsample}, conv(out), dnnl.Layer{Kind: dnnl.BatchNorm}, dnnl.Layer{Kind: dnnl.LeakyReLU})
	}
	return append(layers, conv(8), conv(channels))
}

// Close frees the memory of the convolutions.
func (m *Model) Close() {
	m.Encoder.Close()
	m.Decoder.Close()
}

// Encode computes the posteriors of n frames (n × CHW) in evaluation mode. clock is the frames' clock, from -1 to 1, or nil if the model has none.
func (m *Model) Encode(frames, clock []float32, n int) (*Posteriors, error) {
	size, features, batch, d, b := m.Encoder.In().Size(), m.Encoder.Out().Size(), m.Encoder.Batch(), m.Dim, CovarianceTerms(m.Dim)
	h, p := make([]float32, batch*features), NewPosteriors(n, d, m.Posterior)
	for at := 0; at < n; at += batch {
		k := min(batch, n-at)
		if err := m.Encoder.Infer(h[:k*features], frames[at*size:(at+k)*size], m.EncoderTheta, m.EncoderStats, k); err != nil {
			return nil, err
		}
		numeric.Affine(p.Mean[at*d:(at+k)*d], h, m.MeanW, m.MeanB)
		numeric.Affine(p.LogDiag[at*d:(at+k)*d], h, m.LogSDW, m.LogSDB)
		if len(p.Below) > 0 {
			numeric.Affine(p.Below[at*b:(at+k)*b], h, m.BelowW, m.BelowB)
		}
	}
	addClock(p.Mean, clock, m.MeanT)
	addClock(p.LogDiag, clock, m.LogSDT)
	addClock(p.Below, clock, m.BelowT)
	return p, nil
}

// Read encodes frames of a clip, and also returns their pixels.
func (m *Model) Read(c *video.Clip, frames []int) (x []float32, p *Posteriors, err error) {
	x = c.Pick(frames)
	p, err = m.Encode(x, m.Clock(c, frames), len(frames))
	return x, p, err
}

// Decode computes n pictures (n × CHW) from n latents (n × d, in the coordinates of the means m) in evaluation mode.
func (m *Model) Decode(pictures, z []float32, n int) error {
	size, seed, batch := m.Decoder.Out().Size(), m.Decoder.In().Size(), m.Decoder.Batch()
	h := make([]float32, batch*seed)
	for at := 0; at < n; at += batch {
		k := min(batch, n-at)
		numeric.Affine(h[:k*seed], z[at*m.Dim:], m.SeedW, m.SeedB)
		if err := m.Decoder.Infer(pictures[at*size:(at+k)*size], h[:k*seed], m.DecoderTheta, m.DecoderStats, k); err != nil {
			return err
		}
	}
	for i, v := range pictures[:n*size] {
		pictures[i] = sigmoid(v + m.Background[i%size])
	}
	return nil
}

// Calibrate measures the moments of batch normalisation over the given frames, in this order, with the current weights.
func (m *Model) Calibrate(c *video.Clip, frames []int) error {
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
		numeric.Affine(z[:k*m.Dim], h, m.MeanW, m.MeanB)
		addClock(z[:k*m.Dim], m.Clock(c, frames[at:at+k]), m.MeanT)
		numeric.Affine(g[:k*seed], z, m.SeedW, m.SeedB)
		if err := m.Decoder.Forward(y[:k*size], g[:k*seed], m.DecoderTheta, k); err != nil {
			return err
		}
		decoder.add(m.Decoder.Stats(), k)
	}
	m.EncoderStats, m.DecoderStats = encoder.moments(), decoder.moments()
	return nil
}

// MeanLogit returns the logit of the clip's mean picture.
func MeanLogit(c *video.Clip) []float32 {
	const edge = 0.01 // a mean of 0 or 1 has no logit
	mean := numeric.MeanRow(c.Pixels, c.Len(), c.Size())
	for i, v := range mean {
		p := float64(min(max(v, edge), 1-edge))
		mean[i] = float32(math.Log(p / (1 - p)))
	}
	return mean
}

// uniform draws n weights uniformly from ±1/√fanIn, PyTorch's default for linear layers.
func uniform(n, fanIn int, rng *rand.Rand) []float32 {
	k, w := 1/math.Sqrt(float64(fanIn)), make([]float32, n)
	for i := range w {
		w[i] = float32((2*rng.Float64() - 1) * k)
	}
	return w
}

// Weights lists the model's learnt tensors, for copying and archives.
func (m *Model) Weights() []*[]float32 {
	return []*[]float32{&m.EncoderTheta, &m.DecoderTheta, &m.MeanW, &m.LogSDW, &m.BelowW, &m.MeanB, &m.LogSDB, &m.BelowB,
		&m.MeanT, &m.LogSDT, &m.BelowT, &m.SeedW, &m.SeedB, &m.LogSigma}
}

// Clone copies the weights. The copy shares the networks, which m owns.
func (m *Model) Clone() *Model {
	c := *m
	for _, w := range c.Weights() {
		*w = slices.Clone(*w)
	}
	drift := *m.Drift
	drift.Weights = slices.Clone(m.Drift.Weights)
	c.Drift = &drift
	return &c
}

// Adopt copies the weights of a clone into m.
func (m *Model) Adopt(c *Model) {
	for i, w := range m.Weights() {
		copy(*w, *c.Weights()[i])
	}
	m.EncoderStats, m.DecoderStats, m.Drift = c.EncoderStats, c.DecoderStats, c.Drift
}
