package online

import "driftscope/internal/latent"

// A slice begins when this many latents are new, or this part of the memory.
const (
	firstSlice = 50
	sliceShare = 16
)

// restShare is how many times as long as a slice took nothing is done after it in a live run: refinement has a tenth of one core, however
// fast frames come.
const restShare = 9

// Refinement says how far the drift has been refined.
type Refinement struct {
	Revision uint64 // slices applied so far; 0 is the model's own drift
	Frame    uint64 // Seq of the frame at which the last one was applied
	Changes  uint64 // changes of the drift found so far; what came before the last one is forgotten
	Failed   uint64 // slices whose sums were beyond floating point, or a network beyond what Validate allows
	Unused   uint64 // latents never offered to refinement, because slices came back too late for memory to hold them
}

// Refinement says how far the drift has been refined.
func (e *Estimator) Refinement() Refinement { return e.refinement }

// remember sets m aside for refinement.
func (e *Estimator) remember(m []float64, dt float64) {
	if e.pending.room() == 0 {
		e.refinement.Unused++
		e.broken = true
		return
	}
	if e.broken {
		dt = 0
	}
	e.pending.add(m, dt)
	e.broken = false
}

// apply publishes the drift of the slice that is due.
func (e *Estimator) apply(seq uint64) {
	if e.inFlight && e.ripe(seq) {
		e.adopt(seq)
	}
}

// adopt has the drift be what the slice that came back found, from the frame seq on.
func (e *Estimator) adopt(seq uint64) {
	l := e.refiner.settle()
	e.field.added = l.added
	e.inFlight, e.turned = false, 0
	e.refinement.Revision++
	e.refinement.Frame, e.refinement.Changes, e.refinement.Failed = seq, l.changes, l.failed
	e.tell()
	e.sde.Field = l.field
	e.alarms.hidden = firstSlice * l.hidden
	e.sde.Revision++ // told with this very frame: whoever repeats the run needs to know of each
}

// ripe says whether the slice that is out is to be put to use at this frame. Where no frame waits for slices, their use waits for the rest
// after them, because the next begins then: the frame of use is on record, and all that a run needs to be repeated.
func (e *Estimator) ripe(seq uint64) bool {
	if applied, next := e.config.Applied, e.refinement.Revision; applied != nil {
		return next < uint64(len(applied)) && seq >= applied[next] && e.refiner.idle(true)
	}
	if e.config.Deterministic {
		return e.frame >= e.due && e.refiner.idle(true)
	}
	return e.frame >= e.due && e.refiner.idle(false) && e.refiner.rested()
}

// handOver begins a slice on what has been set aside, once that is enough to be worth it: a slice takes as long as the memory is.
func (e *Estimator) handOver() {
	if !e.inFlight && e.n > 0 && e.pending.len() >= max(firstSlice, e.refiner.learner.memory.len()/sliceShare) {
		e.send()
	}
}

// send begins a slice on what has been set aside. None may be out that has not come back.
func (e *Estimator) send() {
	e.pending, e.lent = e.lent, e.pending
	e.pending.clear()
	copy(e.lentFound, e.found)
	copy(e.lentActive, e.sde.Activity)
	e.lend()
	e.inFlight, e.due = true, e.frame+e.config.RefineLag
}

// lend begins a slice on what lies in lent.
func (e *Estimator) lend() {
	e.refiner.begin(job{in: e.lent, found: e.lentFound, activity: e.lentActive})
}

// Finish learns from what has been set aside, because no latents are to come after the one with that Seq, and writes the law of all of them
// into dst. It waits for its slices. False says that there is nothing new: the law is frozen, has hardly begun, or is that of a run to be
// repeated which did not finish either.
func (e *Estimator) Finish(dst *latent.SDE, after uint64) bool {
	repeated := e.config.Applied
	if e.frozen || e.n == 0 || repeated != nil && e.refinement.Revision == uint64(len(repeated)) {
		return false
	}
	e.refresh()
	e.refiner.idle(true)
	if e.pending.len() > 0 {
		e.send() // it begins from a slice that came back before
		e.refiner.idle(true)
	}
	if !e.inFlight {
		return false
	}
	e.adopt(after + 1)
	dst.Copy(&e.sde)
	return true
}

// tell writes what the drift is into the SDE.
func (l *law) tell() {
	l.sde.DriftRevision, l.sde.DriftFrame, l.sde.DriftChanges = l.refinement.Revision, l.refinement.Frame, l.refinement.Changes
}
