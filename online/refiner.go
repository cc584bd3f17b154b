package online

import (
	"sync/atomic"
	"time"

	"driftscope/internal/nice"
)

// want is somebody's wish for a slice, which may be over before the slice is. A nil one holds.
type want struct{ over atomic.Bool }

func (w *want) holds() bool { return w == nil || !w.over.Load() }

// refiner owns the goroutine that makes the learner after each slice beside the frame path. Its methods are called from the estimator's
// goroutine, and only idle and close wait.
type refiner struct {
	learner *learner // in use, from which the slice begins
	next    *learner // after the slice, once that has come back
	running bool     // a slice has been begun and is wanted, and has not come back
	number  uint64   // of the slice begun last
	want    *want    // for the slice begun last; nil before the first
	rest    time.Time
	now     func() time.Time
	orders  chan order   // one waits at most, where the goroutine still works at a slice that nobody wants
	done    chan outcome // one waits at most
}

// order is a job to be done from a learner on.
type order struct {
	job
	from   *learner
	number uint64
}

// outcome is what a slice leaves.
type outcome struct {
	learner *learner
	number  uint64
	rest    time.Time // when the rest after it is over
}

// newRefiner starts the goroutine, which gives way to others in a live run; close ends it.
func newRefiner(l *learner, live bool) *refiner {
	r := &refiner{learner: l, now: time.Now, orders: make(chan order, 1), done: make(chan outcome, 1)}
	orders := r.orders
	go func() {
		defer close(r.done)
		if live {
			nice.Thread()
		}
		for o := range orders {
			began := r.now()
			next := o.from.after(o.job)
			ended := r.now()
			r.done <- outcome{next, o.number, ended.Add(restShare * ended.Sub(began))}
		}
	}()
	return r
}

// begin has a slice made of a job, from what the last one left on. None may be running.
func (r *refiner) begin(j job) {
	r.want = new(want)
	j.want = r.want
	r.number++
	r.orders <- order{j, r.settle(), r.number}
	r.running = true
}

// settle puts what the slice left to use, where one has come back, and lends it.
func (r *refiner) settle() *learner {
	if r.next != nil {
		r.learner, r.next = r.next, nil
	}
	return r.learner
}

// replace goes on from l. A slice that is out is abandoned: it ends soon, and what it leaves is dropped when it comes.
func (r *refiner) replace(l *learner) {
	if r.running {
		select {
		case <-r.orders: // it had not begun
		default:
			r.want.over.Store(true)
		}
	}
	r.learner, r.next, r.running = l, nil, false
}

// idle says whether no slice is running, waiting for the running one to end if wait is set.
func (r *refiner) idle(wait bool) bool {
	for r.running {
		if wait {
			r.receive(<-r.done)
			continue
		}
		select {
		case o := <-r.done:
			r.receive(o)
		default:
			return false
		}
	}
	return true
}

// receive takes what a slice left, unless that was abandoned. Its rest is one in any case.
func (r *refiner) receive(o outcome) {
	r.rest = o.rest
	if r.running && o.number == r.number {
		r.next, r.running = o.learner, false
	}
}

// rested says whether the rest after the last slice is over. None may be running.
func (r *refiner) rested() bool { return !r.now().Before(r.rest) }

// close ends the goroutine, once a slice that it works at has ended, which is abandoned; a second call does nothing.
func (r *refiner) close() {
	if r.orders == nil {
		return
	}
	r.replace(r.learner)
	close(r.orders)
	for range r.done { // what is left is wanted by nobody
	}
	r.orders = nil
}
