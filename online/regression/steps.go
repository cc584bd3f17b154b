package regression

import (
	"iter"
	"slices"
)

// Steps are a recording's transitions in the form that the posterior needs, (12). Each dimension is in units of its √v, so σ = 1 in all, and a Kalman filter
// has removed the noise. Without noise they are the measured transitions.
type Steps struct {
	dim     int
	x       []float64 // the filtered latent at the start of each step, n×dim, s^½
	dx      []float64 // the scaled innovation at its end, n×dim, s^½; its mean is μ·dt for a constant drift μ
	dt      []float64 // n, s: the variance of dx
	share   []float64 // n: weight of the drift at the step's start in dx; the rest is from earlier starts
	longest float64   // length of the recording that contains the steps, s, if it is longer; the prior expects a visible drift over this time
}

// Len returns the number of transitions.
func (s *Steps) Len() int { return len(s.dt) }

// PartOf marks the steps as part of a recording of the given length. The prior expects a visible drift over this time.
func (s *Steps) PartOf(seconds float64) { s.longest = seconds }

// row lends the innovation of step k and its dt.
func (s *Steps) row(k int) (dx []float64, dt float64) { return s.dx[k*s.dim : (k+1)*s.dim], s.dt[k] }

// averaged yields for each step the field value that acts on dx: a weighted average over the starts of this step and of earlier steps. The yielded slice is
// valid until the next step.
func (s *Steps) averaged(width int, field func(dst, x []float64)) iter.Seq2[int, []float64] {
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

// part returns the steps in [from, to). The first of them forgets the starts of earlier steps.
func (s *Steps) part(from, to int) *Steps {
	share := slices.Clone(s.share[from:to])
	share[0] = 1
	return &Steps{dim: s.dim, longest: s.longest, x: s.x[from*s.dim : to*s.dim], dx: s.dx[from*s.dim : to*s.dim], dt: s.dt[from:to], share: share}
}
