package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"driftscope/internal/flow/latent"
)

// keepEvery is the default time between two checkpoints of the law: it bounds the loss of a crash and the reach of a roll-back.
const keepEvery = 30 * time.Second

// checkpoints keeps the law: at intervals it makes a checkpoint between two frames, and another goroutine writes it.
type checkpoints struct {
	law         Estimator
	write       func([]byte, Place) error
	every       time.Duration
	at          Place      // after the last folded frame
	last        time.Time  // when the newest checkpoint was taken
	older       []byte     // the checkpoint before the newest, which roll_back restores
	newest      []byte     // nil before the first
	writing     chan error // receives the outcome of the running write
	outstanding bool       // the outcome is not received yet

	asked []func(error) // callers waiting for a checkpoint on the disk
}

// maxAsked bounds the callers that wait for one checkpoint.
const maxAsked = 16

func newCheckpoints(e Estimator, o *Options, now time.Time) *checkpoints {
	return &checkpoints{law: e, write: o.Keep, every: cmp.Or(o.KeepEvery, keepEvery), at: o.From, last: now, writing: make(chan error, 1)}
}

// visit makes a checkpoint if one is due and none is being written. It returns the error of an earlier failed write.
func (c *checkpoints) visit(now time.Time) error {
	var failed error
	if c.outstanding {
		select {
		case failed = <-c.writing:
			c.outstanding = false
		default:
			return nil
		}
	}
	due := now.Sub(c.last) >= c.every
	if !due && len(c.asked) == 0 {
		return failed
	}
	state, err := c.take()
	if due && err == nil {
		c.last = now
		c.older, c.newest = c.newest, state
	}
	return errors.Join(failed, err)
}

// ask makes a checkpoint now, or after the running write, and calls answer once it is on the disk or its write failed. While
// the stream is idle no frame arrives to trigger it, so ask waits for it. It returns the error of a failed write.
func (c *checkpoints) ask(answer func(error), idle bool, now time.Time) error {
	switch {
	case c.write == nil:
		answer(latent.Refuse(latent.Conflict, "checkpoint: no place keeps the state: give run --state FILE, online.state or nats.durable"))
	case len(c.asked) == maxAsked:
		answer(latent.Refuse(latent.NotNow, "checkpoint: %d requests wait for one already: try again in a second", maxAsked))
	case idle:
		c.asked = append(c.asked, answer)
		return c.end() // end answers, too
	default:
		c.asked = append(c.asked, answer)
		return c.visit(now)
	}
	return nil
}

// rest runs while tracking is paused, so that a requested checkpoint does not wait for the next frame.
func (c *checkpoints) rest() error {
	if len(c.asked) == 0 {
		return nil
	}
	return c.end()
}

// take makes a checkpoint and begins to write it.
func (c *checkpoints) take() (state []byte, err error) {
	asked := c.asked
	c.asked = nil
	tell := func(err error) {
		for _, answer := range asked {
			answer(err)
		}
	}
	var b bytes.Buffer
	if err := c.law.Save(&b); err != nil {
		tell(err)
		return nil, err
	}
	if c.write == nil {
		return b.Bytes(), nil
	}
	c.outstanding = true
	at := c.at
	go func() {
		err := c.write(b.Bytes(), at)
		tell(err)
		c.writing <- err
	}()
	return b.Bytes(), nil
}

// end makes and writes the last checkpoint, and returns once its write has started.
func (c *checkpoints) end() error {
	if c.write == nil {
		return nil
	}
	var failed error
	if c.outstanding {
		failed = <-c.writing
		c.outstanding = false
	}
	if _, err := c.take(); err != nil {
		return errors.Join(failed, err)
	}
	c.outstanding = false
	return errors.Join(failed, <-c.writing)
}

// rollBack restores the checkpoint before the newest.
func (c *checkpoints) rollBack() error {
	if c.older == nil {
		return latent.Refuse(latent.Conflict, "roll_back: there is no earlier state, one is kept every %v: try again then", c.every)
	}
	return c.law.Restore(bytes.NewReader(c.older))
}

// keep makes a checkpoint after a frame if one is due.
func (t *tracker) keep(ctx context.Context) { t.kept(ctx, t.checkpoints.visit(time.Now())) }

// kept reports a failed write of a checkpoint.
func (t *tracker) kept(ctx context.Context, err error) {
	if err != nil {
		t.runner.warn("state", "the state was not kept", "err", err)
		t.runner.publish(ctx, &latent.Event{
			Seq: t.runner.counters.lastSeq(), Time: time.Now(), Level: latent.Warning,
			Code: "state_not_kept", Text: fmt.Sprintf("the law's state could not be written: %v", err), Count: 1,
		}, time.Time{})
	}
}
