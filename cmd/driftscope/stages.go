package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/term"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/ingest"
	"driftscope/internal/bus"
	"driftscope/internal/config"
	"driftscope/internal/pipeline"
	"driftscope/online"
	"driftscope/preprocess"
	"driftscope/sinks"
	"driftscope/sinks/web"
)

// Kinds that the command line itself names.
const (
	simSource    = "sim"
	terminalSink = "terminal"
	natsSink     = "nats"
)

// stream is everything that run needs, made from a configuration and not yet started.
type stream struct {
	stages pipeline.Stages
	model  *loadedModel
	bus    *bus.Conn // nil where nats.url is off

	dashboard *web.Server // nil where there is none

	restored bool // the law goes on from online.state
}

// assemble makes every stage. What the user can be blamed for is a usage error; then nothing was opened. The bus comes last but for
// the sinks, so that a wrong option never costs a connection.
//
// With an earlier run, what is tracked and when the drift is refined are as they were then.
func assemble(ctx context.Context, cfg config.Config, before *earlier) (*stream, error) {
	s := &stream{}
	if err := s.build(ctx, cfg, before); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// build fills s as far as it gets.
func (s *stream) build(ctx context.Context, cfg config.Config, before *earlier) (err error) {
	if s.stages.Source, err = ingest.New(cfg.Source.Kind, cfg.Source.Decode); err != nil {
		return usage(err)
	}
	var applied []uint64
	if before != nil {
		if s.stages.Source, err = before.repeat(s.stages.Source); err != nil {
			return usage(err)
		}
		applied = before.applied
	}
	if s.model, err = loadModel(cfg); err != nil {
		return usage(err)
	}
	steps, err := s.model.steps(ctx, cfg)
	if err != nil {
		return err
	}
	if s.stages.Steps, err = newSteps(steps); err != nil {
		return usage(err)
	}
	s.stages.Steps = append(s.stages.Steps, pipeline.NamedStep{Name: "centroid", Step: preprocess.NewFollow()})
	encoder, err := s.model.NewEncoder()
	if err != nil {
		return usage(fmt.Errorf("%s: %w", s.model.name, err))
	}
	s.stages.Encoder = encoder
	estimator, err := newEstimator(cfg.Online, s.model.Model, waits(s.stages.Source), applied)
	if err != nil {
		return usage(err)
	}
	s.stages.Estimator = estimator
	if s.restored, err = restore(estimator, cfg.Online.State); err != nil {
		return usage(err)
	}
	if s.bus, err = connect(ctx, cfg); err != nil {
		return err
	}
	if s.dashboard, err = showDashboard(cfg, s.bus); err != nil {
		return err
	}
	s.stages.Sinks, err = newSinks(cfg, s.bus)
	return usage(err)
}

// close frees what was made of a stream that is not going to run. An unopened source holds nothing.
func (s *stream) close() {
	for _, step := range s.stages.Steps {
		step.Close()
	}
	if s.stages.Encoder != nil {
		s.stages.Encoder.Close()
	}
	if s.stages.Estimator != nil {
		s.stages.Estimator.Close()
	}
	s.dashboard.Close()
	if s.bus != nil {
		s.bus.Close()
	}
}

// newSteps makes the preprocessing steps, all or none.
func newSteps(components []config.Component) ([]pipeline.NamedStep, error) {
	var steps []pipeline.NamedStep
	for i, c := range components {
		step, err := preprocess.New(c.Kind, c.Decode)
		if err != nil {
			for _, s := range steps {
				s.Close()
			}
			return nil, fmt.Errorf("preprocess[%d]: %w", i, err)
		}
		steps = append(steps, pipeline.NamedStep{Name: c.Kind, Step: step})
	}
	return steps, nil
}

// newEstimator starts from the drift that the model was trained with. Where the source waits for tracking, the estimator waits for its
// refinements too, and the same input gives the same output.
func newEstimator(o config.Online, model *infer.Model, deterministic bool, applied []uint64) (*online.Estimator, error) {
	c := online.Config{
		Dim: model.Card.Latent, Seed: o.Seed, MaxGap: o.MaxGap, RefineLag: o.RefineLag, PixelUM: o.PixelUM, Deterministic: deterministic, Applied: applied,
		Forecast: o.Forecast, AlarmFrames: float64(o.AlarmFrames), TrainMean: model.Card.Mean, TrainSD: model.Card.SD,
	}
	if model.Card.Drift != nil {
		c.Prior = sdevae.DriftOf(&model.Card)
	}
	return online.New(c)
}

// restore has the estimator go on from the state kept at path, where there is one; "" is none.
func restore(e *online.Estimator, path string) (restored bool, err error) {
	if path == "" {
		return false, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("online.state: %w: give a file that can be read and written", err)
	}
	defer f.Close()
	if err := e.Restore(f); err != nil {
		return false, fmt.Errorf("online.state: %s: %w; or delete it to begin anew", path, err)
	}
	e.Freeze(false) // cuts the trajectory: this run's first latent does not follow the last of another
	return true, nil
}

// keeping writes states to path; nil where none are kept.
func keeping(path string) func([]byte) error {
	if path == "" {
		return nil
	}
	return func(state []byte) error { return writeFile(path, state) }
}

// waits says whether a source gives the next frame only when it is asked.
func waits(source pipeline.Source) bool {
	live, ok := source.(pipeline.Live)
	return !ok || !live.Live()
}

// connect reaches the bus, or starts the embedded one; nil where it is off.
func connect(ctx context.Context, cfg config.Config) (*bus.Conn, error) {
	o := cfg.NATS
	if o.URL == config.NATSOff {
		return nil, nil
	}
	return bus.Connect(ctx, bus.Options{URL: o.URL, Port: o.Port, Prefix: o.Prefix, Site: o.Site, WebSocket: o.WebSocket, Pages: pages(cfg.Dashboard)})
}

// newSinks makes the sinks of the configuration, and NATS where there is a bus, all or none.
func newSinks(cfg config.Config, b *bus.Conn) ([]pipeline.NamedSink, error) {
	env := sinks.Env{Stream: cfg.Stream, Bus: b, Stdout: os.Stdout, Terminal: term.IsTerminal(int(os.Stdout.Fd()))}
	components := cfg.Sinks
	if b != nil {
		components = append([]config.Component{{Kind: natsSink}}, components...)
	}
	if slices.ContainsFunc(cfg.Sinks, func(c config.Component) bool { return c.Kind == natsSink }) {
		return nil, errors.New("sinks: nats is switched by nats.url: leave it out of the list")
	}
	var made []pipeline.NamedSink
	for _, c := range components {
		sink, err := sinks.New(c.Kind, c.Decode, env)
		if err != nil {
			return nil, errors.Join(err, closeSinks(made))
		}
		made = append(made, pipeline.NamedSink{Name: c.Kind, Sink: sink})
	}
	return made, nil
}

func closeSinks(made []pipeline.NamedSink) error {
	var errs []error
	for _, s := range made {
		errs = append(errs, s.Close(context.Background()))
	}
	return errors.Join(errs...)
}

// viewEvery is how often the encoder shows what it sees; without a bus nobody could look.
func (s *stream) viewEvery() time.Duration {
	if s.bus == nil {
		return 0
	}
	return time.Second / 10
}

// introduce says what is about to run, with every seed.
func (s *stream) introduce(cfg config.Config) {
	source := sourceName(cfg.Source)
	if seed, ok := cfg.Source.Options()["seed"]; ok {
		source += fmt.Sprintf(" (seed %v)", seed)
	}
	c := &s.model.Card
	say("stream %s: %s; model %s (%d latents, seed %d); estimator seed %d", cfg.Stream, source, s.model.name, c.Latent, c.Training.Seed, cfg.Online.Seed)
	if s.restored {
		say("the law goes on from %s", cfg.Online.State)
	}
	if s.bus != nil {
		say("publishing on %s under %s.%s.%s", s.bus.URL(), cfg.NATS.Prefix, cfg.NATS.Site, cfg.Stream)
	}
	if s.dashboard != nil {
		say("dashboard at %s", s.dashboard.URL())
	}
}

// stepsOf are a card's steps as components.
func stepsOf(steps []card.Step) ([]config.Component, error) {
	var components []config.Component
	for _, s := range steps {
		c, err := config.NewComponent(s.Kind, s.Options)
		if err != nil {
			return nil, err
		}
		components = append(components, c)
	}
	return components, nil
}
