package system

import (
	"math"
	"sync"
	"time"
)

// The budget of a live run: jobs have a tenth of one core.
const (
	restShare = 9                    // times the processor time of a job that a Worker rests
	slice     = 2 * time.Millisecond // of processor time, after which a job may rest before it is done
)

// Always is a wait without an end.
const Always = time.Duration(math.MaxInt64)

// Worker does one job at a time on a goroutine of its own. In a live run that goroutine gives way to the frame path, a long job rests where it calls pause,
// and Rested says when the next job may begin. Somebody who waits for a job, or drops it, ends its pauses. The methods are called from one goroutine.
type Worker[Out any] struct {
	Spent func() time.Duration // processor time of the goroutine's thread, read before and after a job; tests put theirs in its place before the first job
	Now   func() time.Time     // the clock of the rest, read after a job and by Rested; the same

	live    bool
	running bool   // a job has been begun, was not dropped, and has not come back
	number  uint64 // of the job begun last
	rest    time.Time
	hurry   func()            // ends the pauses of the job begun last
	orders  chan order[Out]   // one waits at most, behind a job that was dropped
	done    chan outcome[Out] // one waits at most
}

type order[Out any] struct {
	number  uint64
	do      func(pause func()) Out
	hurried <-chan struct{} // closed: the job pauses no more
}

type outcome[Out any] struct {
	number uint64
	out    Out
	rest   time.Time // when the rest after the job is over
}

// NewWorker starts the goroutine. Close ends it.
func NewWorker[Out any](live bool) *Worker[Out] {
	w := &Worker[Out]{Spent: spent, Now: time.Now, live: live, orders: make(chan order[Out], 1), done: make(chan outcome[Out], 1)}
	go w.work(w.orders)
	return w
}

func (w *Worker[Out]) work(orders <-chan order[Out]) {
	defer close(w.done)
	if w.live {
		Thread()
	}
	for o := range orders {
		began := w.Spent()
		out := o.do(func() {
			if !w.live {
				return
			}
			if took := w.Spent() - began; took >= slice {
				select {
				case <-o.hurried: // the rest comes after the job
				case <-time.After(restShare * took):
					began = w.Spent()
				}
			}
		})
		took := w.Spent() - began
		w.done <- outcome[Out]{o.number, out, w.Now().Add(restShare * took)}
	}
}

// Begin has a job done. None may be running. The job calls pause now and then, from its own goroutine.
func (w *Worker[Out]) Begin(do func(pause func()) Out) {
	w.number++
	hurried := make(chan struct{})
	w.hurry = sync.OnceFunc(func() { close(hurried) })
	w.orders <- order[Out]{w.number, do, hurried}
	w.running = true
}

// Running says whether a job is under way that somebody wants.
func (w *Worker[Out]) Running() bool { return w.running }

// Drop has what is under way be forgotten: its outcome is dropped when it comes. Began says that the job had begun.
func (w *Worker[Out]) Drop() (began bool) {
	if w.running {
		w.running = false
		w.hurry()
		select {
		case <-w.orders:
		default:
			return true
		}
	}
	return false
}

// Take gives what the job has made, and waits for it at most so long; false where nothing has come back.
func (w *Worker[Out]) Take(wait time.Duration) (out Out, ok bool) {
	if !w.running {
		return out, false
	}
	if wait > 0 {
		w.hurry()
	}
	var late <-chan time.Time
	if wait > 0 && wait < Always {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	for {
		o, came := w.receive(late, wait > 0)
		if !came {
			return out, false
		}
		if w.rest = o.rest; o.number == w.number {
			w.running = false
			return o.out, true
		}
	}
}

// receive is the next outcome; false where none comes before it is late.
func (w *Worker[Out]) receive(late <-chan time.Time, wait bool) (o outcome[Out], came bool) {
	select { // what is there goes before the timer
	case o = <-w.done:
		return o, true
	default:
		if !wait {
			return o, false
		}
	}
	select {
	case o = <-w.done:
		return o, true
	case <-late:
		return o, false
	}
}

// Rested says whether the rest after the last job is over. A recording has none.
func (w *Worker[Out]) Rested() bool { return !w.live || !w.Now().Before(w.rest) }

// Close ends the goroutine once its job is done, and waits for that at most so long; beyond, it ends by itself. A second call does nothing.
func (w *Worker[Out]) Close(wait time.Duration) {
	if w.orders == nil {
		return
	}
	w.Drop()
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
		case <-late.C: // done has room for what is under way
			return
		}
	}
}
