package work

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
	"driftscope/internal/site"
)

// States of a stream that a worker holds.
const (
	starting = "starting"
	running  = "running"
	failed   = "failed"
	ended    = "ended"
)

// Pauses before a failed stream is tried again. They double from the first to the last.
const (
	firstAgain = time.Second
	lastAgain  = time.Minute
)

// run is one stream under its lease.
type run struct {
	name  string
	held  *site.Held
	since time.Time
	gone  chan struct{} // closed once the run has completely ended
	stop  context.CancelFunc

	leaving bool // the run is being given up; the worker's lock guards leaving

	mu      sync.Mutex
	text    string        // the desired configuration
	changed chan struct{} // closed when text changes
	state   string
	problem string
}

// newRun returns the run of a claimed stream.
func newRun(name, text string, held *site.Held) *run {
	return &run{name: name, text: text, held: held, since: time.Now(), gone: make(chan struct{}), changed: make(chan struct{}), state: starting}
}

// desire changes the configuration of the run, if it differs.
func (r *run) desire(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text != r.text {
		r.text = text
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// desired returns the configuration, and a channel that closes when it changes.
func (r *run) desired() (text string, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text, r.changed
}

// is records the state of the stream.
func (r *run) is(state string, problem error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = state
	if problem != nil {
		r.problem = problem.Error()
	}
	if state == running {
		r.problem = ""
	}
}

// how returns the state of the stream.
func (r *run) how() (state, problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.problem
}

// run runs the stream until ctx ends (r.stop) or the lease is lost. It starts again after a failure or a change of the configuration. before is the
// previous worker.
func (w *Worker) run(ctx context.Context, r *run, before string) {
	defer close(r.gone)
	defer r.stop()
	stopLost := make(chan struct{})
	defer close(stopLost)
	go func() {
		select {
		case <-r.held.Lost():
			r.stop()
		case <-stopLost:
		}
	}()
	again := firstAgain
	for ctx.Err() == nil {
		text, changed := r.desired()
		began := time.Now()
		err := w.once(ctx, r, text, changed, before)
		if ctx.Err() != nil {
			return
		}
		if stream.Fenced(err) { // the lease is valid, but the stored data have a later epoch
			r.is(failed, err)
			console.Say("stream %s is given up: %v", r.name, err)
			return
		}
		before = ""
		if time.Since(began) > lastAgain {
			again = firstAgain
		}
		pause := (<-chan time.Time)(nil)
		switch {
		case isClosed(changed):
			continue
		case err == nil:
			r.is(ended, nil)
			console.Say("stream %s has ended", r.name)
		case stream.Wrong(err):
			r.is(failed, err)
			console.Say("stream %s cannot run until its configuration changes: %v", r.name, err)
		default:
			r.is(failed, err)
			console.Say("stream %s failed and will be tried again in %v: %v", r.name, again, err)
			pause = time.After(again)
			again = min(2*again, lastAgain)
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-pause:
		}
	}
}

// once runs the stream with one configuration.
func (w *Worker) once(ctx context.Context, r *run, text string, changed <-chan struct{}, before string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-changed:
			stop()
		case <-done:
		}
	}()
	r.is(starting, nil)
	cfg, err := w.configuration(r.name, text)
	if err != nil {
		return err
	}
	s, err := stream.Leased(ctx, cfg, w.bus, r.held, before)
	if err != nil {
		return err
	}
	r.is(running, nil)
	summary, err := s.Run(ctx, 0)
	if err == nil && ctx.Err() == nil {
		return nil
	}
	if err != nil && !stream.Fenced(err) {
		return fmt.Errorf("after %d frames: %w", summary.Tracked, err)
	}
	return errors.Join(err, ctx.Err())
}

// isClosed reports whether c is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
