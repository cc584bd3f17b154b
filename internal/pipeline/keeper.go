package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"driftscope/internal/latent"
)

// keepEvery is the time between two checkpoints of the law: what a crash costs at most, and how far back a roll-back goes.
const keepEvery = 30 * time.Second

// keeper keeps the law: every so often it takes a checkpoint between two frames and has it written beside the frame path.
type keeper struct {
	law         Checkpointer // nil where the estimator has no state to keep
	write       func([]byte) error
	last        time.Time  // when the newest checkpoint was taken
	older       []byte     // the checkpoint before the newest, which roll_back restores
	newest      []byte     // nil before the first
	writing     chan error // gives the outcome of the write under way
	outstanding bool       // it has not been received
}

func newKeeper(e Estimator, write func([]byte) error, now time.Time) *keeper {
	law, _ := e.(Checkpointer)
	return &keeper{law: law, write: write, last: now, writing: make(chan error, 1)}
}

// visit takes a checkpoint where one is due and would not wait for a refinement, and gives the error of one that could not be written.
func (k *keeper) visit(now time.Time) error {
	var failed error
	if k.outstanding {
		select {
		case failed = <-k.writing:
			k.outstanding = false
		default:
			return nil
		}
	}
	if k.law == nil || now.Sub(k.last) < keepEvery || !k.law.Quiet() {
		return failed
	}
	k.last = now
	return errors.Join(failed, k.take())
}

// take makes a checkpoint and begins to write it.
func (k *keeper) take() error {
	var b bytes.Buffer
	if err := k.law.Save(&b); err != nil {
		return err
	}
	k.older, k.newest = k.newest, b.Bytes()
	if k.write == nil {
		return nil
	}
	k.outstanding = true
	go func(state []byte) { k.writing <- k.write(state) }(k.newest)
	return nil
}

// end takes and writes the last checkpoint, and returns once it is on its way to the disk.
func (k *keeper) end() error {
	if k.law == nil || k.write == nil {
		return nil
	}
	var failed error
	if k.outstanding {
		failed = <-k.writing
	}
	if err := k.take(); err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, <-k.writing)
}

// rollBack restores the checkpoint before the newest.
func (k *keeper) rollBack() error {
	if k.older == nil {
		return fmt.Errorf("roll_back: there is no state from before: one is kept every %v", keepEvery)
	}
	return k.law.Restore(bytes.NewReader(k.older))
}

// keep visits the keeper after a frame.
func (t *tracker) keep(ctx context.Context) {
	if err := t.keeper.visit(time.Now()); err != nil {
		t.log.Warn("the state was not kept", "err", err)
		t.publish(ctx, &latent.Event{
			Seq: t.tally.lastSeq(), Time: time.Now(), Level: latent.Warning,
			Code: "state_not_kept", Text: fmt.Sprintf("the law's state could not be written: %v: free some space or choose another online.state", err), Count: 1,
		}, time.Time{})
	}
}
