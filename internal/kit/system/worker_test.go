package system

import (
	"runtime"
	"testing"
	"time"
)

// TestWorkerRests: the rest of a Worker depends on the processor time of its job, not on the elapsed time. A job that waits a fifth of a second rests less than
// that; a job that computes for 20 ms rests nine times as long. By elapsed time the rests would be 1.8 s and, on a loaded machine, longer than the limit.
func TestWorkerRests(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a thread's processor time is known on Linux alone")
	}
	w := NewWorker[int](true)
	defer w.Close(Always)
	rest := func(job func()) time.Duration {
		w.Begin(func(func()) int { job(); return 7 })
		if out, ok := w.Take(Always); !ok || out != 7 {
			t.Fatalf("a job gave %d, %v", out, ok)
		}
		return time.Until(w.rest)
	}
	if r := rest(func() { time.Sleep(200 * time.Millisecond) }); r > 180*time.Millisecond {
		t.Errorf("after a job that only waits the rest is %v", r)
	}
	busy := func() {
		for until := spent() + 20*time.Millisecond; spent() < until; {
		}
	}
	before := time.Now()
	if r := rest(busy); r+time.Since(before) < restShare*20*time.Millisecond || w.Rested() && r > 0 {
		t.Errorf("after a job of 20 ms the rest is %v", r)
	}
}

// TestWorkerDrops: the result of a dropped job is never returned for the next job, and only Always waits.
func TestWorkerDrops(t *testing.T) {
	w := NewWorker[int](false)
	let := make(chan struct{})
	w.Begin(func(func()) int { <-let; return 1 })
	if _, ok := w.Take(0); ok || !w.Running() {
		t.Error("a job came back before it ended")
	}
	if _, ok := w.Take(time.Millisecond); ok {
		t.Error("a job came back before it ended")
	}
	w.Drop()
	w.Begin(func(func()) int { return 2 })
	if w.Drop() {
		t.Error("a job began behind one that is held")
	}
	w.Begin(func(func()) int { return 3 })
	close(let)
	if out, ok := w.Take(Always); out != 3 || !ok || w.Running() || !w.Rested() {
		t.Errorf("found %d, %v, expected the last job's 3", out, ok)
	}
	w.Close(Always)
	w.Close(Always)
	if _, ok := w.Take(Always); ok {
		t.Error("a Worker without a job gave something")
	}
}

// TestWorkerClosesLate: Close does not wait for a job beyond its time.
func TestWorkerClosesLate(t *testing.T) {
	w := NewWorker[int](false)
	begun, let, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w.Begin(func(func()) int { close(begun); <-let; close(done); return 1 })
	<-begun
	w.Close(time.Millisecond)
	select {
	case <-done:
		t.Error("the job had ended before it was let go")
	default:
	}
	close(let)
	<-done
}

// TestWorkerPauses: in a live run, a job that computes for 40 ms takes ten times as long with pauses, and a tenth of that once a caller waits for it. The
// thread's processor clock decides, so a loaded machine only delays it. A job in a recording never pauses.
func TestWorkerPauses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a thread's processor time is known on Linux alone")
	}
	const work = 40 * time.Millisecond
	pauses := func(live, wait bool) (slept int) {
		w := NewWorker[int](live)
		defer w.Close(Always)
		ended := make(chan int, 1)
		w.Begin(func(pause func()) int {
			n := 0
			for until := spent() + work; spent() < until; {
				before := time.Now()
				if pause(); time.Since(before) >= restShare*slice {
					n++
				}
			}
			ended <- n
			return n
		})
		if wait {
			w.Take(Always)
		}
		return <-ended
	}
	if n := pauses(true, false); n < int(work/slice)/4 {
		t.Errorf("a job of %v paused %d times", work, n)
	}
	if n := pauses(true, true); n > int(work/slice)/4 { // other work on the machine may look like one or two pauses
		t.Errorf("a job that is waited for paused %d times", n)
	}
	if n := pauses(false, false); n > int(work/slice)/4 {
		t.Errorf("a recording's job paused %d times", n)
	}
}

// TestWorkerHurries: waiting for a job ends its current pause, however long.
func TestWorkerHurries(t *testing.T) {
	w := NewWorker[int](true)
	defer w.Close(Always)
	times := make(chan time.Duration, 2)
	for _, at := range []time.Duration{0, time.Hour} { // before the job, and during its pause
		times <- at
	}
	close(times)
	w.Spent = func() time.Duration {
		at, more := <-times
		if !more {
			return time.Hour
		}
		return at
	}
	w.Begin(func(pause func()) int { pause(); return 7 })
	if out, ok := w.Take(Always); out != 7 || !ok { // without the hurry it would take nine hours
		t.Errorf("found %d, %v", out, ok)
	}
	if w.Rested() {
		t.Error("the hour that the job took is not rested from")
	}
}

// TestWorkerClosesAtPause: Close ends a job that never returns at its next pause, in a live run and in a recording, and runs its deferred calls.
func TestWorkerClosesAtPause(t *testing.T) {
	for _, live := range []bool{false, true} {
		w, began, ended := NewWorker[int](live), make(chan struct{}), make(chan struct{})
		w.Begin(func(pause func()) int {
			defer close(ended)
			close(began)
			for {
				pause()
			}
		})
		<-began
		w.Close(Always)
		select {
		case <-ended:
		case <-time.After(time.Minute): // Close wakes a paused job
			t.Fatalf("live %v: the job goes on after Close", live)
		}
	}
}
