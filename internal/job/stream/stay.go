//go:build cgo

package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/console"
	"driftscope/sinks/natsink"
)

// stay runs stream i, and runs it again after each start request, until ctx ends.
func (p *Process) stay(ctx context.Context, i int, frames uint64) error {
	s := p.Streams[i]
	defer s.service.Close()
	for {
		summary, err := s.Run(ctx, frames)
		p.account(s, summary)
		if ctx.Err() != nil {
			return ofStream(s.cfg.Stream, len(p.Streams), err)
		}
		if err != nil {
			console.Say("stream %s failed: %v", s.cfg.Stream, err)
		}
		console.Say("stream %s is stopped: the command start runs it again", s.cfg.Stream)
		if s = p.again(ctx, i, summary.Health); s == nil {
			return nil
		}
		s.introduce()
	}
}

// again waits until a client starts stream i, and returns it ready to run, or nil after ctx has ended.
func (p *Process) again(ctx context.Context, i int, last latent.Health) *Stream {
	s := p.Streams[i]
	for {
		start, ok := s.service.Wait(ctx, last)
		if !ok {
			return nil
		}
		next, err := p.restart(ctx, i, start.Config)
		if err == nil {
			start.Reply(nil)
			return next
		}
		console.Say("stream %s is still stopped: %v", s.cfg.Stream, err)
		start.Reply(notStarted(err))
	}
}

// maxProblems bounds the bytes of problems in an answer.
const maxProblems = 16 << 10

// notStarted returns the refusal for a stream that did not start: a code for the cause, and all problems on one line.
func notStarted(err error) error {
	var refusal *latent.Refusal
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	text = text[:min(len(text), maxProblems)]
	switch {
	case errors.As(err, &refusal):
		return err
	case console.Status(err) == 2:
		return latent.Refuse(latent.Conflict, "start: %s", text)
	}
	return latent.Refuse(latent.NotNow, "start: %s", text)
}

// restart assembles stream i again, from its last configuration or from KV. It handles one stream at a time.
func (p *Process) restart(ctx context.Context, i int, fromKV bool) (_ *Stream, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.Streams[i]
	cfg, said := before.written, ""
	if fromKV {
		if cfg, err = p.fromKV(before); err != nil {
			return nil, err
		}
		said = `: {"config":true}`
	}
	s, err := p.assemble(ctx, cfg, nil)
	if err != nil {
		return nil, err
	}
	s.service, s.metrics = before.service, before.metrics
	if err = s.attach(p.Bus, len(p.Streams) == 1); err == nil {
		err = s.tell(ctx, "command_start", "the command start was applied"+said)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	p.Streams[i] = s
	return s, nil
}

// tell sends the sinks an event before the stream runs. The run counts lost events.
func (s *Stream) tell(ctx context.Context, code, text string) error {
	e := &latent.Event{Time: time.Now(), Level: latent.Info, Code: code, Text: text, Count: 1}
	for i := range s.Stages.Sinks {
		sink := &s.Stages.Sinks[i]
		err := sink.Sink.Write(ctx, e)
		if _, passes := errors.AsType[latent.Undelivered](err); passes {
			sink.Lost = err
		} else if err != nil {
			return fmt.Errorf("sink %s: %w", sink.Name, err)
		}
	}
	return nil
}

// fromKV returns the configuration of s in the site's bucket, checked like a file. Settings shared by the process's streams do not change.
func (p *Process) fromKV(s *Stream) (cfg config.Config, err error) {
	switch own := s.written.NATS; {
	case s.bucket == nil:
		return cfg, latent.Refuse(latent.Conflict, "start: there is no configuration in KV: set nats.durable, or send start without config")
	case own.URL == config.NATSEmbedded && own.Token == "":
		return cfg, latent.Refuse(latent.Conflict, "start: anyone on this machine can write to its NATS server, and a configuration names files to read and write: set nats.token, or a nats.url of a server with users")
	}
	name := s.cfg.Stream + ".config"
	text, err := s.bucket.Configuration()
	if errors.Is(err, natsink.ErrNotKept) {
		return cfg, latent.Refuse(latent.Conflict, "start: %s: %v: put a configuration, with nats kv put", name, err)
	}
	if err != nil {
		return cfg, err
	}
	if cfg, err = config.Parse(name, text); err != nil {
		return cfg, console.Usage(err)
	}
	if cfg, err = cfg.Reveal(s.written); err != nil {
		return cfg, err
	}
	if err = ofProcess(&cfg, s.written); err != nil {
		return cfg, console.Usage(fmt.Errorf("%s: %w", name, err))
	}
	if err = SettleSeeds(&cfg, nil); err != nil {
		return cfg, err
	}
	return cfg, console.Usage(p.besides(s, cfg))
}

// ofProcess refuses a change of a setting that all streams of a process share. It fills in absent settings.
func ofProcess(cfg *config.Config, own config.Config) error {
	usual := config.Default()
	switch {
	case cfg.Stream != own.Stream:
		return fmt.Errorf("stream: found %s, expected %s: start another run to use another name", cfg.Stream, own.Stream)
	case cfg.NATS != own.NATS && cfg.NATS != usual.NATS:
		return errors.New("nats: differs from the process's, and a process has one bus: leave it out, or run the configuration in another process")
	case cfg.Dashboard != own.Dashboard && cfg.Dashboard != usual.Dashboard:
		return errors.New("dashboard: differs from the process's, and a process has one dashboard: leave it out, or run the configuration in another process")
	}
	cfg.NATS, cfg.Dashboard = own.NATS, own.Dashboard
	return nil
}

// besides refuses a configuration for s that would overwrite the files of other streams.
func (p *Process) besides(s *Stream, cfg config.Config) error {
	names, cfgs := []string{cfg.Stream}, []config.Config{cfg}
	for _, other := range p.Streams {
		if other.cfg.Stream != s.cfg.Stream {
			names, cfgs = append(names, other.cfg.Stream), append(cfgs, other.written)
		}
	}
	return SideBySide(names, cfgs)
}
