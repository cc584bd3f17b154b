package network

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/numeric"
)

// InitWidths sets the posterior's widths for latents of variance 1. The ratio of widths to the latents' standard deviations stays the same on average.
func (m *Model) InitWidths(before *Posteriors) {
	share := 0.0
	for i := range m.Dim {
		sd := stat.StdDev(numeric.Column(before.Mean, i, m.Dim), nil)
		for _, v := range numeric.Column(before.LogDiag, i, m.Dim) {
			share += math.Exp(v) / (sd + 1e-12) / float64(len(before.Mean))
		}
	}
	for _, w := range [][]float32{m.LogSDW, m.LogSDT, m.BelowW, m.BelowB, m.BelowT} {
		clear(w)
	}
	for i := range m.LogSDB {
		m.LogSDB[i] = float32(math.Log(min(max(share, 1e-3), 1)))
	}
}

// AlignDecoder changes the decoder's first layer so that the latents `after` (n × d) give the same pictures as the latents `before`, as far as an affine map
// relates the two.
func (m *Model) AlignDecoder(before, after *mat.Dense) error {
	n, d := after.Dims()
	wider := mat.NewDense(n, d+1, nil)
	for i := range n {
		copy(wider.RawRowView(i), after.RawRowView(i))
		wider.Set(i, d, 1)
	}
	var back, turned mat.Dense
	if back.Solve(wider, before) != nil {
		return errors.New("the re-initialised latents do not vary: give a longer clip")
	}
	turned.Mul(&back, mat.NewDense(d, len(m.SeedB), numeric.Float64s(m.SeedW)))
	copy(m.SeedW, numeric.Float32s(turned.RawMatrix().Data[:len(m.SeedW)]))
	for j, v := range turned.RawRowView(d) {
		m.SeedB[j] += float32(v)
	}
	return nil
}
