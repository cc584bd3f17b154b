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

// keepEvery is the default interval between two checkpoints of the law. It limits how much a crash can lose and how far a roll-back goes.
const keepEvery = 30 * time.Second

// checkpoints saves the law at intervals: it serialises the law between two frames, and another goroutine writes the result.
type checkpoints struct {
	law         Estimator
	write       func([]byte, Place) error
	every       time.Duration
	at          Place      // position after the last folded frame
	last        time.Time  // when the newest checkpoint was taken
	older       []byte     // the checkpoint before the newest, which roll_back restores
	newest      []byte     // nil before the first
	writing     chan error // receives the result of the running write
	outstanding bool       // writing has not delivered its result yet

	asked []func(error) // callers that wait until a checkpoint is on the disk
}

// maxAsked is the largest number of callers that may wait for one checkpoint.
const maxAsked = 16

func newCheckpoints(e Estimator, o *Options, now time.Time) *checkpoints {
	return &checkpoints{law: e, write: o.Keep, every: cmp.Or(o.KeepEvery, keepEvery), at: o.From, last: now, writing: make(chan error, 1)}
}

// visit makes a checkpoint if one is due and no other is being written. It returns the error of an earlier write that failed.
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

// ask makes a checkpoint now, or after the running write, and calls answer once the checkpoint is on the disk or its write has failed. An idle stream has no
// next frame to trigger the checkpoint, so ask then writes it and waits. It returns the error of a failed write.
func (c *checkpoints) ask(answer func(error), idle bool, now time.Time) error {
	switch {
	case c.write == nil:
		answer(latent.Refuse(latent.Conflict, "checkpoint: this stream saves its state nowhere: start run with --state FILE, online.state or nats.durable"))
	case len(c.asked) == maxAsked:
		answer(latent.Refuse(latent.NotNow, "checkpoint: %d requests wait for one already: try again in a second", maxAsked))
	case idle:
		c.asked = append(c.asked, answer)
		return c.end() // end also calls answer
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

// take makes a checkpoint and starts its write.
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

// end makes the last checkpoint, and returns when its write has ended.
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
		return latent.Refuse(latent.Conflict, "roll_back: there is no earlier state yet, one is saved every %v: try again later", c.every)
	}
	return c.law.Restore(bytes.NewReader(c.older))
}

// keep makes a checkpoint after a frame if one is due.
func (t *tracker) keep(ctx context.Context) { t.kept(ctx, t.checkpoints.visit(time.Now())) }

// kept reports a failed write of a checkpoint.
func (t *tracker) kept(ctx context.Context, err error) {
	if err != nil {
		t.runner.warn("state", "the state was not saved", "err", err)
		t.runner.publish(ctx, &latent.Event{
			Seq: t.runner.counters.lastSeq(), Time: time.Now(), Level: latent.Warning,
			Code: "state_not_kept", Text: fmt.Sprintf("the law's state could not be written: %v", err), Count: 1,
		}, time.Time{})
	}
}
