package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"driftscope/ingest"
	"driftscope/internal/config"
	"driftscope/internal/frame"
	"driftscope/internal/latent"
	"driftscope/internal/pipeline"
	"driftscope/sinks"
)

// stage shows a simulation as a camera would: a frame every period, with the time at which it arrived. It draws ahead.
type stage struct {
	pipeline.Source
	period time.Duration
	begun  time.Time
}

func (*stage) Live() bool { return true }

func (s *stage) Open(ctx context.Context) error {
	s.begun = time.Now()
	return s.Source.Open(ctx)
}

func (s *stage) Read(ctx context.Context) (*frame.Frame, error) {
	f, err := s.Source.Read(ctx)
	if err != nil {
		return nil, err
	}
	due := s.begun.Add(time.Duration(f.Seq) * s.period)
	time.Sleep(time.Until(due))
	f.Time = due // also where the machine let us sleep too long: a camera does not wait
	f.Meta.Arrived = due
	return f, nil
}

// punctual is a sink that notes how long another takes of the run to publish a latent.
type punctual struct {
	sinks.Sink
	took []time.Duration
}

func (s *punctual) Write(ctx context.Context, m latent.Message) error {
	start := time.Now()
	err := s.Sink.Write(ctx, m)
	if _, ok := m.(*latent.Estimate); ok {
		s.took = append(s.took, time.Since(start))
	}
	return err
}

// alone tracks the molecule for the time measured, a second more, and prints a publisherCost.
func (c *benchNATSCmd) alone(ctx context.Context) (err error) {
	cfg := config.Default()
	cfg.Stream, cfg.NATS.Port = "molecule", c.Alone
	if c.Durable {
		cfg.NATS.Durable = true
		if cfg.NATS.Store, err = os.MkdirTemp("", "driftscope-bench"); err != nil {
			return err
		}
		defer os.RemoveAll(cfg.NATS.Store)
	}
	if cfg.Source, err = config.NewComponent(simSource, map[string]any{"name": "molecule", "realtime": false}); err != nil {
		return err
	}
	server, err := connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	s, err := onStage(ctx, cfg, time.Duration(float64(time.Second)/c.FPS))
	if err == nil {
		err = s.attach(server, false)
	}
	if err != nil {
		return err
	}
	watch := &punctual{Sink: s.stages.Sinks[0].Sink}
	s.stages.Sinks[0].Sink = watch
	summary, err := s.run(ctx, uint64((c.Seconds+2*warmUp.Seconds())*c.FPS))
	if err != nil {
		return err
	}
	warm := int(warmUp.Seconds() * c.FPS)
	if len(watch.took) <= warm {
		return errors.New("nothing was tracked: measure for longer")
	}
	return json.NewEncoder(os.Stdout).Encode(publisherCost{
		Publish: quantilesOf(watch.took[warm:]), Stages: summary.Health.Stages, Dropped: summary.FramesIn - summary.Tracked,
	})
}

// onStage makes run's own stages but for the sinks.
func onStage(ctx context.Context, cfg config.Config, period time.Duration) (*stream, error) {
	source, err := ingest.New(cfg.Source.Kind, cfg.Source.Decode)
	if err != nil {
		return nil, err
	}
	s := &stream{cfg: cfg, written: cfg}
	s.stages.Source = &stage{Source: source, period: period}
	if s.model, err = loadModel(ctx, cfg, nil); err != nil {
		return nil, err
	}
	steps, err := s.model.steps(ctx, cfg)
	if err == nil {
		err = s.finish(ctx, cfg, steps, nil, false)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}
