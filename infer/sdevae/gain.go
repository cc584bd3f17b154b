package sdevae

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// The decoder's slopes are finite differences. gainStep is their step as a fraction of a latent's standard deviation, gainFrames the number of frames averaged.
const (
	gainStep   = 0.1
	gainFrames = 100
)

// measureGain measures the decoder's gain for the l1 term. It is the root mean square over frames of |∂f/∂zᵢ|, in picture units, divided by the norm of the row
// of weights through which zᵢ enters the decoder.
func (s *session) measureGain() error {
	m, frames := s.model, numeric.Spread(video.FramesOf(s.job.train), gainFrames)
	n, d, size, seed := len(frames), m.Dim, s.job.clip.Size(), m.Decoder.In().Size()
	_, p, err := m.Read(s.job.clip, frames)
	if err != nil {
		return err
	}
	here, there := make([]float32, n*size), make([]float32, n*size)
	if err := m.Decode(here, p.Mean, n); err != nil {
		return err
	}
	for i := range d {
		h := gainStep * stat.StdDev(numeric.Column(p.Mean, i, d), nil)
		z := append([]float32(nil), p.Mean...)
		for k := range n {
			z[k*d+i] += float32(h)
		}
		if err := m.Decode(there, z, n); err != nil {
			return err
		}
		var row float64
		for _, w := range m.SeedW[i*seed : (i+1)*seed] {
			row += float64(w) * float64(w)
		}
		s.graph.Gain.Data().([]float32)[i] = float32(math.Sqrt(numeric.SquaredError(there, here) / (float64(n) * h * h) / row))
	}
	return nil
}
