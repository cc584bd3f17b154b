// Too few dimensions
//
// If the latents contain everything that moves them, the residuals of the steps (12), e = (Δx - μΔt)/√Δt, are white. A hidden coordinate, which the latents
// do not show, correlates successive e. If it has a memory of τ steps and the share a of the variance,
//
//	e = √a x + √(1-a) w;  x ← φx + √(1-φ²) w';  φ = exp(-1/τ);  w, w' ~ N(0, 1)                (21)
//
// and a Kalman filter of x gives Λ, the likelihood ratio of (21) to e = w. Both have the same variance, so an error in σ² matters little. Hidden is the mean
//
//	Λ̄ over τ = 8, 16, .. 256,  aτ = 1, 4,  and one of the dimensions or all of them             (22)
//
// over the steps since the drift last changed. For white e, it exceeds k at most once in k times. Refinement computes it every 50 frames or less often.
// too_few_dimensions begins at 50 Λ̄ > A and ends at A/100, so it is false at most once in A frames. The actual rate is far lower, because the drift was
// learnt from the same steps and explains some of their correlation. In 288 recordings of two springs, circles, double wells and constant drifts, 1000 and
// 4000 frames long, r from 0 to 9, the largest Λ̄ was 2.0; A = 1e5 needs 2000, and the smallest A needs 20. In 56 noiseless recordings of the paper's laws
// and of double wells in six dimensions it was 0.4. A hidden coordinate stays undetected if a law of the latents alone explains the motion: latents on a
// spring that closely follow the hidden coordinate nearly have such a law.

package regression

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Memories and shares of a hidden coordinate, (22).
var (
	hiddenMemories = [...]float64{8, 16, 32, 64, 128, 256} // memory τ in steps
	hiddenPowers   = [...]float64{1, 4}                    // its share a of a step's variance, times τ
)

// Hidden returns the likelihood ratio of a hidden coordinate that moves the latents to the mean drift with white noise alone. It averages over the
// coordinate's memory and share, and over an effect on one dimension or on all.
func (p *Posterior) Hidden(s *Steps) float64 {
	left, sum := p.residuals(s), 0.0
	for _, memory := range hiddenMemories {
		for _, power := range hiddenPowers {
			logs := coloured(left, memory, power/memory)
			sum += ratio(floats.Sum(logs))
			for _, l := range logs {
				sum += ratio(l) / float64(len(logs))
			}
		}
	}
	return sum / float64(2*len(hiddenMemories)*len(hiddenPowers))
}

// mostRatio is the upper bound of a likelihood ratio.
const mostRatio = 1e10

// ratio returns the likelihood ratio with the logarithm l.
func ratio(l float64) float64 { return min(math.Exp(l), mostRatio) }

// residuals returns the steps minus the mean drift, n×d, each dimension in units of its root mean square.
func (p *Posterior) residuals(s *Steps) *mat.Dense {
	left, square := mat.NewDense(s.Len(), s.dim, nil), make([]float64, s.dim)
	for k, mu := range s.averaged(s.dim, p.whitenedDrift) {
		dx, dt := s.row(k)
		for i, e := range dx {
			e = (e - mu[i]*dt) / math.Sqrt(dt)
			left.Set(k, i, e)
			square[i] += e * e
		}
	}
	left.Apply(func(_, i int, e float64) float64 {
		return e * math.Sqrt(float64(s.Len())/max(square[i], math.SmallestNonzeroFloat64))
	}, left)
	return left
}

// coloured returns, for each column of e, the log likelihood ratio of (21) to white noise.
func coloured(e *mat.Dense, memory, share float64) []float64 {
	n, d := e.Dims()
	logs, x := make([]float64, d), make([]float64, d)
	keep, root, p := math.Exp(-1/memory), math.Sqrt(share), 1.0
	for k := range n {
		s := 1 - share + share*p
		gain := root * p / s
		for i, v := range e.RawRowView(k) {
			innovation := v - root*x[i]
			logs[i] += (v*v - innovation*innovation/s - math.Log(s)) / 2
			x[i] = keep * (x[i] + gain*innovation)
		}
		p = 1 + keep*keep*(p-gain*root*p-1)
	}
	return logs
}
