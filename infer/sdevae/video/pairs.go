package video

import "slices"

// FramesOf lists the frames in the pairs, in order and without repetition.
func FramesOf(pairs []Pair) []int {
	var frames []int
	for _, p := range pairs {
		frames = append(frames, p.First, p.First+1)
	}
	slices.Sort(frames)
	return slices.Compact(frames)
}

// Pair is two consecutive frames of one trajectory, First and First+1, DT seconds apart.
type Pair struct {
	First int
	DT    float64
}

// Pairs lists the pairs of consecutive frames in the same trajectory with 0 < Δt ≤ maxGap.
func (c *Clip) Pairs(maxGap float64) []Pair {
	var pairs []Pair
	for i := range c.Len() - 1 {
		dt := c.Times[i+1] - c.Times[i]
		if c.Trajectory[i] == c.Trajectory[i+1] && dt > 0 && dt <= maxGap {
			pairs = append(pairs, Pair{i, dt})
		}
	}
	return pairs
}

// RowsOf returns, for each pair, the indices of its two frames in frames.
func RowsOf(frames []int, pairs []Pair) [][2]int {
	out := make([][2]int, len(pairs))
	for k, p := range pairs {
		first, _ := slices.BinarySearch(frames, p.First)
		out[k] = [2]int{first, first + 1}
	}
	return out
}

// Split divides the pairs into training and held-out pairs: every tenth block of consecutive pairs is held out. Pairs that share a frame with a held-out block
// belong to neither.
func Split(pairs []Pair) (train, held []Pair) {
	const parts = 10
	block := max(len(pairs)/(parts*4), 2)
	isHeld := func(k int) bool { return k >= 0 && k < len(pairs) && (k/block)%parts == parts/2 }
	for k, p := range pairs {
		switch {
		case isHeld(k):
			held = append(held, p)
		case isHeld(k-1) || isHeld(k+1):
		default:
			train = append(train, p)
		}
	}
	return train, held
}
