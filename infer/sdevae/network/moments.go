package network

import "driftscope/infer/sdevae/dnnl"

// pool combines the moments of several batches into the moments of all their frames: Var = E[var + mean²] - E[mean]².
type pool struct {
	n            float64
	mean, second [][]float64
}

// add adds a batch of k frames.
func (p *pool) add(stats []dnnl.Moments, k int) {
	if p.mean == nil {
		for _, s := range stats {
			p.mean = append(p.mean, make([]float64, len(s.Mean)))
			p.second = append(p.second, make([]float64, len(s.Mean)))
		}
	}
	p.n += float64(k)
	for l, s := range stats {
		for c := range s.Mean {
			mean, variance := float64(s.Mean[c]), float64(s.Var[c])
			p.mean[l][c] += float64(k) * mean
			p.second[l][c] += float64(k) * (variance + mean*mean)
		}
	}
}

// moments returns the combined moments, one entry per normalisation layer.
func (p *pool) moments() []dnnl.Moments {
	out := make([]dnnl.Moments, len(p.mean))
	for l := range out {
		out[l] = dnnl.Moments{Mean: make([]float32, len(p.mean[l])), Var: make([]float32, len(p.mean[l]))}
		for c := range p.mean[l] {
			mean := p.mean[l][c] / p.n
			out[l].Mean[c] = float32(mean)
			out[l].Var[c] = float32(max(p.second[l][c]/p.n-mean*mean, 0))
		}
	}
	return out
}
