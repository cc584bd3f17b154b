package pooled

import (
	"time"

	"driftscope/internal/nice"
	"driftscope/online/maps"
	"driftscope/online/states"
)

// restShare is how many times as long as it took nothing is learnt afterwards in a live run.
const restShare = 9

// worker owns the goroutine that learns. Its methods are called from the estimator's goroutine.
type worker struct {
	now     func() time.Time
	running bool
	number  uint64 // of what was begun last
	rest    time.Time
	orders  chan order   // one waits at most, where another is under way that nobody wants any more
	done    chan outcome // the same
}

// order is what is to be learnt from. Nobody changes it.
type order struct {
	number   uint64
	seq      uint64
	segments []states.Segment
	field    *maps.Map // nil where there is none
	options  states.Options
}

// outcome is what was learnt.
type outcome struct {
	number uint64
	law    *Law // nil where no step moves
	rest   time.Time
}

// newWorker starts the goroutine, which gives way to others in a live run; close ends it.
func newWorker(live bool) *worker {
	w := &worker{now: time.Now, orders: make(chan order, 1), done: make(chan outcome, 1)}
	orders := w.orders
	go func() {
		defer close(w.done)
		if live {
			nice.Thread()
		}
		for o := range orders {
			began := w.now()
			law := learn(o)
			ended := w.now()
			w.done <- outcome{o.number, law, ended.Add(restShare * ended.Sub(began))}
		}
	}()
	return w
}

// begin has the law learnt. None may be running.
func (w *worker) begin(o order) {
	w.number++
	o.number = w.number
	w.orders <- o
	w.running = true
}

// forget drops what is under way.
func (w *worker) forget() {
	if w.running {
		select {
		case <-w.orders: // it had not begun
		default:
		}
	}
	w.running = false
}

// take gives what has come back, waiting for it if wait is set; false where nothing has.
func (w *worker) take(wait bool) (*Law, bool) {
	for w.running {
		if !wait {
			select {
			case o := <-w.done:
				if w.receive(o) {
					return o.law, true
				}
			default:
				return nil, false
			}
			continue
		}
		if o := <-w.done; w.receive(o) {
			return o.law, true
		}
	}
	return nil, false
}

// receive says whether this is what was begun last.
func (w *worker) receive(o outcome) bool {
	if w.rest = o.rest; o.number != w.number {
		return false
	}
	w.running = false
	return true
}

// rested says whether the rest after the last is over.
func (w *worker) rested() bool { return !w.now().Before(w.rest) }

// close ends the goroutine, once what it works at is done; a second call does nothing.
func (w *worker) close() {
	if w.orders == nil {
		return
	}
	w.forget()
	close(w.orders)
	for range w.done { // nobody wants it
	}
	w.orders = nil
}
