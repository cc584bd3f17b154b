package pooled

import (
	"math"

	"driftscope/online/states"
)

// Bounds of the memory. 65,536 steps give D to 1/200, and learning their law takes a second or two. The likelihoods of 8,192 pieces over a grid take 6 MB.
const (
	mostSteps  = 1 << 16
	mostPieces = 1 << 13
)

// memory holds the pieces of ended tracks, oldest first.
type memory struct {
	pieces []states.Segment
	steps  int
}

// keep adds a piece and drops the oldest pieces beyond the bounds.
func (m *memory) keep(s states.Segment) {
	m.pieces, m.steps = append(m.pieces, s), m.steps+len(s.Steps)
	drop := 0
	for m.steps > mostSteps || len(m.pieces)-drop > mostPieces {
		m.steps -= len(m.pieces[drop].Steps)
		drop++
	}
	if drop > 0 {
		m.pieces = append(m.pieces[:0], m.pieces[drop:]...) // workers use copies
	}
}

// with returns the remembered and the live pieces within the bounds. It drops the oldest pieces first.
func (m *memory) with(live []states.Segment) []states.Segment {
	steps := 0
	for i := range live {
		steps += len(live[i].Steps)
	}
	from, kept := 0, m.steps
	for from < len(m.pieces) && (kept+steps > mostSteps || len(m.pieces)-from+len(live) > mostPieces) {
		kept -= len(m.pieces[from].Steps)
		from++
	}
	all := append(append([]states.Segment(nil), m.pieces[from:]...), live...)
	return all[max(len(all)-mostPieces, 0):]
}

// thin returns pieces in order, with about most steps. It returns all if most is 0 or they have fewer. It reuses the memory of pieces. The fractional part of
// i times the golden section decides on piece i, so the choice is independent of the order of objects.
func thin(pieces []states.Segment, most int) []states.Segment {
	steps := 0
	for i := range pieces {
		steps += len(pieces[i].Steps)
	}
	if most == 0 || steps <= most {
		return pieces
	}
	const golden = 0.6180339887498949
	kept, sum := pieces[:0], 0
	for i := range pieces {
		if _, at := math.Modf(float64(i) * golden); at*float64(steps) < float64(most) && (sum == 0 || sum+len(pieces[i].Steps) <= most) {
			kept, sum = append(kept, pieces[i]), sum+len(pieces[i].Steps)
		}
	}
	return kept
}
