package pipeline

import (
	"context"
	"fmt"
	"time"

	"driftscope/internal/frame"
)

// call is what a source is asked to do.
type call int

const (
	opening call = iota
	reading
	closing
)

// request is one call, to be made with ctx.
type request struct {
	call
	ctx context.Context
}

// outcome is what a call returned; only reading gives a frame.
type outcome struct {
	frame *frame.Frame
	err   error
}

// sourceWorker calls a source from a goroutine of its own, the only one that does, so that a call that never returns holds nobody else up.
// Its methods belong to one other goroutine, and are not called any more once one of them has returned the error left.
type sourceWorker struct {
	source   Source
	patience time.Duration // for a call to return once stop has ended
	requests chan request
	outcomes chan outcome
	alone    chan struct{} // closed when nobody waits for the call under way
	left     error         // why alone is closed
}

func newSourceWorker(s Source, patience time.Duration) *sourceWorker {
	a := &sourceWorker{source: s, patience: patience, requests: make(chan request), outcomes: make(chan outcome), alone: make(chan struct{})}
	go a.run()
	return a
}

// run makes one call after the other. Left alone, it sees the last one through and closes the source.
func (a *sourceWorker) run() {
	for r := range a.requests {
		var o outcome
		switch r.call {
		case opening:
			o.err = a.source.Open(r.ctx)
		case reading:
			o.frame, o.err = a.source.Read(r.ctx)
		case closing:
			o.err = a.source.Close()
		}
		select {
		case a.outcomes <- o:
		case <-a.alone:
			if o.frame != nil {
				o.frame.Close()
			}
			if r.call != closing {
				a.source.Close()
			}
			return
		}
	}
}

// do makes a call and waits for its outcome, in time after stop has ended.
func (a *sourceWorker) do(stop context.Context, r request) outcome {
	a.requests <- r
	return a.wait(stop)
}

// wait gives the outcome of the call under way; left where it is not there in time after stop has ended.
func (a *sourceWorker) wait(stop context.Context) outcome {
	select {
	case o := <-a.outcomes:
		return o
	case <-stop.Done():
	}
	timer := time.NewTimer(a.patience)
	defer timer.Stop()
	select {
	case o := <-a.outcomes:
		return o
	case <-timer.C:
		close(a.alone)
		a.left = fmt.Errorf("source did not stop within %v: the run ends without it", a.patience)
		return outcome{err: a.left}
	}
}

// dismiss ends the source worker's goroutine.
func (a *sourceWorker) dismiss() { close(a.requests) }
