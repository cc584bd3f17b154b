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

// Own holds the parts that a caller supplies instead of the configuration.
type Own struct {
	Source  pipeline.Source
	Model   *Model                      // nil uses the configuration's model
	Steps   []config.Component          // nil uses the model's steps
	Applied []uint64                    // frames at which refined drifts are applied; nil applies them when ready
	Sink    func(sinks.Sink) sinks.Sink // wraps the first sink; may be nil
	// Wrote, if not nil, is called from any goroutine with the time from a trigger to the write to its device.
	Wrote func(t *latent.Trigger, took time.Duration)
}

// Behind builds the stages of run for the caller's source. They publish on the caller's server, or nowhere if it is nil. After an error only the source
// and the server are still open.
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
