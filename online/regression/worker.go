package regression

import (
	"driftscope/internal/kit/archive"
	"driftscope/internal/kit/system"
	"driftscope/online/drift"
)

// Worker runs slices outside the frame path. The estimator's goroutine calls its methods, and only Idle and Close wait.
type Worker struct {
	Slices *system.Worker[*Learner]

	learner *Learner      // learner in use; a slice starts from it
	next    *Learner      // result of the slice, once it has ended
	cancel  *drift.Cancel // cancels the latest slice; nil before the first
}

// NewWorker starts the goroutine, which yields to the frame path in a live run. Close ends it.
func NewWorker(l *Learner, live bool) *Worker {
	return &Worker{learner: l, Slices: system.NewWorker[*Learner](live)}
}

// Begin starts a slice from the learner in use. No other slice may be running.
func (w *Worker) Begin(j Job) {
	w.cancel = new(drift.Cancel)
	j.cancel = w.cancel
	from := w.Latest()
	w.Slices.Begin(func(func()) *Learner { return from.After(j) })
}

// Latest puts the result of a finished slice, if any, into use and lends the learner in use.
func (w *Worker) Latest() *Learner {
	if w.next != nil {
		w.learner, w.next = w.next, nil
	}
	return w.learner
}

// Remembered returns the number of latents in the memory of the learner in use.
func (w *Worker) Remembered() int { return w.learner.memory.Len() }

// Replace puts l into use. A running slice is cancelled: it ends soon, and its result is dropped.
func (w *Worker) Replace(l *Learner) {
	if w.Slices.Drop() {
		w.cancel.Set()
	}
	w.learner, w.next = l, nil
}

// Idle reports whether no slice is running. If wait is true, it first waits for the running slice.
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

// Archive writes the learner in use. A slice may be reading it at the same time.
func (w *Worker) Archive(a *archive.Codec) {
	learner := *w.learner
	learner.Archive(a)
}

// Close cancels a running slice, waits for it, and ends the goroutine. A second call does nothing.
func (w *Worker) Close() {
	w.Replace(w.learner)
	w.Slices.Close(system.Always)
}
