// Diffusion that changes
//
// Each segment of the past is weighted by its own σ. On average, Δx²/Δt of a step is σ², in each dimension. If a segment has n such values with the sum Q,
// the ln evidence for one unknown σ² in it is, up to constants, ln Γ(a) - a ln(1 + Q/2), a = 1 + n/2. The segments are the likeliest of all ways to cut the K
// blocks of 20 steps, at a cost of ln(200 K) per cut. Δx and Δt of (12) are then divided by the segment's σ². Otherwise more diffusion would look like
// another drift, and steps with less diffusion would hardly count.

package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// segmentCost is the prior odds against a change of σ² at one of the possible positions.
const segmentCost = 200

// weigh divides each segment of the steps by its own σ², the mean over dimensions.
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

// square returns Σ Δx²/Δt over dimensions and over the steps in [from, to). Each term is σ² on average.
func (s *Steps) square(from, to int) (sum float64) {
	for k := from; k < to; k++ {
		dx, dt := s.row(k)
		sum += floats.Dot(dx, dx) / dt
	}
	return sum
}

// segments returns the ends of the segments with constant σ²: the likeliest of all ways to cut the steps between blocks.
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

// spreadEvidence returns the ln evidence of n numbers around 0 with the given sum of squares and an unknown variance, up to a constant that depends on n
// only. The inverse variance has a Gamma prior of shape and rate 1.
func spreadEvidence(n int, square float64) float64 {
	shape := 1 + float64(n)/2
	gamma, _ := math.Lgamma(shape)
	return gamma - shape*math.Log(1+square/2)
}
