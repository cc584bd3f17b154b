package online

import "driftscope/internal/flow/latent"

// A slice begins when this many latents are new, or this part of the memory.
const (
	firstSlice = 50
	sliceShare = 16
)

// Refinement says how far the drift has been refined.
type Refinement struct {
	Revision uint64 // slices applied so far; 0 is the model's own drift
	Frame    uint64 // Seq of the frame at which the last one was applied
	Changes  uint64 // changes of the drift found so far; what came before the last one is forgotten
	Failed   uint64 // slices whose sums were beyond floating point, or a network beyond what Validate allows
	Unused   uint64 // latents never offered to refinement, because slices came back too late for memory to hold them
}

// Refinement says how far the drift has been refined.
func (e *Estimator) Refinement() Refinement { return e.law.refinement }

// apply publishes the drift of the slice that is due.
func (e *Estimator) apply(seq uint64) {
	if e.law.inFlight && e.isDue(seq) {
		e.publish(seq)
	}
}

// isDue says whether the slice under way is to be put to use at this frame. Where no frame waits for slices, their use waits for the rest
// after them, because the next begins then: the frame of use is on record, and all that a run needs to be repeated.
func (e *Estimator) isDue(seq uint64) bool {
	if applied, next := e.config.Applied, e.law.refinement.Revision; applied != nil {
		return next < uint64(len(applied)) && seq >= applied[next] && e.worker.Idle(true)
	}
	if e.config.Deterministic {
		return e.law.frame >= e.law.due && e.worker.Idle(true)
	}
	return e.law.frame >= e.law.due && e.worker.Idle(false) && e.worker.Slices.Rested()
}

// publish has the drift be what the slice that came back found, from the frame seq on.
func (e *Estimator) publish(seq uint64) {
	learner, l := e.worker.Latest(), &e.law
	l.field.Correct(learner.Correction())
	l.inFlight = false
	l.banks.Copy(learner.Banks())
	l.banks.Follow(l.pending, 0, l.pending.Len(), l.field, l.tangent)
	l.tangent.Renew()
	l.refinement.Revision++
	l.refinement.Frame, l.refinement.Changes, l.refinement.Failed = seq, learner.Changes(), learner.Failed()
	l.describeRefinement()
	l.sde.Field = learner.Field()
	l.alarms.Asked(l.given.Activity)
	l.alarms.Hidden(firstSlice * learner.Hidden())
	if !l.refresh() {
		l.sde.Revision++ // published with this very frame: repeating the run needs each
	}
}

// beginWhenWorth begins a slice on what has been set aside, once that is enough to be worth it: a slice takes as long as the memory is.
func (e *Estimator) beginWhenWorth() {
	l := &e.law
	if !l.inFlight && l.banks.Transitions > 0 && l.pending.Len() >= max(firstSlice, e.worker.Remembered()/sliceShare) {
		e.beginSlice()
	}
}

// beginSlice begins a slice on what has been set aside. None may be out that has not come back.
func (e *Estimator) beginSlice() {
	l := &e.law
	l.pending, l.given.In = l.given.In, l.pending
	l.pending.Clear()
	copy(l.given.Found, l.banks.Found)
	copy(l.given.Activity, l.sde.Activity)
	e.worker.Begin(l.given)
	l.inFlight, l.due = true, l.frame+e.config.RefineLag
}

// Finish learns from what has been set aside, because no latents are to come after the one with that Seq, and writes the law of all of them
// into dst. It waits for its slices. False says that there is nothing new: the law is frozen, has hardly begun, or is that of a run to be
// repeated which did not finish either.
func (e *Estimator) Finish(dst *latent.SDE, after uint64) bool {
	l, repeated := &e.law, e.config.Applied
	if e.frozen || l.banks.Transitions == 0 || repeated != nil && l.refinement.Revision == uint64(len(repeated)) {
		return false
	}
	l.refresh()
	e.worker.Idle(true)
	if l.pending.Len() > 0 {
		e.beginSlice() // it begins from a slice that came back before
		e.worker.Idle(true)
	}
	if !l.inFlight {
		return false
	}
	e.publish(after + 1)
	dst.Copy(&l.sde)
	return true
}

// describeRefinement writes what the drift is into the SDE.
func (l *law) describeRefinement() {
	l.sde.DriftRevision, l.sde.DriftFrame, l.sde.DriftChanges = l.refinement.Revision, l.refinement.Frame, l.refinement.Changes
}
