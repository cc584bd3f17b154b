package replay

import (
	"context"
	"time"

	"driftscope/internal/flow/latent"
)

// wait returns at due, unless the replay is paused. It also returns when the replay is stopped or ctx ends. Meanwhile it applies commands and sends health.
func (p *player) wait(ctx context.Context, due time.Time) error {
	for !p.stopped {
		var turn <-chan time.Time // never, while paused
		if !p.paused {
			turn = time.After(time.Until(due))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-turn:
			return nil
		case c := <-p.sink.Commands():
			if err := p.obey(ctx, c); err != nil {
				return err
			}
		case <-p.health.C:
			if err := p.tell(ctx, "tracking"); err != nil {
				return err
			}
		}
	}
	return nil
}

// rest waits at the end for the command start, which repeats the replay.
func (p *player) rest(ctx context.Context) (again bool, err error) {
	for err == nil {
		select {
		case <-ctx.Done():
			return false, nil
		case c := <-p.sink.Commands():
			if c.Name == "start" {
				return true, p.applied(ctx, c)
			}
			c.Reply(latent.Refuse(latent.Conflict, "%s: the replay is at its end: send start", c.Name))
		case <-p.health.C:
			err = p.tell(ctx, "stopped")
		}
	}
	return false, err
}

// obey applies a command that controls the replay. It refuses commands that control tracking.
func (p *player) obey(ctx context.Context, c latent.Command) error {
	switch c.Name {
	case "pause":
		p.paused = true
	case "resume":
		p.paused = false
	case "stop":
		p.stopped = true
	default:
		c.Reply(latent.Refuse(latent.Conflict, "%s: this is a replay, so nothing is tracked: send pause, resume or stop", c.Name))
		return nil
	}
	return p.applied(ctx, c)
}

// applied answers a command and publishes it, as a run does.
func (p *player) applied(ctx context.Context, c latent.Command) error {
	c.Reply(nil)
	return p.write(ctx, &latent.Event{
		Seq: p.seq, Time: time.Now(), Level: latent.Info, Code: "command_" + c.Name, Text: "the command " + c.Name + " was applied", Count: 1,
	})
}
