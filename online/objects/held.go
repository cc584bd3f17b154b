package objects

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/tracks"
)

// held are the frames that came and are not told yet, the oldest first; their memory is used again.
type held struct {
	ring     []heldFrame
	first, n int
}

// heldFrame is one of them.
type heldFrame struct {
	z  latent.Sight
	dt float64 // since the frame before, s; 0 where no step leads here
}

// newHeld has room for a lag and the frame that comes.
func newHeld(lag int) held { return held{ring: make([]heldFrame, lag+1)} }

// push takes a frame in.
func (h *held) push(z *latent.Sight, dt float64) {
	f := &h.ring[(h.first+h.n)%len(h.ring)]
	f.z.Copy(z)
	f.dt = dt
	h.n++
}

// pop gives the oldest frame away, lent until the next push; nil where there is none.
func (h *held) pop() *heldFrame {
	if h.n == 0 {
		return nil
	}
	f := &h.ring[h.first]
	h.first, h.n = (h.first+1)%len(h.ring), h.n-1
	return f
}

// flush reports the frames that are held back, in order. The tracker is at its end then.
func (e *Estimator) flush() {
	tell := func(f *heldFrame, points []tracks.Point) {
		m := &latent.Estimate{}
		m.SDE.Copy(&e.follow.sde)
		e.reports = append(e.reports, m)
		e.conclude(m, f, points)
	}
	if e.tracker != nil {
		e.tracker.Flush(func(frame uint64, points []tracks.Point) {
			f := e.held.pop()
			for f.z.Seq != frame { // before the tracker's first
				tell(f, nil)
				f = e.held.pop()
			}
			tell(f, points)
		})
	}
	for f := e.held.pop(); f != nil; f = e.held.pop() {
		tell(f, nil)
	}
}
