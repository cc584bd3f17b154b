package objects

import (
	"math"

	"driftscope/online/exact"
)

// judged is the number of last positions that a verdict uses. They give the exponent to 0.1; a thousand objects take 3 MB.
const judged = 128

// spot is a position of an object, px, and its time, s.
type spot struct{ x, y, t float64 }

// way holds the last positions of an object. Its memory grows with their number, up to judged.
type way struct {
	places []spot // a ring once it is full
	n      int    // positions added so far
}

func (w *way) add(p spot) {
	if w.n < judged {
		w.places = append(w.places, p)
	} else {
		w.places[w.n%judged] = p
	}
	w.n++
}

// cut drops all positions.
func (w *way) cut() { w.places, w.n = w.places[:0], 0 }

// track returns the positions, oldest first. Their times are in frames of the given length, s.
func (w *way) track(frame float64) exact.Track {
	t := make(exact.Track, len(w.places))
	first := w.places[max(w.n-judged, 0)%judged].t
	for i := range t {
		p := &w.places[(max(w.n-judged, 0)+i)%judged]
		t[i] = exact.Place{Frame: int(math.Round((p.t - first) / frame)), X: p.x, Y: p.y}
		if i > 0 {
			t[i].Frame = max(t[i].Frame, t[i-1].Frame+1)
		}
	}
	return t
}
