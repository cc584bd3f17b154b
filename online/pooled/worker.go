package pooled

import (
	"math"
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

// always is a wait without an end.
const always = time.Duration(math.MaxInt64)

// take gives what has come back, waiting for it as long; false where nothing has.
func (w *worker) take(wait time.Duration) (*Law, bool) {
	if !w.running {
		return nil, false
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	for w.running {
		select { // what is there goes before the timer
		case o := <-w.done:
			if w.receive(o) {
				return o.law, true
			}
			continue
		default:
			if wait == 0 {
				return nil, false
			}
		}
		select {
		case o := <-w.done:
			if w.receive(o) {
				return o.law, true
			}
		case <-late.C:
			return nil, false
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

// close ends the goroutine, once what it works at is done, and waits for that as long; a second call does nothing.
func (w *worker) close(wait time.Duration) {
	if w.orders == nil {
		return
	}
	w.forget()
	close(w.orders)
	w.orders = nil
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		select {
		case _, there := <-w.done: // nobody wants it
			if !there {
				return
			}
		case <-late.C: // it has room for what is under way, and ends by itself
			return
		}
	}
}
