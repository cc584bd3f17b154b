package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// tracker owns the steps, the encoders, the viewer and the estimator. Its lanes encode frames in parallel. It passes the latents to the estimator in the order
// of the frames, and applies commands between two frames.
type tracker struct {
	runner    *runner
	estimator Estimator                   // of the model in use
	watcher   Watcher                     // nil if there are no rules
	pools     sync.WaitGroup              // pools that have not closed their steps and encoders yet
	like      atomic.Pointer[frame.Frame] // copy of the first frame; nil before the first frame

	dispatch chan struct{} // lock of the lane that waits for a frame or a command
	pool     *workerPool   // the pool in use; dispatch guards this field and those down to views
	tickets  uint64        // number of dispatched frames
	flight   flight        // bytes of the frames on the lanes
	begun    uint64        // trajectory number of the last frame, as the source counts
	paused   bool
	ending   bool      // the command stop has been applied
	viewed   time.Time // dispatch time of the last frame with a View
	views    uint64    // number of frames with a View

	last        *sequencer      // orders the updates of the estimator; the fields below belong to the lane that has entered
	estimate    latent.Estimate // reused
	checkpoints *checkpoints
	gap         uint64 // number of frames lost since the last estimate
	inARow      streak // consecutive frames that failed

	ringing                 map[string]latent.Event // alarms that have not ended, by code
	trajectories, revisions uint64                  // offsets added to the numbers of the source and the estimator, so that every model continues the numbering
}

func newTracker(r *runner) *tracker {
	t := &tracker{
		runner: r, estimator: r.stages.Estimator, watcher: r.stages.Watcher,
		dispatch: make(chan struct{}, 1), last: newSequencer(0), checkpoints: newCheckpoints(r.stages.Estimator, &r.o, time.Now()), ringing: map[string]latent.Event{},
	}
	t.pool = newWorkerPool(t, r.stages.Steps, r.stages.Encoders, r.stages.Viewer, 0)
	t.runner.encoding.Store(&t.pool.clocks)
	return t
}

// run tracks until there are no more frames, and closes everything that the tracker owns.
func (t *tracker) run(p phases) {
	t.pool.start(t, p)
	t.pools.Wait()
	check := func(stage string, err error) {
		if err != nil {
			t.runner.fail(fmt.Errorf("%s: not closed cleanly: %w", stage, err))
		}
	}
	t.finish(p)
	check("the law's state", t.checkpoints.end())
	check("estimator", t.estimator.Close())
}

// finish runs after the last frame has been tracked. It publishes the last messages of the run, and the law of a complete recording. A stopped run does not
// wait for that law.
func (t *tracker) finish(p phases) {
	if p.track.Err() == nil {
		t.report(p.track, t.estimator.Last())
	}
	if !t.runner.waits.Load() || p.read.Err() != nil || p.track.Err() != nil {
		return
	}
	last := &t.estimate.Latent
	law := &latent.Law{Seq: last.Seq, Time: last.Time}
	if t.estimator.Finish(&law.SDE, last.Seq) {
		law.SDE.Revision += t.revisions
		t.runner.publish(p.track, law, time.Time{})
	}
}

// ticket is a dispatched frame, with the number that orders it in the sequencers.
type ticket struct {
	number uint64
	frame  *frame.Frame
	size   int   // bytes that flight counts for it
	lost   error // reason why the frame will not be tracked, or nil
}

// next waits for a frame for a lane of pool c, and applies the commands that arrive before it. It returns false if there are no more frames or another pool has
// taken over. While tracking of a file is paused, next waits.
func (t *tracker) next(p phases, c *workerPool) (ticket, bool) {
	t.dispatch <- struct{}{}
	defer func() { <-t.dispatch }()
	for c == t.pool {
		select {
		case o := <-t.runner.orders:
			t.command(p, o)
			continue
		default:
		}
		ready, resume := t.runner.frames.ready, (<-chan struct{})(nil)
		if t.paused && t.runner.waits.Load() && p.read.Err() == nil {
			ready, resume = nil, p.read.Done()
		} else if f, ok, ended := t.runner.frames.take(); ok {
			return t.issue(p, f), true
		} else if ended {
			return ticket{}, false
		}
		select {
		case o := <-t.runner.orders:
			t.command(p, o)
		case <-ready:
		case <-resume:
		}
	}
	return ticket{}, false
}

// overviewEvery is the number of Views per overview picture. An overview is larger and changes more slowly.
const overviewEvery = 3

// issue returns a ticket for f, and requests a View if one is due. The ticket marks f as lost if f arrived too late, or came from a live source while tracking
// is paused.
func (t *tracker) issue(p phases, f *frame.Frame) ticket {
	given := ticket{number: t.tickets, frame: f, size: f.Bytes()}
	t.flight.enter(given.size)
	switch {
	case p.track.Err() != nil:
		given.lost = errUnfinished
	case t.paused && !t.runner.waits.Load() && p.read.Err() == nil:
		given.lost = errPaused
	case t.viewDue():
		f.Meta.Overview = &frame.Overview{Draw: t.views%overviewEvery == 0}
		t.viewed = time.Now()
		t.views++
	}
	t.tickets++
	t.begun = f.Meta.Trajectory
	t.remember(f)
	return given
}

// conclude updates the estimator with the observation of lane l and returns true, or counts the frame as lost. An error that concerns more than this frame ends
// the run.
func (t *tracker) conclude(ctx context.Context, f *frame.Frame, l *lane, stage string, err error) (tracked bool) {
	for _, e := range events(f) {
		t.runner.publish(ctx, e, time.Time{})
	}
	told := false
	if err == nil {
		stage = "estimator"
		told, err = t.fold(f, l)
	}
	t.checkpoints.at = Place{f.Meta.Place, f.Seq + 1}
	skip, skips := skipped(err)
	if err != nil && !skips && t.runner.public {
		skip, skips = &ErrSkip{Cause: "unfit_frame", Err: fmt.Errorf("%s: %w", stage, err)}, true
	}
	switch {
	case err == nil:
		t.inARow.frames = 0
		t.runner.counters.track()
		if told {
			t.tell(ctx, &t.estimate)
		}
		t.report(ctx, t.estimator.Reports())
		t.alarm(ctx)
		t.keep(ctx)
		return true
	case ctx.Err() != nil:
		t.lose(ctx, f, errUnfinished)
	case !skips:
		t.lose(ctx, f, errUnfinished)
		t.end(fmt.Errorf("frame %d: %s: %w", f.Seq, stage, err))
	case skip == errPaused:
		t.lose(ctx, f, skip)
	default:
		t.lose(ctx, f, skip)
		err = fmt.Errorf("frame %d: %s: %d frames in a row could not be tracked, the last error was: %w", f.Seq, stage, t.inARow.add(), err)
		if err := t.runner.tolerate(ctx, &t.inARow, err); err != nil {
			t.end(err)
		}
	}
	return false
}

// end stops the run because of err.
func (t *tracker) end(err error) {
	t.runner.fail(err)
	t.runner.abort()
}

// fold updates the estimator. If the estimator refuses the latent, only this frame is lost.
func (t *tracker) fold(f *frame.Frame, l *lane) (told bool, err error) {
	start := time.Now()
	l.head.Dropped = f.Meta.Dropped + t.gap
	l.head.Trajectory += t.trajectories
	l.seen.Of(l.head)
	if told, err = t.estimator.Update(&t.estimate, l.seen); err != nil {
		return false, &ErrSkip{Cause: "estimator_refused", Err: err}
	}
	t.runner.folding.since(start)
	t.estimate.SDE.Revision += t.revisions
	t.gap = 0
	return told, nil
}

// tell publishes the triggers of a frame and then its estimate.
func (t *tracker) tell(ctx context.Context, e *latent.Estimate) {
	arrived := e.Latent.Arrived
	e.Latency = time.Since(arrived)
	if t.watcher != nil {
		for _, trigger := range t.watcher.Watch(e) {
			trigger.Arrived, trigger.Latency = arrived, time.Since(arrived)
			t.runner.publish(ctx, trigger, time.Time{})
		}
	}
	t.runner.publish(ctx, e, arrived)
}

// report publishes the messages that the estimator returned besides its estimate.
func (t *tracker) report(ctx context.Context, all []latent.Message) {
	for len(all) > 0 {
		held := slices.IndexFunc(all, isEstimate) // a delayed estimate: the messages of earlier frames go first
		if held < 0 {
			held = len(all)
		}
		t.runner.publishAll(ctx, all[:held])
		if all = all[held:]; len(all) > 0 {
			t.tell(ctx, all[0].(*latent.Estimate))
			all = all[1:]
		}
	}
}

func isEstimate(m latent.Message) bool {
	_, ok := m.(*latent.Estimate)
	return ok
}

// viewDue reports whether a View is due, and requests it.
func (t *tracker) viewDue() bool {
	return t.runner.o.ViewEvery != 0 && time.Since(t.viewed) >= t.runner.o.ViewEvery && t.pool.preview.ask()
}

// alarm publishes the estimator's alarms.
func (t *tracker) alarm(ctx context.Context) {
	for _, e := range t.estimator.Alarms() {
		if e.Level == latent.Info {
			t.runner.log.Info("alarm over", "code", e.Code, "seq", e.Seq, "why", e.Text)
			delete(t.ringing, e.Code)
		} else {
			t.ringing[e.Code] = e
			t.runner.warn("alarm "+e.Code, "alarm", "code", e.Code, "seq", e.Seq, "why", e.Text)
			t.runner.counters.alarm(e.Code)
		}
		t.runner.publish(ctx, &e, time.Time{}) // e is a copy, which the sinks share
	}
}

// lose counts a frame as lost, and adds it to the gap that the next estimate reports.
func (t *tracker) lose(ctx context.Context, f *frame.Frame, skip *ErrSkip) {
	t.gap += f.Meta.Dropped + 1
	t.runner.lose(ctx, framesLost(skip, f.Seq, 1))
}
