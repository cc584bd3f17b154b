package system

import (
	"math"
	"runtime"
	"sync"
	"time"
)

// The budget of a live run: jobs get a tenth of one core.
const (
	restShare = 9                    // rest of a Worker as a multiple of the job's processor time
	slice     = 2 * time.Millisecond // processor time after which a job may pause
)

// Always is an unlimited wait.
const Always = time.Duration(math.MaxInt64)

// Worker executes one job at a time on its own goroutine. In a live run that goroutine has low priority, a long job rests whenever it calls pause, and Rested
// reports whether the next job may begin. If the caller waits for a job, or drops it, the job no longer pauses. Call the methods from one goroutine.
type Worker[Out any] struct {
	Spent func() time.Duration // processor time of the goroutine's thread, read before and after a job; tests replace it before the first job
	Now   func() time.Time     // the clock of the rest, read after a job and by Rested; tests replace it too

	live    bool
	running bool   // a job has begun, was not dropped, and has not returned
	number  uint64 // number of the last job
	rest    time.Time
	hurry   func()            // ends the pauses of the last job
	orders  chan order[Out]   // at most one order waits, after a dropped job
	done    chan outcome[Out] // at most one result waits
	closed  chan struct{}     // closed by Close: a job ends when it calls pause
}

type order[Out any] struct {
	number  uint64
	do      func(pause func()) Out
	hurried <-chan struct{} // closed when the job must not pause any more
}

type outcome[Out any] struct {
	number uint64
	out    Out
	rest   time.Time // end of the rest after the job
}

// NewWorker starts the goroutine. Close ends it.
func NewWorker[Out any](live bool) *Worker[Out] {
	w := &Worker[Out]{Spent: spent, Now: time.Now, live: live, orders: make(chan order[Out], 1), done: make(chan outcome[Out], 1), closed: make(chan struct{})}
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
			select {
			case <-w.closed:
				runtime.Goexit()
			default:
			}
			if !w.live {
				return
			}
			if took := w.Spent() - began; took >= slice {
				select {
				case <-o.hurried: // the job rests after its end
				case <-time.After(restShare * took):
					began = w.Spent()
				}
			}
		})
		took := w.Spent() - began
		w.done <- outcome[Out]{o.number, out, w.Now().Add(restShare * took)}
	}
}

// Begin starts a job. No other job may be running. The job should call pause now and then, from its own goroutine.
func (w *Worker[Out]) Begin(do func(pause func()) Out) {
	w.number++
	hurried := make(chan struct{})
	w.hurry = sync.OnceFunc(func() { close(hurried) })
	w.orders <- order[Out]{w.number, do, hurried}
	w.running = true
}

// Running reports whether a job is running that has not been dropped.
func (w *Worker[Out]) Running() bool { return w.running }

// Drop discards the result of the running job. began reports whether the job had begun.
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

// Take returns the result of the job, and waits for it at most wait. ok is false if there is no result.
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

// receive returns the next result. came is false if none comes before late.
func (w *Worker[Out]) receive(late <-chan time.Time, wait bool) (o outcome[Out], came bool) {
	select { // an available result has priority over the timer
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

// Rested reports whether the rest after the last job is over. There are no rests for a recording.
func (w *Worker[Out]) Rested() bool { return !w.live || !w.Now().Before(w.rest) }

// Close makes the goroutine end at the next pause of its job or after the job, and waits for the end at most for wait. A second call does nothing.
func (w *Worker[Out]) Close(wait time.Duration) {
	if w.orders == nil {
		return
	}
	close(w.closed)
	w.Drop()
	close(w.orders)
	w.orders = nil
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		select {
		case _, there := <-w.done: // drop the result
			if !there {
				return
			}
		case <-late.C: // done has room for the result
			return
		}
	}
}
