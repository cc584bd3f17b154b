package online

import (
	"iter"
	"math"
	"slices"

	"driftscope/internal/latent"
)

// steps are a recording's transitions as the posterior sees them, doc.go (12): each dimension in units of its √v, so that σ = 1 in all,
// and through one Kalman filter that takes the noise out. Without noise they are the transitions as measured.
type steps struct {
	dim   int
	x     []float64 // the filtered latent where each began, n×dim, s^½
	dx    []float64 // the surprise at its end, n×dim, s^½: a constant drift μ makes it μ·dt on average
	dt    []float64 // n, s: the variance of dx
	share []float64 // n: of the drift where the step began in what moves dx; the earlier ones have the rest
	clip  float64   // s, of the recording that they are part of, where that is longer: drifts are expected to matter over it
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

// part are the steps from from up to to. What moved the first before is taken to have been where it began.
func (s *steps) part(from, to int) *steps {
	share := slices.Clone(s.share[from:to])
	share[0] = 1
	return &steps{dim: s.dim, clip: s.clip, x: s.x[from*s.dim : to*s.dim], dx: s.dx[from*s.dim : to*s.dim], dt: s.dt[from:to], share: share}
}

// lens is how the latents of the active dimensions are seen: in units of their root √v, through a filter, less what a known drift does.
type lens struct {
	active []int
	root   []float64 // √v of each
	noise  float64   // R, in those units; one gain serves all dimensions
	known  *Network  // nil for none
}

// newLens sees the dimensions that move. The noise is the mean of theirs.
func newLens(found []diffusion, activity []latent.Activity, known *Network) *lens {
	v := &lens{known: known}
	for i, a := range activity {
		if a == latent.Active {
			v.active, v.root = append(v.active, i), append(v.root, math.Sqrt(found[i].v))
			v.noise += found[i].noise / found[i].v
		}
	}
	v.noise /= max(1, float64(len(v.active)))
	return v
}

// steps filters a track.
func (v *lens) steps(t *track) *steps {
	d := len(v.active)
	s := &steps{dim: d}
	f := &sieve{z: make([]float64, d), known: make([]float64, d), noise: v.noise}
	m, mu, z, scratch := make([]float64, d), make([]float64, d), make([]float64, t.dim), make([]float64, t.dim)
	var working Scratch
	for k, dt := range t.dt {
		row := t.row(k)
		for i, at := range v.active {
			m[i] = row[at] / v.root[i]
		}
		if dt == 0 {
			f.start(m)
		} else {
			if v.known != nil {
				copy(z, t.row(k-1))
				for i, at := range v.active {
					z[at] = f.z[i] * v.root[i]
				}
				v.known.Drift(scratch, z, &working)
				for i, at := range v.active {
					mu[i] = scratch[at] / v.root[i]
				}
			}
			f.step(s, m, mu, dt)
		}
	}
	return s
}

// sieve follows a path of σ = 1 without drift, measured with noise, and how its forecast answers to a constant one, doc.go (11), and to
// the drift that is known.
type sieve struct {
	z        []float64 // filtered
	p        float64   // its variance
	noise    float64   // R
	response float64   // ∂(forecast)/∂μ, of which
	left     float64   // this part outlasts the last measurement
	known    []float64 // what of the forecast's error the known drift explains
}

func (f *sieve) start(m []float64) {
	copy(f.z, m)
	clear(f.known)
	f.p, f.response, f.left = f.noise, 0, 0
}

// step folds in measurement m, taken dt after the last, where the known drift is mu, and appends to s.
func (f *sieve) step(s *steps, m, mu []float64, dt float64) {
	f.response = f.left*f.response + dt
	predicted := f.p + dt
	variance := predicted + f.noise
	gain := predicted / variance
	s.x = append(s.x, f.z...)
	for i, v := range m {
		f.known[i] = f.left*f.known[i] + dt*mu[i]
		e := v - f.z[i]
		s.dx = append(s.dx, (e-f.known[i])*f.response/variance)
		f.z[i] += gain * e
	}
	s.dt = append(s.dt, f.response*f.response/variance)
	s.share = append(s.share, dt/f.response)
	f.p, f.left = gain*f.noise, 1-gain
}
