//go:build cgo

package stream

import (
	"context"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/sinks"
)

// Own holds what a caller supplies instead of the configuration.
type Own struct {
	Source  pipeline.Source
	Model   *Model                      // nil is the configuration's
	Steps   []config.Component          // nil is the model's
	Applied []uint64                    // frames at which refined drifts are put to use; nil is when they are ready
	Sink    func(sinks.Sink) sinks.Sink // put around the first sink; nil is none
	// Wrote is called, from any goroutine, with the time from a trigger until a device had taken it; may be nil.
	Wrote func(t *latent.Trigger, took time.Duration)
}

// Behind makes run's stages for a source of the caller's. They publish on a server that stays the caller's, or nowhere where that is nil.
// With an error nothing is left open but these two.
func Behind(ctx context.Context, cfg config.Config, server *bus.Conn, own Own) (*Stream, error) {
	s := &Stream{cfg: cfg, written: cfg, bus: server, told: own.Wrote}
	s.Stages.Source = own.Source
	err := s.track(ctx, own, false)
	if err == nil {
		err = s.attach(server, false)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	if own.Sink != nil {
		s.Stages.Sinks[0].Sink = own.Sink(s.Stages.Sinks[0].Sink)
	}
	return s, nil
}
