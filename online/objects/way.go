package objects

import (
	"math"

	"driftscope/online/exact"
)

// judged is the number of last places that a verdict uses. They give the exponent to a tenth; a thousand objects take 3 MB.
const judged = 128

// spot is where an object was, px and s.
type spot struct{ x, y, t float64 }

// way holds the last places of an object. Its memory grows with their number.
type way struct {
	places []spot // a ring once it is full
	n      int    // places seen so far
}

func (w *way) add(p spot) {
	if w.n < judged {
		w.places = append(w.places, p)
	} else {
		w.places[w.n%judged] = p
	}
	w.n++
}

// cut drops all places.
func (w *way) cut() { w.places, w.n = w.places[:0], 0 }

// track returns the places by frames of so many seconds, oldest first.
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
