package pipeline

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// A lost source is reopened after a pause. The pause doubles from shortestPause to longestPause, and is shortened by up to one half at random, so that many
// streams do not reconnect at the same moment. An attempt may take twice as long as the first Open, but at least shortestOpen. A source that opens in its usual
// time is therefore tracked within 3 s of its return.
const (
	shortestPause = 250 * time.Millisecond
	longestPause  = time.Second
	shortestOpen  = 1500 * time.Millisecond
)

// supervisor reads from a source that may be lost and return. A live source is lost if it delivers no frame for Stall, or reports ErrNotConnected. The
// supervisor then closes and opens the source until it delivers a frame again. The frame numbers continue across reopening, and the frames keep the times of
// the source.
type supervisor struct {
	runner *runner
	worker *sourceWorker
	jitter *rand.Rand
	pause  time.Duration // pause before the next attempt
	within time.Duration // time limit for reopening

	open   bool      // a Close must follow
	broken bool      // the source must be reopened before the next Read
	seen   time.Time // time of the last frame that was not late, or of the first Open
	offset uint64    // stream's frame number minus the source's, which restarts at 0 at every Open
	next   uint64    // number of the stream's next frame if none is lost

	ctx    context.Context // reused by consecutive Reads until it has ended
	cancel context.CancelFunc
	silent *time.Timer // cancels ctx; nil before the first Read with a time limit
}

func supervise(r *runner) *supervisor {
	stream := fnv.New64a()
	stream.Write([]byte(r.o.Stream))
	return &supervisor{
		runner: r,
		worker: newSourceWorker(r.stages.Source, r.o.Grace-r.o.Grace/3),
		jitter: rand.New(rand.NewPCG(r.o.Seed, stream.Sum64())),
		pause:  shortestPause,
	}
}

// start opens the source for the first time. A failure now is a configuration error, so start does not retry.
func (s *supervisor) start(stop context.Context) error {
	start := time.Now()
	err := s.connect(stop, stop)
	s.seen = time.Now()
	s.within = max(2*s.seen.Sub(start), shortestOpen)
	if err != nil {
		return OpenError{err}
	}
	return nil
}

// connect opens the source. The context within applies only to opening.
func (s *supervisor) connect(stop, within context.Context) error {
	ctx, cancel := context.WithCancel(within)
	defer cancel()
	s.open = true
	return s.worker.do(stop, request{opening, ctx}).err
}

// read returns the next frame, and first reopens a lost source. It returns the errors of the source, except the loss of a live source.
func (s *supervisor) read(p phases) (*frame.Frame, error) {
	for {
		if s.broken {
			if err := s.reopen(p.read); err != nil {
				return nil, err
			}
		}
		f, err := s.try(p)
		if !errors.Is(err, errLost) {
			return f, err
		}
	}
}

// errLost reports that a live source was lost during a Read.
var errLost = errors.New("source lost")

// try reads once. It returns a frame even if the frame arrives after the source was given up.
func (s *supervisor) try(p phases) (*frame.Frame, error) {
	ctx := s.watched(p.read)
	defer s.unwatch()
	start := time.Now()
	s.worker.requests <- request{reading, ctx}
	var o outcome
	select {
	case o = <-s.worker.outcomes:
	case <-ctx.Done():
		s.stalled(p)
		o = s.worker.wait(p.read)
	}
	if o.err == nil {
		s.runner.reading.since(start)
		s.found(p.track, o.frame)
		return o.frame, nil
	}
	if _, ok := skipped(o.err); ok {
		s.next++ // the skipped frame had a number
		return nil, o.err
	}
	switch {
	case p.read.Err() != nil:
		return nil, o.err
	case ctx.Err() != nil:
		s.stalled(p)
	case !s.runner.waits.Load() && errors.Is(o.err, ErrNotConnected):
		s.giveUp(p.track, o.err.Error()+": the source is reopened until it is back: check cable and power")
	}
	if s.broken {
		return nil, errLost
	}
	return nil, o.err
}

// watched returns the context of a Read. It ends with stop, and for a live source also after Stall without a frame. The next Read uses the same context unless
// it has ended.
func (s *supervisor) watched(stop context.Context) context.Context {
	if s.ctx == nil || s.ctx.Err() != nil {
		s.ctx, s.cancel = context.WithCancel(stop)
		s.silent = nil
	}
	switch {
	case s.runner.waits.Load() || s.runner.o.Stall == 0:
	case s.silent == nil:
		s.silent = time.AfterFunc(s.runner.o.Stall, s.cancel)
	default:
		s.silent.Reset(s.runner.o.Stall)
	}
	return s.ctx
}

// unwatch stops the timer of a Read that has returned. If the timer has already fired, unwatch ends the context, and the next Read gets a new one.
func (s *supervisor) unwatch() {
	if s.silent != nil && !s.silent.Stop() {
		s.cancel()
	}
}

// stalled marks a silent source as lost, unless the run was stopped.
func (s *supervisor) stalled(p phases) {
	if p.read.Err() == nil {
		s.giveUp(p.track, fmt.Sprintf("no frame for %v: the source is reopened until it is back: check cable and power, or raise stall_after if the frame interval is longer", s.runner.o.Stall))
	}
}

// giveUp marks the source as lost, and reports it the first time.
func (s *supervisor) giveUp(ctx context.Context, text string) {
	s.broken = true
	if s.runner.sourceLost.Swap(true) {
		return
	}
	seq := s.runner.counters.lastSeq()
	s.runner.remark(ctx, &latent.Event{Seq: seq, Time: time.Now(), Level: latent.Warning, Code: "source_lost", Text: text, Count: 1})
}

// found converts the frame's number from the source's count to the stream's, and reports the return of a lost source.
func (s *supervisor) found(ctx context.Context, f *frame.Frame) {
	f.Seq += s.offset
	s.next = f.Seq + 1
	if s.broken {
		return // f arrived too late: the source is reopened all the same
	}
	now := time.Now()
	away := now.Sub(s.seen)
	s.seen, s.pause = now, shortestPause
	if !s.runner.sourceLost.Swap(false) {
		return
	}
	s.runner.log.Warn("source back", "seq", f.Seq, "away", away)
	s.runner.remark(ctx, &latent.Event{
		Seq: f.Seq, Time: now, Level: latent.Info, Code: "source_back",
		Text: fmt.Sprintf("the source is back after %.1f s without a frame", away.Seconds()), Count: 1,
	})
}

// reopen closes the source, pauses and opens the source. It repeats this until opening works or stop ends.
func (s *supervisor) reopen(stop context.Context) error {
	for {
		if err := s.close(stop); s.worker.left != nil {
			return err
		}
		if err := s.rest(stop); err != nil {
			return err
		}
		within, cancel := context.WithTimeout(stop, s.within)
		err := s.connect(stop, within)
		cancel()
		if err == nil {
			s.broken, s.offset = false, s.next
			return nil
		}
		if stop.Err() != nil {
			return err
		}
		s.runner.log.Debug("source still lost", "err", err)
	}
}

// rest waits for the current pause and doubles the pause up to longestPause.
func (s *supervisor) rest(stop context.Context) error {
	timer := time.NewTimer(s.pause/2 + time.Duration(s.jitter.Int64N(int64(s.pause/2))))
	defer timer.Stop()
	s.pause = min(2*s.pause, longestPause)
	select {
	case <-timer.C:
		return nil
	case <-stop.Done():
		return stop.Err()
	}
}

// close closes the source if it is open.
func (s *supervisor) close(stop context.Context) error {
	if !s.open || s.worker.left != nil {
		return s.worker.left
	}
	s.open = false
	return s.worker.do(stop, request{closing, stop}).err
}

// end closes the source for good.
func (s *supervisor) end(stop context.Context) error {
	defer s.worker.dismiss()
	if s.cancel != nil {
		s.cancel()
	}
	if err := s.close(stop); err != nil && s.worker.left == nil {
		return fmt.Errorf("source: not closed cleanly: %w", err)
	}
	return s.worker.left
}
