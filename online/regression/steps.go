package regression

import (
	"iter"
	"slices"
)

// Steps are a recording's transitions in the form of the posterior, (12): each dimension in units of its √v, so that σ = 1 in all, and through one Kalman
// filter that removes the noise. Without noise they are the transitions as measured.
type Steps struct {
	dim     int
	x       []float64 // the filtered latent where each began, n×dim, s^½
	dx      []float64 // the innovation at its end, n×dim, s^½: a constant drift μ makes it μ·dt on average
	dt      []float64 // n, s: the variance of dx
	share   []float64 // n: share of the drift at the step's start in dx; the rest belongs to earlier starts
	longest float64   // s, of the recording that contains them, if that is longer: the prior expects drifts to matter over it
}

// Len returns the number of transitions.
func (s *Steps) Len() int { return len(s.dt) }

// PartOf marks the steps as part of a recording of that many seconds: the prior expects drifts to matter over all of it.
func (s *Steps) PartOf(seconds float64) { s.longest = seconds }

// row lends the innovation of step k and its dt.
func (s *Steps) row(k int) (dx []float64, dt float64) { return s.dx[k*s.dim : (k+1)*s.dim], s.dt[k] }

// averaged yields, step by step, the part of a field that moves dx: its average over the starts of this step and the earlier ones. The row is lent
// until the next.
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

// part returns the steps from from up to to. It places the earlier motion of the first step at its beginning.
func (s *Steps) part(from, to int) *Steps {
	share := slices.Clone(s.share[from:to])
	share[0] = 1
	return &Steps{dim: s.dim, longest: s.longest, x: s.x[from*s.dim : to*s.dim], dx: s.dx[from*s.dim : to*s.dim], dt: s.dt[from:to], share: share}
}
