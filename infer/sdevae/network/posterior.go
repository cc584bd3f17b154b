package network

import (
	"math"
)

// Posteriors holds q(z|x) = N(m, L L') for n frames. L is lower triangular. Its diagonal is exp(LogDiag), and Below has the entries below the diagonal, row by
// row. Below is empty if the posterior is diagonal.
type Posteriors struct {
	Dim     int
	Mean    []float32 // n × d
	LogDiag []float32 // n × d
	Below   []float32 // n × d(d-1)/2
}

// NewPosteriors returns n standard normal posteriors in d dimensions, of the given form.
func NewPosteriors(n, d int, form Posterior) *Posteriors {
	p := &Posteriors{Dim: d, Mean: make([]float32, n*d), LogDiag: make([]float32, n*d)}
	if form == Cholesky {
		p.Below = make([]float32, n*CovarianceTerms(d))
	}
	return p
}

// CovarianceTerms returns the number of entries under the diagonal of a d × d matrix.
func CovarianceTerms(d int) int { return d * (d - 1) / 2 }

// Root writes L of frame k to dst, d × d, row by row.
func (p *Posteriors) Root(dst []float64, k int) {
	d := p.Dim
	clear(dst[:d*d])
	at := k * CovarianceTerms(d)
	for i := range d {
		dst[i*d+i] = math.Exp(float64(p.LogDiag[k*d+i]))
		if len(p.Below) == 0 {
			continue
		}
		for j := range i {
			dst[i*d+j] = float64(p.Below[at])
			at++
		}
	}
}

// variances returns the diagonal of L L', n × d.
func (p *Posteriors) variances() []float64 {
	d := p.Dim
	out, l := make([]float64, len(p.Mean)), make([]float64, d*d)
	for k := range len(out) / d {
		p.Root(l, k)
		for i := range d {
			for _, v := range l[i*d : i*d+i+1] {
				out[k*d+i] += v * v
			}
		}
	}
	return out
}

// Entropy returns the mean of ln det L over the frames.
func (p *Posteriors) Entropy() float64 {
	var sum float64
	for _, v := range p.LogDiag {
		sum += float64(v)
	}
	return sum * float64(p.Dim) / float64(len(p.LogDiag))
}
