// Package refine relearns the drift from remembered latents, beside the frame path.
//
//	learner.go   Learner: the state between slices; After runs a slice
//	worker.go    Worker: slices beside the frame path, and their cancellation
//	grid.go      the drift on a grid, with its standard errors, for display
//
// A slice is one regression (online/regression) about the model's own drift, over all remembered latents: it learns the
// correction, which is zero without evidence. A correct model loses little, and a wrong one is corrected. A
// slice begins when a sixteenth of memory is new, which bounds its cost a frame. T in τ² of the regression is the longest time
// ever remembered. The network starts from the last slice's weights.
//
// Every slice tests whether the drift has changed, (13) of online/regression at the odds max(200, A/F), with F frames since the
// last test: in A frames, Config.AlarmFrames, one change may be false. Latents before a change are forgotten.
//
// A slice also computes the banks of online/diffusion as if its drift had been known as long as memory reaches: if the drift is used, these are
// the banks, and the latents since it began are added again.
//
// A Learner is never written after it was made, so that the law is saved, reset and restored while a slice is under way. A slice that is
// cancelled ends soon, and its outcome is dropped. In a live run the worker's thread gives way to the frame path, and after a slice nothing
// is done for nine times the processor time that it took (nice.Worker): refinement has a tenth of one core.
package refine
