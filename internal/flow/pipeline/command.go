package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"strings"
	"time"

	"driftscope/internal/flow/latent"
)

// errEnded refuses a command that arrives while the run ends.
var errEnded = latent.Refuse(latent.NotNow, "the run is ending: the command was not applied: start the stream again")

// relay forwards a sink's commands until the tracker has ended. They go to the tracker, or to swap if a model must be loaded first.
func (r *runner) relay(from <-chan latent.Command, ended <-chan struct{}) {
	for {
		select {
		case c, ok := <-from:
			if !ok {
				return
			}
			orders, swaps := r.orders, (chan latent.Command)(nil)
			if c.Name == swapModel && r.stages.Swap != nil {
				orders, swaps = nil, r.swaps
			}
			select {
			case orders <- order{command: c}:
			case swaps <- c:
			case <-ended:
				c.Reply(errEnded)
			}
		case <-ended:
			return
		}
	}
}

// command waits until every earlier frame has its estimate, then applies, answers and publishes o. It holds dispatch, so no frame starts meanwhile.
func (t *tracker) command(p phases, o order) {
	ctx := p.track
	t.last.enter(t.tickets)
	c := o.command
	switch {
	case o.next != nil: // answered once the previous law is on the disk
		t.install(p, o)
	case c.Name == "checkpoint" && plain(c) == nil: // answered once the checkpoint is on the disk
		t.kept(ctx, t.checkpoints.ask(func(err error) { t.answer(ctx, c, err) }, t.paused, time.Now()))
	default:
		t.answer(ctx, c, t.apply(c))
		if t.paused {
			t.kept(ctx, t.checkpoints.rest())
		}
	}
}

// answer sends the result of c to its sender.
func (t *tracker) answer(ctx context.Context, c latent.Command, err error) {
	c.Reply(err)
	if err != nil {
		if n, tell := t.runner.counters.refuseCommand(time.Now()); tell {
			t.runner.log.Warn("command refused", "command", c.Name, "count", n, "err", err)
		}
		return
	}
	var with bytes.Buffer
	if plain(c) != nil {
		with.WriteString(": ")
		json.Compact(&with, c.Payload) // valid: it was decoded before
	}
	t.applied(ctx, c.Name, "the command "+c.Name+" was applied"+with.String())
}

// applied logs and publishes that a command was applied.
func (t *tracker) applied(ctx context.Context, name, text string) {
	t.runner.log.Info("command applied", "command", name, "what", text)
	t.runner.publish(ctx, &latent.Event{
		Seq: t.runner.counters.lastSeq(), Time: time.Now(), Level: latent.Info, Code: "command_" + name, Text: text, Count: 1,
	}, time.Time{})
}

// apply executes a command by its name; latent.Applied describes all commands.
func (t *tracker) apply(c latent.Command) error {
	switch {
	case c.Name == "roi":
		return t.move(c)
	case c.Name == "follow" || c.Name == "unfollow":
		return t.follow(c)
	case c.Name == swapModel:
		return latent.Refuse(latent.Conflict, "model: this stream cannot change its model: start the stream again with the other model")
	case c.Name == "start" && t.ending:
		return errEnded
	case c.Name == "start":
		return latent.Refuse(latent.Conflict, "start: the stream is already running: send stop first; only run --stay starts an ended stream again")
	}
	if err := plain(c); err != nil {
		return err
	}
	switch c.Name {
	case "pause":
		t.paused = true
	case "resume":
		t.paused = false
		t.estimator.Freeze(false)
	case "freeze":
		t.estimator.Freeze(true)
	case "reset":
		t.estimator.Reset()
	case "roll_back":
		return t.checkpoints.rollBack()
	case "stop":
		t.ending = true
		t.runner.stop()
	default:
		return latent.Refuse(latent.Unknown, "command %.40q is not known: send %s", c.Name, strings.Join(names(), ", "))
	}
	return nil
}

// follow chooses the object whose latents are published; the command unfollow chooses none.
func (t *tracker) follow(c latent.Command) error {
	if c.Name == "unfollow" {
		if err := plain(c); err != nil {
			return err
		}
		return t.estimator.Follow(0)
	}
	var which struct{ ID uint64 }
	if err := latent.DecodePayload(c.Payload, &which); err != nil || which.ID == 0 {
		return latent.Refuse(latent.Malformed, `follow: found %.80q: send {"id": 17}, the number of an object`, c.Payload)
	}
	return t.estimator.Follow(which.ID)
}

// move moves the region of interest.
func (t *tracker) move(c latent.Command) error {
	var to struct{ X, Y *int }
	if err := latent.DecodePayload(c.Payload, &to); err != nil || to.X == nil || to.Y == nil {
		return latent.Refuse(latent.Malformed, `roi: found %.80q: send {"x": 120, "y": 80}, the upper left corner of the region in pixels`, c.Payload)
	}
	for _, step := range t.pool.steps {
		if step.Steps[0].Can().Region != nil {
			return move(step.Steps, image.Pt(*to.X, *to.Y))
		}
	}
	return latent.Refuse(latent.Conflict, "roi: the model's preprocessing cuts no region: train one that does, with driftscope pretrain --crop")
}

// move moves the region of every lane's step to the same position, also of steps that have not received a frame yet.
func move(steps []Step, to image.Point) error {
	var reach image.Point
	known := false
	for _, s := range steps {
		if corner, ok := s.Can().Region.Reach(); ok {
			reach, known = corner, true
		}
	}
	if !known {
		return latent.Refuse(latent.NotNow, "roi: no frame has arrived yet: try again after the first frame")
	}
	if to.X < 0 || to.Y < 0 || to.X > reach.X || to.Y > reach.Y {
		return latent.Refuse(latent.Malformed, "roi: found x %d, y %d: send x from 0 to %d and y from 0 to %d, where the region lies in the frame", to.X, to.Y, reach.X, reach.Y)
	}
	var errs []error
	for _, s := range steps {
		errs = append(errs, s.Can().Region.Move(to))
	}
	return errors.Join(errs...)
}

// plain returns a refusal if c has a payload, for commands that take none.
func plain(c latent.Command) error {
	if body := bytes.TrimSpace(c.Payload); len(body) > 0 && string(body) != "{}" {
		return latent.Refuse(latent.Malformed, "%.40q takes no payload: send an empty request", c.Name)
	}
	return nil
}

// names returns the names of the commands that apply knows.
func names() []string {
	var names []string
	for _, c := range latent.Applied() {
		names = append(names, c.Name)
	}
	return names
}
