package frames

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"driftscope/ingest"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/recording"
	"driftscope/internal/job/stream"
	"driftscope/sinks"
)

// pacedSource shows a simulation as a camera would: a frame every period with its arrival time. It draws ahead.
type pacedSource struct {
	pipeline.Source
	period time.Duration
	begun  time.Time
}

// Info says that the source is live.
func (*pacedSource) Info() pipeline.Info { return pipeline.Info{Live: true} }

func (s *pacedSource) Open(ctx context.Context) error {
	s.begun = time.Now()
	return s.Source.Open(ctx)
}

func (s *pacedSource) Read(ctx context.Context) (*frame.Frame, error) {
	f, err := s.Source.Read(ctx)
	if err != nil {
		return nil, err
	}
	due := s.begun.Add(time.Duration(f.Seq) * s.period)
	time.Sleep(time.Until(due))
	f.Time = due // even if this process overslept: a camera does not wait
	f.Meta.Arrived = due
	return f, nil
}

// timedSink is a sink that measures another sink's time to publish a latent.
type timedSink struct {
	sinks.Sink
	took []time.Duration
}

func (s *timedSink) Write(ctx context.Context, m latent.Message) error {
	start := time.Now()
	err := s.Sink.Write(ctx, m)
	if _, ok := m.(*latent.Estimate); ok {
		s.took = append(s.took, time.Since(start))
	}
	return err
}

// alone tracks the molecule for the measured time plus a second, and prints a publisherCost.
func (c *NATSCommand) alone(ctx context.Context) (err error) {
	cfg := config.Default()
	cfg.Stream, cfg.NATS.Port = "molecule", c.Alone
	if c.Durable {
		cfg.NATS.Durable = true
		if cfg.NATS.Store, err = os.MkdirTemp("", "driftscope-bench"); err != nil {
			return err
		}
		defer os.RemoveAll(cfg.NATS.Store)
	}
	if cfg.Source, err = config.NewComponent(recording.SimSource, map[string]any{"name": "molecule", "realtime": false}); err != nil {
		return err
	}
	server, err := stream.Connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer server.Close()
	source, err := ingest.New(cfg.Source.Kind, cfg.Source.Decode)
	if err != nil {
		return err
	}
	watch := &timedSink{}
	s, err := stream.Behind(ctx, cfg, server, stream.Own{Source: &pacedSource{Source: source, period: time.Duration(float64(time.Second) / c.FPS)}, Sink: func(s sinks.Sink) sinks.Sink {
		watch.Sink = s
		return watch
	}})
	if err != nil {
		return err
	}
	summary, err := s.Run(ctx, uint64((c.Seconds+2*warmUp.Seconds())*c.FPS))
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
