package pooled

import "driftscope/online/states"

// longest is the number of steps of a full piece. A full piece gives ln D to an eighth. The limit bounds the memory of an object that stays for hours.
const longest = 64

// Trail holds the latest steps of one object. The zero value is empty.
type Trail struct {
	steps []states.Step
	scale []float64 // localisation variance of each position, px²
}

// Step adds a step, with the localisation variances at its ends along an axis, px². It passes a full piece to keep.
func (t *Trail) Step(s states.Step, from, to float64, keep func(states.Segment)) {
	if len(t.steps) == 0 {
		t.scale = append(t.scale[:0], from)
	}
	t.steps, t.scale = append(t.steps, s), append(t.scale, to)
	if len(t.steps) == longest {
		t.Cut(keep)
	}
}

// Cut ends the piece, passes it to keep and returns it. The piece has no steps if the trail was empty.
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

// segment copies the current piece.
func (t *Trail) segment() states.Segment {
	s := states.Segment{Steps: append([]states.Step(nil), t.steps...), Weight: 1}
	for _, v := range t.scale {
		if !(v > 0) { // unknown for one position: use equal variances
			return s
		}
	}
	s.Scale = append([]float64(nil), t.scale...)
	return s
}

// Segment returns a copy of the current piece, and false if it has no step.
func (t *Trail) Segment() (states.Segment, bool) { return t.segment(), len(t.steps) > 0 }
