package refine

import (
	"time"

	"driftscope/internal/archive"
	"driftscope/internal/nice"
	"driftscope/online/drift"
)

// restShare is how many times as long as a slice took nothing is done after it in a live run: refinement has a tenth of one core, however
// fast frames come.
const restShare = 9

// Worker owns the goroutine that makes the learner after each slice, beside the frame path. Its methods are called from the estimator's
// goroutine, and only Idle and Close wait.
type Worker struct {
	Now func() time.Time // the clock by which slices and the rest after them are timed; tests put theirs in its place before the first slice

	learner *Learner      // in use, from which the slice begins
	next    *Learner      // after the slice, once that has come back
	running bool          // a slice has been begun, was not cancelled, and has not come back
	number  uint64        // of the slice begun last
	cancel  *drift.Cancel // of the slice begun last; nil before the first
	rest    time.Time
	orders  chan order   // one waits at most, where the goroutine still works at a slice that was cancelled
	done    chan outcome // one waits at most
}

// order is a job to be done from a learner on.
type order struct {
	job    Job
	from   *Learner
	number uint64
}

// outcome is what a slice leaves.
type outcome struct {
	learner *Learner
	number  uint64
	rest    time.Time // when the rest after it is over
}

// NewWorker starts the goroutine, which gives way to others in a live run; Close ends it.
func NewWorker(l *Learner, live bool) *Worker {
	w := &Worker{learner: l, Now: time.Now, orders: make(chan order, 1), done: make(chan outcome, 1)}
	orders := w.orders
	go func() {
		defer close(w.done)
		if live {
			nice.Thread()
		}
		for o := range orders {
			began := w.Now()
			next := o.from.After(o.job)
			ended := w.Now()
			w.done <- outcome{next, o.number, ended.Add(restShare * ended.Sub(began))}
		}
	}()
	return w
}

// Begin has a slice made of a job, from what the last one left on. None may be running.
func (w *Worker) Begin(j Job) {
	w.cancel = new(drift.Cancel)
	j.cancel = w.cancel
	w.number++
	w.orders <- order{j, w.Latest(), w.number}
	w.running = true
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

// Replace goes on from l. A slice that is under way is cancelled: it ends soon, and what it leaves is dropped when it comes.
func (w *Worker) Replace(l *Learner) {
	if w.running {
		select {
		case <-w.orders: // it had not begun
		default:
			w.cancel.Set()
		}
	}
	w.learner, w.next, w.running = l, nil, false
}

// Idle says whether no slice is running, waiting for the running one to end if wait is set.
func (w *Worker) Idle(wait bool) bool {
	for w.running {
		if wait {
			w.receive(<-w.done)
			continue
		}
		select {
		case o := <-w.done:
			w.receive(o)
		default:
			return false
		}
	}
	return true
}

// receive takes what a slice left, unless that was cancelled. Its rest is one in any case.
func (w *Worker) receive(o outcome) {
	w.rest = o.rest
	if w.running && o.number == w.number {
		w.next, w.running = o.learner, false
	}
}

// Rested says whether the rest after the last slice is over. None may be running.
func (w *Worker) Rested() bool { return !w.Now().Before(w.rest) }

// Archive writes the learner in use. A slice may be reading it.
func (w *Worker) Archive(a *archive.Codec) {
	learner := *w.learner
	learner.Archive(a)
}

// Close ends the goroutine, once a slice that it works at has ended, which is cancelled; a second call does nothing.
func (w *Worker) Close() {
	if w.orders == nil {
		return
	}
	w.Replace(w.learner)
	close(w.orders)
	for range w.done { // what is left was cancelled
	}
	w.orders = nil
}
