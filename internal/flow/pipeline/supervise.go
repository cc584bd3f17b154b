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

// A lost source is opened again after a pause that doubles from the shortest to the longest, each cut by up to a half at random, so that
// many streams do not reconnect at one moment. Opening takes at most twice as long as the first time, or shortestOpen. So a source is tracked
// within 3 s of being back, where it opens in its usual time.
const (
	shortestPause = 250 * time.Millisecond
	longestPause  = time.Second
	shortestOpen  = 1500 * time.Millisecond
)

// supervisor is a source that may be lost and return. A live source is lost if it delivers no frame for Stall, or reports ErrNotConnected.
// It is closed and opened again until it delivers a frame. Frame numbers continue across that; their times remain the source's own.
type supervisor struct {
	runner *runner
	worker *sourceWorker
	jitter *rand.Rand
	pause  time.Duration // before the next try
	within time.Duration // for an Open of a source that was lost

	open   bool      // Close is owed
	broken bool      // no frame can be read before the source has been opened again
	seen   time.Time // time of the last frame in time, or of the first opening
	offset uint64    // offset from the source's numbers, which restart at 0 at every opening, to the stream's
	next   uint64    // the number that the stream's next frame has if none is lost

	ctx    context.Context // lent to one Read after the other, until it has ended
	cancel context.CancelFunc
	silent *time.Timer // cancels it; nil before the first Read that may not last for ever
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

// start opens the source for the first time: a failure now is a mistake, and is not retried.
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

// connect opens the source. within bounds the connecting only.
func (s *supervisor) connect(stop, within context.Context) error {
	ctx, cancel := context.WithCancel(within)
	defer cancel()
	s.open = true
	return s.worker.do(stop, request{opening, ctx}).err
}

// read returns the next frame, and first reopens a lost source. It returns the source's errors, except for a loss.
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

// errLost reports the failure of one attempt to read.
var errLost = errors.New("source lost")

// try reads once. A frame that comes although the source was given up is not lost.
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
		s.next++ // it had a number
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

// watched returns the context of a Read: it ends with stop, and for a live source when the source has been silent for too long. One that has not
// ended serves the next Read too.
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

// unwatch stops the timer of a Read that has returned. Where it was too late, the context ends, and the next Read gets another.
func (s *supervisor) unwatch() {
	if s.silent != nil && !s.silent.Stop() {
		s.cancel()
	}
}

// stalled gives up a silent source, unless the run was stopped.
func (s *supervisor) stalled(p phases) {
	if p.read.Err() == nil {
		s.giveUp(p.track, fmt.Sprintf("no frame for %v: the source is reopened until it is back: check cable and power, or raise stall_after if frames are further apart", s.runner.o.Stall))
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

// found turns the source's number of f into the stream's, and reports a lost source as back.
func (s *supervisor) found(ctx context.Context, f *frame.Frame) {
	f.Seq += s.offset
	s.next = f.Seq + 1
	if s.broken {
		return // f came after all, but too late: the source is opened again
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

// reopen closes the source, pauses and opens it, again and again until that works or stop ends.
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

// rest pauses, each time for longer.
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

// close frees the memory and handles of the last Open.
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
