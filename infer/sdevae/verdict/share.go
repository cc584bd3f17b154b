package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"driftscope/infer/sdevae/video"
)

// Doubted is the rate of false alarms at a one-sided limit.
const Doubted = 0.05

// mostBlocks is the largest number of blocks of a series. With 16 blocks, Student's factor is within 7 % of the normal factor, and the blocks are still long
// compared with the correlation time.
const mostBlocks = 16

// Share is a ratio of two means.
type Share struct {
	Value     float64
	Low, High float64 // one-sided limits, each at Doubted; infinite if there are fewer than two blocks
	Error     float64 // standard error
}

// shareOf returns Σ num / Σ den with the standard error of a ratio over blocks, whose sums are assumed independent:
//
//	s² = B/(B-1) Σ (num_b - share·den_b)² / (Σ den)²
func shareOf(num, den []float64, block []int) Share {
	blocks := 0
	for _, b := range block {
		blocks = max(blocks, b+1)
	}
	whole := floats.Sum(den)
	s := Share{Value: floats.Sum(num) / whole, Low: math.Inf(-1), High: math.Inf(1), Error: math.Inf(1)}
	if blocks < 2 {
		return s
	}
	off := make([]float64, blocks)
	for k, b := range block {
		off[b] += num[k] - s.Value*den[k]
	}
	n := float64(blocks)
	s.Error = math.Sqrt(n/(n-1)*floats.Dot(off, off)) / math.Abs(whole)
	reach := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1-Doubted) * s.Error
	s.Low, s.High = s.Value-reach, s.Value+reach
	return s
}

// percent formats a share with its standard error, with the digits that the error justifies.
func percent(value, deviation float64) string {
	digits := 1
	if deviation >= 0.1 {
		digits = 0
	}
	return fmt.Sprintf("%.*f ± %.*f %%", digits, 100*value, digits, 100*deviation)
}

// blocksOf assigns each of the increasing numbers to one of at most mostBlocks blocks. A block is a run of consecutive numbers or, if there are too many runs,
// several runs. If parts is true, runs may be cut into blocks.
func blocksOf(numbers []int, parts bool) []int {
	block := make([]int, len(numbers))
	runs := 0
	for k := range numbers {
		if k > 0 && numbers[k] != numbers[k-1]+1 {
			runs++
		}
		block[k] = runs
	}
	runs++
	for k := range block {
		switch {
		case runs > mostBlocks:
			block[k] = block[k] * mostBlocks / runs
		case parts:
			block[k] = k * mostBlocks / len(numbers)
		}
	}
	return block
}

// firsts returns the pairs' first frames.
func firsts(pairs []video.Pair) []int {
	out := make([]int, len(pairs))
	for k, p := range pairs {
		out[k] = p.First
	}
	return out
}
