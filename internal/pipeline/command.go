package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"driftscope/internal/latent"
)

// errEnded answers a command that came too late.
var errEnded = errors.New("the run is ending: the command was not applied")

// relay hands a sink's commands to the tracker, until the tracker has ended.
func (r *runner) relay(from <-chan latent.Command, ended <-chan struct{}) {
	for {
		select {
		case c, ok := <-from:
			if !ok {
				return
			}
			select {
			case r.commands <- c:
			case <-ended:
				c.Reply(errEnded)
			}
		case <-ended:
			return
		}
	}
}

// command applies c once every frame before it has its estimate, answers it and tells everyone. No frame starts meanwhile: the desk is held.
func (t *tracker) command(ctx context.Context, c latent.Command) {
	t.last.enter(t.tickets)
	err := t.apply(c.Name)
	c.Reply(err)
	if err != nil {
		t.log.Warn("command refused", "command", c.Name, "err", err)
		return
	}
	t.log.Info("command applied", "command", c.Name)
	t.publish(ctx, &latent.Event{
		Seq: t.tally.lastSeq(), Time: time.Now(), Level: latent.Info,
		Code: "command_" + c.Name, Text: "the command " + c.Name + " was applied", Count: 1,
	}, time.Time{})
}

// apply carries out a command by name: pause and freeze hold the tracking and the law, resume ends both, reset forgets
// the law, roll_back makes it what it was half a minute or more ago.
func (t *tracker) apply(name string) error {
	switch name {
	case "pause":
		t.paused = true
	case "resume":
		t.paused = false
		if e, ok := t.Estimator.(Freezer); ok {
			e.Freeze(false)
		}
	case "freeze":
		e, ok := t.Estimator.(Freezer)
		if !ok {
			return errors.New("freeze: this estimator cannot be frozen")
		}
		e.Freeze(true)
	case "reset":
		e, ok := t.Estimator.(Resetter)
		if !ok {
			return errors.New("reset: this estimator cannot be reset")
		}
		e.Reset()
	case "roll_back":
		return t.keeper.rollBack()
	default:
		return fmt.Errorf("command %.40q is not known: send pause, resume, freeze, reset or roll_back", name)
	}
	return nil
}
