// Refinement
//
// Refinement learns in slices. A slice is one regression over all latents in memory. A slice that begins at frame k uses the latents up to k, and its result
// applies at frame k + RefineLag. In a live run a pause of nine times the slice's duration follows it; only then does its result apply and the next slice
// begin. No slice writes its input. So the law can be saved, reset and restored while a slice runs: a checkpoint contains the slice's input, and the restored
// estimator runs the slice again, with the same result.

package online

import "driftscope/internal/flow/latent"

// A slice begins once the new latents number at least firstSlice and at least 1/sliceShare of the memory.
const (
	firstSlice = 50
	sliceShare = 16
)

// Refinement reports the progress of the drift's refinement.
type Refinement struct {
	Revision uint64 // slices applied so far; 0: the model's own drift is in use
	Frame    uint64 // Seq of the frame at which the last one was applied
	Changes  uint64 // changes of the drift detected so far; the drift forgets transitions before the last one
	Failed   uint64 // slices whose sums overflowed, or whose network Validate refused
	Unused   uint64 // latents never used for refinement, because slices were too slow for the memory
}

// Refinement returns the progress of the drift's refinement.
func (e *Estimator) Refinement() Refinement { return e.law.refinement }

// apply publishes the drift of the slice that is due.
func (e *Estimator) apply(seq uint64) {
	if e.law.inFlight && e.isDue(seq) {
		e.publish(seq)
	}
}

// isDue reports whether the running slice applies at this frame. If frames do not wait for slices, a slice applies only after the pause that follows it,
// because the next slice then begins. The recorded frames are all that a repeated run needs.
func (e *Estimator) isDue(seq uint64) bool {
	if applied, next := e.config.Applied, e.law.refinement.Revision; applied != nil {
		return next < uint64(len(applied)) && seq >= applied[next] && e.worker.Idle(true)
	}
	if e.config.Deterministic {
		return e.law.frame >= e.law.due && e.worker.Idle(true)
	}
	return e.law.frame >= e.law.due && e.worker.Idle(false) && e.worker.Slices.Rested()
}

// publish replaces the drift by the result of the finished slice, from frame seq on.
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
		l.sde.Revision++ // every frame with a new drift needs its own revision: a repeated run reads them
	}
}

// beginWhenWorth begins a slice once enough new latents are stored, because a slice takes time in proportion to the memory.
func (e *Estimator) beginWhenWorth() {
	l := &e.law
	if !l.inFlight && l.banks.Transitions > 0 && l.pending.Len() >= max(firstSlice, e.worker.Remembered()/sliceShare) {
		e.beginSlice()
	}
}

// beginSlice begins a slice on the stored latents. No other slice may be running.
func (e *Estimator) beginSlice() {
	l := &e.law
	l.pending, l.given.In = l.given.In, l.pending
	l.pending.Clear()
	copy(l.given.Found, l.banks.Found)
	copy(l.given.Activity, l.sde.Activity)
	e.worker.Begin(l.given)
	l.inFlight, l.due = true, l.frame+e.config.RefineLag
}

// Finish learns from the latents that no slice has used yet, and writes the law of all latents into dst. It waits for the slices that it runs. after is the
// Seq of the last latent. Finish returns false if there is nothing new: the law is frozen or has no figures yet, or the run repeats a run without Finish.
func (e *Estimator) Finish(dst *latent.SDE, after uint64) bool {
	l, repeated := &e.law, e.config.Applied
	if e.frozen || l.banks.Transitions == 0 || repeated != nil && l.refinement.Revision == uint64(len(repeated)) {
		return false
	}
	l.refresh()
	e.worker.Idle(true)
	if l.pending.Len() > 0 {
		e.beginSlice() // it starts from the result of the previous slice
		e.worker.Idle(true)
	}
	if !l.inFlight {
		return false
	}
	e.publish(after + 1)
	dst.Copy(&l.sde)
	return true
}

// describeRefinement writes the state of the drift into the SDE.
func (l *law) describeRefinement() {
	l.sde.DriftRevision, l.sde.DriftFrame, l.sde.DriftChanges = l.refinement.Revision, l.refinement.Frame, l.refinement.Changes
}
