package pooled

import "driftscope/online/states"

// longest is how many steps a piece of a track has: of as many ln D is known to an eighth, and the memory of an object that stays for hours is bounded.
const longest = 64

// Trail is the latest steps of one object. The zero value has none.
type Trail struct {
	steps []states.Step
	scale []float64 // variance of each place, px²
}

// Step takes in a step of an object, and the variance of the places at its ends along an axis, px². The piece of its track that is full with it is given to
// keep.
func (t *Trail) Step(s states.Step, from, to float64, keep func(states.Segment)) {
	if len(t.steps) == 0 {
		t.scale = append(t.scale[:0], from)
	}
	t.steps, t.scale = append(t.steps, s), append(t.scale, to)
	if len(t.steps) == longest {
		t.Cut(keep)
	}
}

// Cut has the next step begin another piece, and gives the one so far to keep. It returns that piece, too; it has no steps where there was none.
func (t *Trail) Cut(keep func(states.Segment)) (piece states.Segment) {
	if len(t.steps) > 0 {
		piece = t.segment()
		keep(piece)
	}
	t.Forget()
	return piece
}

// Forget drops the piece so far.
func (t *Trail) Forget() { t.steps, t.scale = t.steps[:0], t.scale[:0] }

// segment is a copy of the piece so far.
func (t *Trail) segment() states.Segment {
	s := states.Segment{Steps: append([]states.Step(nil), t.steps...), Weight: 1}
	for _, v := range t.scale {
		if !(v > 0) { // not known of every place: all are alike
			return s
		}
	}
	s.Scale = append([]float64(nil), t.scale...)
	return s
}

// Segment is a copy of the piece so far; false where there is no step.
func (t *Trail) Segment() (states.Segment, bool) { return t.segment(), len(t.steps) > 0 }
