package pipeline

import (
	"context"
	"fmt"
	"time"

	"driftscope/internal/frame"
	"driftscope/internal/latent"
)

// unfinished is the cause of frames that were read but not tracked because the run ended first.
const unfinished = "unfinished"

// tracker owns the steps, the encoder and the estimator. It turns frames into estimates, and applies commands between them.
type tracker struct {
	*runner
	stepping          []*clock // one a step
	encoding, folding *clock

	z        latent.Latent   // reused
	estimate latent.Estimate // reused
	viewed   time.Time       // when the last View was made
	paused   bool
	keeper   *keeper
	lost     uint64 // frames refused since the last estimate
	skips    uint64 // the same, of those that failed
}

func newTracker(r *runner) *tracker {
	t := &tracker{runner: r, keeper: newKeeper(r.Estimator, r.o.Keep, time.Now())}
	for _, step := range r.Steps {
		t.stepping = append(t.stepping, r.clock(step.Name))
	}
	t.encoding, t.folding = r.clock("encode"), r.clock("estimate")
	return t
}

// run tracks until the frames end, and closes what the tracker owns. Once ctx has ended it only counts what is left.
func (t *tracker) run(stop, ctx context.Context) {
	defer t.close()
	for {
		f, ok := t.next(ctx, stop)
		if !ok {
			return
		}
		switch {
		case ctx.Err() != nil:
			t.refuse(ctx, f, unfinished, "the run ended first")
		case t.paused && !t.waits.Load() && stop.Err() == nil:
			t.refuse(ctx, f, "paused", "tracking is paused: the command resume goes on")
		default:
			if err := t.track(ctx, f); err != nil {
				t.fail(err)
				t.abort()
			}
		}
	}
}

// next waits for a frame, and applies the commands that arrive before it. While a file is paused none comes.
func (t *tracker) next(ctx, stop context.Context) (*frame.Frame, bool) {
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
		} else if f, ok, ended := t.frames.take(); ok || ended {
			return f, ok
		}
		select {
		case c := <-t.commands:
			t.command(ctx, c)
		case <-ready:
		case <-resume:
		}
	}
}

// track brings one frame to its estimate. Its error ends the run; a frame that is only skipped is counted.
func (t *tracker) track(ctx context.Context, f *frame.Frame) error {
	stage, err := t.encode(ctx, f)
	t.tell(ctx, f)
	if err == nil {
		t.view(ctx, f)
		f.Close() // nothing after the encoder sees pixels
		stage, err = "estimator", t.fold(f)
	}
	if err == nil {
		t.skips = 0
		t.tally.track()
		t.publish(ctx, &t.estimate, f.Meta.Arrived)
		t.alarm(ctx)
		t.keep(ctx)
		return nil
	}
	if ctx.Err() != nil {
		t.refuse(ctx, f, unfinished, "the run ended first")
		return nil
	}
	skip, ok := skipped(err)
	if !ok {
		t.refuse(ctx, f, unfinished, "the run ended first")
		return fmt.Errorf("frame %d: %s: %w", f.Seq, stage, err)
	}
	t.refuse(ctx, f, skip.Cause, skip.Error())
	if t.skips++; t.skips > maxSkips {
		return fmt.Errorf("frame %d: %s: %d frames in a row could not be tracked, the last because: %w", f.Seq, stage, t.skips, err)
	}
	return nil
}

// encode runs the steps and the encoder; with an error it names the stage.
func (t *tracker) encode(ctx context.Context, f *frame.Frame) (stage string, err error) {
	light := f.Light() // before any step changes it
	for i, step := range t.Steps {
		start := time.Now()
		if err := step.Apply(ctx, f); err != nil {
			return step.Name, err
		}
		t.stepping[i].since(start)
	}
	start := time.Now()
	if err := t.Encoder.Encode(ctx, &t.z, f); err != nil {
		return "encoder", err
	}
	t.encoding.since(start)
	t.z.Seq, t.z.Time, t.z.Trajectory = f.Seq, f.Time, f.Meta.Trajectory
	t.z.Dropped, t.z.Light = f.Meta.Dropped+t.lost, light
	t.z.Centroid = append(t.z.Centroid[:0], f.Meta.Centroid...)
	return "", nil
}

// fold updates the estimator. A latent that it refuses costs one frame.
func (t *tracker) fold(f *frame.Frame) error {
	start := time.Now()
	if err := t.Estimator.Update(&t.estimate, &t.z); err != nil {
		return &ErrSkip{Cause: "estimator_refused", Err: err}
	}
	t.folding.since(start)
	t.estimate.Latency = time.Since(f.Meta.Arrived)
	t.lost = 0
	return nil
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

// view shows the frame, where views are wanted and one is due. A view that fails costs only itself.
func (t *tracker) view(ctx context.Context, f *frame.Frame) {
	viewer, ok := t.Encoder.(Viewer)
	if !ok || t.o.ViewEvery == 0 || time.Since(t.viewed) < t.o.ViewEvery {
		return
	}
	t.viewed = time.Now()
	v := &latent.View{} // shared by all sinks, so never reused
	if err := viewer.View(v, f, &t.z); err != nil {
		t.log.Warn("no view of this frame", "seq", f.Seq, "err", err)
		return
	}
	v.Seq, v.Time = f.Seq, f.Time
	t.publish(ctx, v, time.Time{})
}

// refuse closes and counts a frame that gets no estimate; the next one that does says so.
func (t *tracker) refuse(ctx context.Context, f *frame.Frame, cause, text string) {
	t.lost += f.Meta.Dropped + 1
	t.discard(ctx, f, cause, text)
}

// close frees the steps, the encoder and the estimator.
func (t *tracker) close() {
	check := func(stage string, err error) {
		if err != nil {
			t.fail(fmt.Errorf("%s: not closed cleanly: %w", stage, err))
		}
	}
	for _, step := range t.Steps {
		check(step.Name, step.Close())
	}
	check("encoder", t.Encoder.Close())
	check("online.state", t.keeper.end())
	check("estimator", t.Estimator.Close())
}
