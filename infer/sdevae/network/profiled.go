package network

import (
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"driftscope/online/drift"
)

// Profiled returns the qᵢ of the loss over the given pairs. Row k of p, and of clock if the model has a clock, belongs to frame frames[k].
func (m *Model) Profiled(p *Posteriors, clock []float32, frames []int, pairs []video.Pair) []float64 {
	d := m.Dim
	row := make(map[int]int, len(frames))
	for k, f := range frames {
		row[f] = k
	}
	variance := p.variances()
	q, z, next, scratch := make([]float64, d), make([]float64, m.Drift.Dim), make([]float64, m.Drift.Dim), new(drift.Scratch)
	for _, pair := range pairs {
		a, b := row[pair.First]*d, row[pair.First+1]*d
		numeric.Copy(z, p.Mean[a:a+d])
		if m.Span > 0 {
			z[d] = float64(clock[a/d])
		}
		m.integrate(next, z, pair.DT, scratch)
		for i := range d {
			e := float64(p.Mean[b+i]) - next[i]
			q[i] += (e*e + variance[a+i] + variance[b+i]) / (pair.DT * float64(len(pairs)))
		}
	}
	return q
}

// integrate moves z along the drift for dt, in Substeps Euler steps. If the model has a clock, it is the last coordinate of z and advances with time.
func (m *Model) integrate(dst, z []float64, dt float64, scratch *drift.Scratch) {
	mu := make([]float64, m.Drift.Dim)
	copy(dst, z)
	for range m.Substeps {
		m.Drift.Drift(mu, dst, scratch)
		if m.Span > 0 {
			mu[m.Dim] = 2 / m.Span
		}
		for i, v := range mu {
			dst[i] += v * dt / float64(m.Substeps)
		}
	}
}
