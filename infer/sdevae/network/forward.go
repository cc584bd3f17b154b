package network

import (
	"math"

	"gorgonia.org/tensor"

	"driftscope/infer/sdevae/numeric"
)

// ForwardPass runs the forward half of a graph on the graph's tensors. It does not use Gorgonia, which cannot run half a graph.
type ForwardPass struct {
	model         *Model
	graph         *Graph
	features, sd  []float32
	z, seed       []float32
	drawn         *tensor.Dense
	reconstructed *reconstruction
}

// NewForwardPass returns a pass that reads m and the tensors of g. It does not own them.
func NewForwardPass(m *Model, g *Graph, tau float64) *ForwardPass {
	n, d := g.X.Shape()[0], m.Dim
	return &ForwardPass{model: m, graph: g, features: make([]float32, n*m.Encoder.Out().Size()), sd: make([]float32, n*d), z: make([]float32, n*d),
		seed: make([]float32, n*m.Decoder.In().Size()), drawn: zeros(n, m.Decoder.Out().Size()), reconstructed: newReconstruction(g.X, m.Background, tau)}
}

// Run computes features, latents, pictures and the pictures' error.
func (p *ForwardPass) Run() error {
	m, n := p.model, p.graph.X.Shape()[0]
	if err := m.Encoder.Forward(p.features, p.graph.X.Data().([]float32), m.EncoderTheta, n); err != nil {
		return err
	}
	numeric.Affine(p.z, p.features, m.MeanW, m.MeanB)
	numeric.Affine(p.sd, p.features, m.LogSDW, m.LogSDB)
	for i, eps := range p.graph.Eps.Data().([]float32) {
		p.z[i] += float32(math.Exp(float64(p.sd[i]))) * eps
	}
	numeric.Affine(p.seed, p.z, m.SeedW, m.SeedB)
	if err := m.Decoder.Forward(p.drawn.Data().([]float32), p.seed, m.DecoderTheta, n); err != nil {
		return err
	}
	_, err := p.reconstructed.Do(p.drawn)
	return err
}
