package objects

import "driftscope/online/motion"

// judged is the number of last places that a verdict uses. They give the exponent to a tenth; a thousand objects take 4 MB.
const judged = 128

// way holds the last places of an object. Its memory grows with their number.
type way struct {
	places []motion.Place // a ring once it is full
	n      int            // places seen so far
}

func (w *way) add(p motion.Place) {
	if w.n < judged {
		w.places = append(w.places, p)
	} else {
		w.places[w.n%judged] = p
	}
	w.n++
}

// cut drops all places.
func (w *way) cut() { w.places, w.n = w.places[:0], 0 }

// inOrder returns the places, oldest first, in their own memory.
func (w *way) inOrder() []motion.Place {
	if first := w.n % judged; w.n > judged && first > 0 {
		w.places = append(append(make([]motion.Place, 0, judged), w.places[first:]...), w.places[:first]...)
		w.n = judged
	}
	return w.places
}
