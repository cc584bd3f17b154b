package online

import "iter"

// steps are a recording's transitions as the posterior sees them, doc.go (15): each dimension in units of its √v, so that σ = 1 in all,
// and through one Kalman filter that takes the noise out. Without noise they are the transitions as measured.
type steps struct {
	dim   int
	x     []float64 // the filtered latent where each began, n×dim, s^½
	dx    []float64 // the surprise at its end, n×dim, s^½: a constant drift μ makes it μ·dt on average
	dt    []float64 // n, s: the variance of dx
	share []float64 // n: of the drift where the step began in what moves dx; the earlier ones have the rest
}

func (s *steps) len() int { return len(s.dt) }

// row lends the surprise of step k and its dt.
func (s *steps) row(k int) (dx []float64, dt float64) { return s.dx[k*s.dim : (k+1)*s.dim], s.dt[k] }

// averaged yields, step by step, what of a field moves dx: its average over where this step and those before began. The row is lent
// until the next.
func (s *steps) averaged(width int, field func(dst, x []float64)) iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		now, mean := make([]float64, width), make([]float64, width)
		for k, share := range s.share {
			field(now, s.x[k*s.dim:(k+1)*s.dim])
			for i, v := range now {
				mean[i] += share * (v - mean[i])
			}
			if !yield(k, mean) {
				return
			}
		}
	}
}

// steps filters the latents of the active dimensions, in units of their root √v. One gain serves all: the noise is the mean of theirs.
func (r *recording) steps(active []int, root []float64) *steps {
	noise := 0.0
	for _, at := range active {
		noise += r.found[at].noise / r.found[at].v / float64(len(active))
	}
	s := &steps{dim: len(active)}
	f := filter{z: make([]float64, s.dim), noise: noise}
	m := make([]float64, s.dim)
	scaled := func(k int) []float64 {
		for i, at := range active {
			m[i] = r.latents[k].Mean[at] / root[i]
		}
		return m
	}
	at := 0
	for _, run := range r.runs() {
		f.start(scaled(run.from))
		for k := run.from + 1; k < run.to; k++ {
			f.step(s, scaled(k), r.dt[at])
			at++
		}
	}
	return s
}

// filter follows a path of σ = 1 without drift, measured with noise, and how its forecast answers to a constant one, doc.go (14).
type filter struct {
	z        []float64 // filtered
	p        float64   // its variance
	noise    float64   // R
	response float64   // ∂(forecast)/∂μ, of which
	left     float64   // this part outlasts the last measurement
}

func (f *filter) start(m []float64) {
	copy(f.z, m)
	f.p, f.response, f.left = f.noise, 0, 0
}

// step folds in measurement m, taken dt after the last, and appends to s.
func (f *filter) step(s *steps, m []float64, dt float64) {
	f.response = f.left*f.response + dt
	predicted := f.p + dt
	variance := predicted + f.noise
	gain := predicted / variance
	s.x = append(s.x, f.z...)
	for i, v := range m {
		e := v - f.z[i]
		s.dx = append(s.dx, e*f.response/variance)
		f.z[i] += gain * e
	}
	s.dt = append(s.dt, f.response*f.response/variance)
	s.share = append(s.share, dt/f.response)
	f.p, f.left = gain*f.noise, 1-gain
}
