package refine

import (
	"driftscope/internal/kit/archive"
	"driftscope/internal/kit/system"
	"driftscope/online/drift"
)

// Worker has the learner made after each slice, beside the frame path. Its methods are called from the estimator's goroutine, and only Idle and Close wait.
type Worker struct {
	Slices *system.Worker[*Learner]

	learner *Learner      // in use, from which the slice begins
	next    *Learner      // after the slice, once that has come back
	cancel  *drift.Cancel // of the slice begun last; nil before the first
}

// NewWorker starts the goroutine, which gives way to others in a live run; Close ends it.
func NewWorker(l *Learner, live bool) *Worker {
	return &Worker{learner: l, Slices: system.NewWorker[*Learner](live)}
}

// Begin has a slice made of a job, from what the last one left on. None may be running.
func (w *Worker) Begin(j Job) {
	w.cancel = new(drift.Cancel)
	j.cancel = w.cancel
	from := w.Latest()
	w.Slices.Begin(func(func()) *Learner { return from.After(j) })
}

// Latest puts what the slice left to use, where one has come back, and lends it.
func (w *Worker) Latest() *Learner {
	if w.next != nil {
		w.learner, w.next = w.next, nil
	}
	return w.learner
}

// Remembered is how many latents the learner in use remembers.
func (w *Worker) Remembered() int { return w.learner.memory.Len() }

// Replace goes on from l. A slice that is under way is cancelled: it ends soon, and its outcome is dropped.
func (w *Worker) Replace(l *Learner) {
	if w.Slices.Drop() {
		w.cancel.Set()
	}
	w.learner, w.next = l, nil
}

// Idle says whether no slice is running, waiting for the running one to end if wait is set.
func (w *Worker) Idle(wait bool) bool {
	patience := system.Always
	if !wait {
		patience = 0
	}
	if l, ok := w.Slices.Take(patience); ok {
		w.next = l
	}
	return !w.Slices.Running()
}

// Archive writes the learner in use. A slice may be reading it.
func (w *Worker) Archive(a *archive.Codec) {
	learner := *w.learner
	learner.Archive(a)
}

// Close ends the goroutine, once a slice that it works at has ended, which is cancelled; a second call does nothing.
func (w *Worker) Close() {
	w.Replace(w.learner)
	w.Slices.Close(system.Always)
}
