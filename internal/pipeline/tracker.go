package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"driftscope/internal/frame"
	"driftscope/internal/latent"
)

// unfinished is the cause of frames that were read but not tracked because the run ended first.
const unfinished = "unfinished"

// errPaused is why a live frame is refused while tracking is paused.
var errPaused = &ErrSkip{Cause: "paused", Err: errors.New("tracking is paused: the command resume goes on")}

// errUnfinished is why a frame is refused that was read before the end and not tracked before grace was over.
var errUnfinished = &ErrSkip{Cause: unfinished, Err: errors.New("the run ended first")}

// tracker owns the steps, the encoders and the estimator. Its lanes turn frames into latents, side by side; it folds the latents into
// estimates in the order of the frames, and applies commands between them.
type tracker struct {
	*runner
	lanes             []*lane
	encoding, folding *clock

	desk    chan struct{} // held by the lane that waits for a frame or a command
	tickets uint64        // frames that left the desk; its holder's
	paused  bool          // its holder's

	last     *gate           // in which latents are folded; what follows belongs to the lane within
	estimate latent.Estimate // reused
	viewed   time.Time       // when the last View was made
	keeper   *keeper
	lost     uint64 // frames refused since the last estimate
	skips    uint64 // the same, of those that failed
}

func newTracker(r *runner) *tracker {
	t := &tracker{runner: r, desk: make(chan struct{}, 1), last: newGate(), keeper: newKeeper(r.Estimator, r.o.Keep, time.Now())}
	for _, encoder := range r.Encoders {
		t.lanes = append(t.lanes, &lane{tracker: t, encoder: encoder})
	}
	for _, step := range r.Steps {
		s := stage{name: step.Name, clock: r.clock(step.Name)}
		if len(step.Steps) < len(t.lanes) {
			s.gate = newGate()
		}
		for i, l := range t.lanes {
			s.step = step.Steps[min(i, len(step.Steps)-1)]
			l.stages = append(l.stages, s)
		}
	}
	t.encoding, t.folding = r.clock("encode"), r.clock("estimate")
	return t
}

// run tracks until the frames end, and closes what the tracker owns.
func (t *tracker) run(stop, ctx context.Context) {
	defer t.close()
	var lanes sync.WaitGroup
	for _, l := range t.lanes {
		lanes.Go(func() { l.run(stop, ctx) })
	}
	lanes.Wait()
}

// ticket is a frame on its way, with the number by which gates know it.
type ticket struct {
	number  uint64
	frame   *frame.Frame
	refused error // nil, or why it will not be tracked
}

// next waits for a frame, and applies the commands that arrive before it. While a file is paused none comes.
func (t *tracker) next(ctx, stop context.Context) (ticket, bool) {
	t.desk <- struct{}{}
	defer func() { <-t.desk }()
	for {
		select {
		case c := <-t.commands:
			t.command(ctx, c)
			continue
		default:
		}
		ready, resume := t.frames.ready, (<-chan struct{})(nil)
		if t.paused && t.waits.Load() && stop.Err() == nil {
			ready, resume = nil, stop.Done()
		} else if f, ok, ended := t.frames.take(); ok {
			return t.issue(ctx, stop, f), true
		} else if ended {
			return ticket{}, false
		}
		select {
		case c := <-t.commands:
			t.command(ctx, c)
		case <-ready:
		case <-resume:
		}
	}
}

// issue gives f its ticket, refused where it came too late, or from a live source while tracking is paused.
func (t *tracker) issue(ctx, stop context.Context, f *frame.Frame) ticket {
	given := ticket{number: t.tickets, frame: f}
	switch {
	case ctx.Err() != nil:
		given.refused = errUnfinished
	case t.paused && !t.waits.Load() && stop.Err() == nil:
		given.refused = errPaused
	}
	t.tickets++
	return given
}

// conclude ends a frame's way: its latent is folded into an estimate, which it returns as true, or the frame is counted. An error that is
// not of this frame alone ends the run.
func (t *tracker) conclude(ctx context.Context, f *frame.Frame, z *latent.Latent, stage string, err error) (tracked bool) {
	t.tell(ctx, f)
	if err == nil {
		stage, err = "estimator", t.fold(f, z)
	}
	skip, skips := skipped(err)
	switch {
	case err == nil:
		t.skips = 0
		t.tally.track()
		t.publish(ctx, &t.estimate, f.Meta.Arrived)
		t.alarm(ctx)
		t.keep(ctx)
		return true
	case ctx.Err() != nil:
		t.refuse(ctx, f, errUnfinished)
	case !skips:
		t.refuse(ctx, f, errUnfinished)
		t.end(fmt.Errorf("frame %d: %s: %w", f.Seq, stage, err))
	case skip == errPaused:
		t.refuse(ctx, f, skip)
	default:
		t.refuse(ctx, f, skip)
		if t.skips++; t.skips > maxSkips {
			t.end(fmt.Errorf("frame %d: %s: %d frames in a row could not be tracked, the last because: %w", f.Seq, stage, t.skips, err))
		}
	}
	return false
}

// end stops the run because of err.
func (t *tracker) end(err error) {
	t.fail(err)
	t.abort()
}

// fold updates the estimator. A latent that it refuses costs one frame.
func (t *tracker) fold(f *frame.Frame, z *latent.Latent) error {
	start := time.Now()
	z.Dropped = f.Meta.Dropped + t.lost
	if err := t.Estimator.Update(&t.estimate, z); err != nil {
		return &ErrSkip{Cause: "estimator_refused", Err: err}
	}
	t.folding.since(start)
	t.estimate.Latency = time.Since(f.Meta.Arrived)
	t.lost = 0
	return nil
}

// showing says whether a View is wanted and due, and then that it is being made.
func (t *tracker) showing() bool {
	_, can := t.Encoders[0].(Viewer)
	if !can || t.o.ViewEvery == 0 || time.Since(t.viewed) < t.o.ViewEvery {
		return false
	}
	t.viewed = time.Now()
	return true
}

// alarm tells what the estimator has noticed.
func (t *tracker) alarm(ctx context.Context) {
	alarmer, ok := t.Estimator.(Alarmer)
	if !ok {
		return
	}
	for _, e := range alarmer.Alarms() {
		if e.Level == latent.Info {
			t.log.Info("alarm over", "code", e.Code, "seq", e.Seq, "why", e.Text)
		} else {
			t.log.Warn("alarm", "code", e.Code, "seq", e.Seq, "why", e.Text)
			t.tally.alarm(e.Code)
		}
		t.publish(ctx, &e, time.Time{}) // a copy: sinks share it
	}
}

// refuse counts a frame that gets no estimate; the next one that does says so.
func (t *tracker) refuse(ctx context.Context, f *frame.Frame, skip *ErrSkip) {
	t.lost += f.Meta.Dropped + 1
	t.drop(ctx, f.Seq, skip.Cause, skip.Error(), 1)
}

// close frees the steps, the encoders and the estimator.
func (t *tracker) close() {
	check := func(stage string, err error) {
		if err != nil {
			t.fail(fmt.Errorf("%s: not closed cleanly: %w", stage, err))
		}
	}
	for _, s := range t.Steps {
		for _, step := range s.Steps {
			check(s.Name, step.Close())
		}
	}
	for _, encoder := range t.Encoders {
		check("encoder", encoder.Close())
	}
	check("online.state", t.keeper.end())
	check("estimator", t.Estimator.Close())
}
