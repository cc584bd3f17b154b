package objects

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/tracks"
)

// held is a ring of frames received but not yet published, oldest first. It reuses their memory.
type held struct {
	ring     []heldFrame
	first, n int
}

type heldFrame struct {
	z  latent.Sight
	dt float64 // since the previous frame, s; 0 if no step leads here
}

// newHeld returns a ring with room for lag frames and the incoming one.
func newHeld(lag int) held { return held{ring: make([]heldFrame, lag+1)} }

func (h *held) push(z *latent.Sight, dt float64) {
	f := &h.ring[(h.first+h.n)%len(h.ring)]
	f.z.Copy(z)
	f.dt = dt
	h.n++
}

// pop removes and returns the oldest frame, or nil if the ring is empty. The frame is valid until the next push.
func (h *held) pop() *heldFrame {
	if h.n == 0 {
		return nil
	}
	f := &h.ring[h.first]
	h.first, h.n = (h.first+1)%len(h.ring), h.n-1
	return f
}

// flush reports the held frames in order, and flushes the tracker.
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
			for ; f.z.Seq != frame; f = e.held.pop() { // frames from before the tracker's first frame
				tell(f, nil)
			}
			tell(f, points)
		})
	}
	for f := e.held.pop(); f != nil; f = e.held.pop() {
		tell(f, nil)
	}
}
