package pooled

import "driftscope/online/states"

// What is remembered. By 65,536 steps D is known to a two-hundredth; the law of as many takes a second or two; likelihoods of 8,192 pieces over a
// grid take 6 MB.
const (
	mostSteps  = 1 << 16
	mostPieces = 1 << 13
)

// memory is the pieces of tracks that have ended, the oldest first.
type memory struct {
	pieces []states.Segment
	steps  int
}

// keep takes in a piece, and forgets the oldest beyond what is remembered.
func (m *memory) keep(s states.Segment) {
	m.pieces, m.steps = append(m.pieces, s), m.steps+len(s.Steps)
	drop := 0
	for m.steps > mostSteps || len(m.pieces)-drop > mostPieces {
		m.steps -= len(m.pieces[drop].Steps)
		drop++
	}
	if drop > 0 {
		m.pieces = append(m.pieces[:0], m.pieces[drop:]...) // what a worker was given is a copy
	}
}

// with are the pieces with those of live objects, at most as many as are remembered: of the pieces the latest.
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

// thin returns every second, third or further piece, so that they have about most steps; or all, if most is 0 or they have fewer. It overwrites pieces.
func thin(pieces []states.Segment, most int) []states.Segment {
	if most == 0 {
		return pieces
	}
	steps := 0
	for i := range pieces {
		steps += len(pieces[i].Steps)
	}
	stride := max((steps+most-1)/most, 1)
	kept := pieces[:0]
	for i := 0; i < len(pieces); i += stride {
		kept = append(kept, pieces[i])
	}
	return kept
}
