package pipeline

import (
	"context"
	"fmt"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// order is a command that is ready to be applied between two frames, with the new model if it changes the model.
type order struct {
	command latent.Command
	next    *Replacement
	left    chan *checkpoints // channel on which the checkpoints of the replaced law arrive; it receives nil if the law stays the same
}

// swapModel is the command that changes the model.
const swapModel = "model"

// swap prepares new models, one at a time and while tracking continues, until tracked ends.
func (t *tracker) swap(tracked, ctx context.Context) {
	defer t.forget()
	for {
		select {
		case c := <-t.runner.swaps:
			next, err := t.runner.stages.Swap(tracked, c.Payload, t.like.Load())
			if tracked.Err() != nil && err != nil {
				err = errEnded
			}
			if err != nil {
				t.answer(ctx, c, err)
				continue
			}
			t.offer(tracked, ctx, order{c, next, make(chan *checkpoints, 1)})
		case <-tracked.Done():
			return
		}
	}
}

// offer makes the tracker install o's model, and then writes the last checkpoint of the replaced law. If the tracker has ended, offer closes the model.
func (t *tracker) offer(tracked, ctx context.Context, o order) {
	select {
	case t.runner.orders <- o:
		if left := <-o.left; left != nil {
			t.kept(ctx, left.end())
		}
		o.command.Reply(nil)
	case <-tracked.Done():
		if err := closeTrack(o.next.Steps, o.next.Encoders, o.next.Viewer); err != nil {
			t.runner.fail(err)
		}
		o.next.Done(false)
		o.command.Reply(errEnded)
	}
}

// install uses o's model from the next frame on, and sends the checkpoints of the replaced law to o.left. All earlier frames have their estimates.
func (t *tracker) install(p phases, o order) {
	ctx, next := p.track, o.next
	t.pool = newWorkerPool(t, next.Steps, next.Encoders, next.Viewer, t.tickets)
	t.pool.start(t, p)
	var left *checkpoints
	if next.Estimator != t.estimator {
		left = t.checkpoints
		t.estimator, t.checkpoints = next.Estimator, newCheckpoints(next.Estimator, &Options{Keep: next.Keep, KeepEvery: t.runner.o.KeepEvery}, time.Now())
		t.revisions = t.estimate.SDE.Revision + 1
		t.trajectories = t.estimate.Latent.Trajectory + 1 - t.begun
		t.silence(ctx)
	}
	next.Done(true)
	t.applied(ctx, swapModel, fmt.Sprintf("the model is now %s, with %d latents", next.Model, next.Encoders[0].Dim()))
	o.left <- left
}

// silence publishes the end of the replaced law's alarms.
func (t *tracker) silence(ctx context.Context) {
	for code, e := range t.ringing {
		e.Level, e.Seq, e.Time, e.Text = latent.Info, t.runner.counters.lastSeq(), time.Now(), "over: a new model is in use from this frame on"
		t.runner.publish(ctx, &e, time.Time{})
		delete(t.ringing, code)
	}
}

// remember keeps a copy of the stream's first frame, on which Swap tests new models.
func (t *tracker) remember(f *frame.Frame) {
	if t.runner.stages.Swap != nil && t.like.Load() == nil && f.Bytes() > 0 {
		t.like.Store(frame.New(f.Seq, f.Time, frame.Meta{Trajectory: f.Meta.Trajectory}, f.Mat().Clone()))
	}
}

// forget frees the frame that remember copied.
func (t *tracker) forget() {
	if f := t.like.Load(); f != nil {
		f.Close()
	}
}
