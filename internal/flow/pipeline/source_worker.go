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

// request is one call, to be made with ctx.
type request struct {
	call call
	ctx  context.Context
}

// outcome is the result of a call; only reading returns a frame.
type outcome struct {
	frame *frame.Frame
	err   error
}

// sourceWorker calls a source from its own goroutine, so that a call that never returns blocks nothing else. Only one other goroutine may call
// its methods, and none after a method has returned the error left.
type sourceWorker struct {
	source   Source
	patience time.Duration // for a call to return once stop has ended
	requests chan request
	outcomes chan outcome
	alone    chan struct{} // closed when no caller waits for the running call
	left     error         // why alone is closed
}

func newSourceWorker(s Source, patience time.Duration) *sourceWorker {
	w := &sourceWorker{source: s, patience: patience, requests: make(chan request), outcomes: make(chan outcome), alone: make(chan struct{})}
	go w.run()
	return w
}

// run makes one call after the other. Once alone is closed, it waits for the last call and closes the source.
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

// do makes a call and waits for its outcome, in time after stop has ended.
func (w *sourceWorker) do(stop context.Context, r request) outcome {
	w.requests <- r
	return w.wait(stop)
}

// wait returns the outcome of the running call, or left if it takes longer than patience after stop has ended.
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
