package pipeline

import (
	"context"
	"fmt"
	"time"

	"driftscope/internal/flow/frame"
)

// call is an operation on a source.
type call int

const (
	opening call = iota
	reading
	closing
)

// request asks for one call with the context ctx.
type request struct {
	call call
	ctx  context.Context
}

// outcome is the result of a call; frame is set only by reading.
type outcome struct {
	frame *frame.Frame
	err   error
}

// sourceWorker calls a source from its own goroutine, so a call that never returns blocks nothing else. Only one goroutine may call its methods, and it must
// stop after a method has returned the error left.
type sourceWorker struct {
	source   Source
	patience time.Duration // time for a call to return after stop has ended
	requests chan request
	outcomes chan outcome
	alone    chan struct{} // closed when the caller no longer waits for the running call
	left     error         // reason for closing alone
}

func newSourceWorker(s Source, patience time.Duration) *sourceWorker {
	w := &sourceWorker{source: s, patience: patience, requests: make(chan request), outcomes: make(chan outcome), alone: make(chan struct{})}
	go w.run()
	return w
}

// run executes one request after another. After alone is closed, it waits for the running call and closes the source.
func (w *sourceWorker) run() {
	for r := range w.requests {
		var o outcome
		switch r.call {
		case opening:
			o.err = w.source.Open(r.ctx)
		case reading:
			o.frame, o.err = w.source.Read(r.ctx)
		case closing:
			o.err = w.source.Close()
		}
		select {
		case w.outcomes <- o:
		case <-w.alone:
			if o.frame != nil {
				o.frame.Close()
			}
			if r.call != closing {
				w.source.Close()
			}
			return
		}
	}
}

// do makes a call and waits for its outcome, at most for patience after stop has ended.
func (w *sourceWorker) do(stop context.Context, r request) outcome {
	w.requests <- r
	return w.wait(stop)
}

// wait returns the outcome of the running call, or the error left if the call still runs when patience has passed after the end of stop.
func (w *sourceWorker) wait(stop context.Context) outcome {
	select {
	case o := <-w.outcomes:
		return o
	case <-stop.Done():
	}
	timer := time.NewTimer(w.patience)
	defer timer.Stop()
	select {
	case o := <-w.outcomes:
		return o
	case <-timer.C:
		close(w.alone)
		w.left = fmt.Errorf("source did not stop within %v: the run ends without it", w.patience)
		return outcome{err: w.left}
	}
}

// dismiss ends the source worker's goroutine.
func (w *sourceWorker) dismiss() { close(w.requests) }
