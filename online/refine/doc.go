// Package refine learns the drift again and again from what is remembered, beside the frame path.
//
//	learner.go   Learner: what one slice leaves to the next; After is a slice
//	worker.go    Worker: slices beside the frame path, and their cancellation
//	grid.go      the drift laid out on a grid, with its standard errors, for the eye
//
// A slice is one regression (online/regression) about the model's own drift, over all latents that are remembered: what is learnt is the
// correction, which is zero until the evidence says otherwise. A model that is right loses little, and one that is wrong is put right. A
// slice begins when a sixteenth of what is remembered is new, which bounds its cost a frame. T in τ² of the regression is the longest time
// that was ever remembered. The network goes on from the last slice's weights.
//
// Every slice asks whether the drift has changed, (13) of online/regression at the odds max(200, A/F), where F frames are new since it was
// last asked: in A frames, Config.AlarmFrames, one change may be false. What came before a change is forgotten.
//
// A slice also leaves the banks of online/diffusion as if its drift had been known as long as memory reaches: where it is put to use, these are
// the banks, and the latents since it began are folded in again.
//
// A Learner is never written after it was made, so that the law is saved, reset and restored while a slice is under way. A slice that is
// cancelled ends soon, and its outcome is dropped. In a live run the worker's thread gives way to the frame path, and after a slice nothing
// is done for nine times the processor time that it took (nice.Worker): refinement has a tenth of one core.
package refine
