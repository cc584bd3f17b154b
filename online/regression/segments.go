// Diffusion that changes
//
// Each part of the past counts by its own σ. Each step's Δx²/Δt is σ² on average, the mean over dimensions; with n of them
// in a segment and Q their sum, the ln evidence for one unknown σ² there is, but for constants, ln Γ(a) - a ln(1 + Q/2), a = 1 + n/2. Of all ways to cut the K
// blocks of 20 steps, at a cost of ln(200 K) per cut, the likeliest is taken. Δx and Δt of (12) are then divided by
// their segment's σ². Otherwise more diffusion looks like another drift, and steps with less diffusion hardly count.

package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// segmentCost is the odds, times the number of places, against which σ² must change.
const segmentCost = 200

// weigh divides each segment of the steps by the σ² of the latents in it, the mean over dimensions.
func (s *Steps) weigh() {
	from := 0
	for _, to := range s.segments() {
		square := s.square(from, to) / float64((to-from)*s.dim)
		if square > 0 {
			floats.Scale(1/square, s.dx[from*s.dim:to*s.dim])
			floats.Scale(1/square, s.dt[from:to])
		}
		from = to
	}
}

// square returns Σ Δx²/Δt from one step up to another, over dimensions: σ² on average.
func (s *Steps) square(from, to int) (sum float64) {
	for k := from; k < to; k++ {
		dx, dt := s.row(k)
		sum += floats.Dot(dx, dx) / dt
	}
	return sum
}

// segments returns the steps before which σ² changed, and the number of steps: the likeliest of all ways to cut the steps between blocks.
func (s *Steps) segments() []int {
	blocks := (s.Len() + changeBlock - 1) / changeBlock
	cost := math.Log(segmentCost * float64(blocks))
	squares, best, before := make([]float64, 1+blocks), make([]float64, 1+blocks), make([]int, 1+blocks)
	end := func(block int) int { return min(block*changeBlock, s.Len()) }
	for to := 1; to <= blocks; to++ {
		squares[to] = squares[to-1] + s.square(end(to-1), end(to))
		best[to] = math.Inf(-1)
		for from := range to {
			score := best[from] + spreadEvidence((end(to)-end(from))*s.dim, squares[to]-squares[from])
			if from > 0 {
				score -= cost
			}
			if score > best[to] {
				best[to], before[to] = score, from
			}
		}
	}
	var cuts []int
	for to := blocks; to > 0; to = before[to] {
		cuts = append(cuts, end(to))
	}
	slices.Reverse(cuts)
	return cuts
}

// spreadEvidence returns the ln evidence, up to a constant that depends on n only, of n numbers around 0 with a given sum of squares and unknown variance,
// whose inverse has a Gamma prior of shape and rate 1.
func spreadEvidence(n int, square float64) float64 {
	shape := 1 + float64(n)/2
	gamma, _ := math.Lgamma(shape)
	return gamma - shape*math.Log(1+square/2)
}
