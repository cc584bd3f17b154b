// Refinement
//
//
// Refinement learns in slices. A slice is one regression over all latents in memory. Its place in the stream is fixed: a slice that begins
// at frame k knows the latents up to k and applies at frame k + RefineLag. In a live run a slice applies, and the next begins, no earlier
// than nine times its duration after it ended. No slice writes its input. So the law can be saved, forgotten and restored while a slice
// runs: a checkpoint holds the slice's input, and the restored estimator runs the slice again, with the same result.

package online

import "driftscope/internal/flow/latent"

// A slice begins when this many latents are new, or this fraction of the memory.
const (
	firstSlice = 50
	sliceShare = 16
)

// Refinement reports the progress of the drift's refinement.
type Refinement struct {
	Revision uint64 // slices applied so far; 0 is the model's own drift
	Frame    uint64 // Seq of the frame at which the last one was applied
	Changes  uint64 // changes of the drift detected so far; the drift forgets transitions before the last one
	Failed   uint64 // slices with sums beyond floating point, or a network that Validate refuses
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

// isDue reports whether the running slice applies at this frame. If no frame waits for slices, a slice applies only after the rest that
// follows it, because the next slice then begins. The frame is recorded, and a repeated run needs nothing else.
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
		l.sde.Revision++ // published with this very frame: a repeated run needs each
	}
}

// beginWhenWorth begins a slice once enough latents are stored: a slice takes time in proportion to the memory.
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

// Finish learns from the stored latents after the last latent, which has Seq after, and writes the law of all latents into dst. It waits
// for its slices. It returns false if there is nothing new: the law is frozen or has hardly begun, or the run repeats one without Finish.
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
