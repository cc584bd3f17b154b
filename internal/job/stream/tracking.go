//go:build cgo

package stream

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/reach"
	"driftscope/internal/kit/console"
)

// tracked identifies the model that tracks the frames, for display and stored states.
type tracked struct {
	name    string
	digest  string // SHA-256
	latents int
	seed    uint64 // of the training
}

// plan says how frames are tracked: a model, its preprocessing and the law of its latents.
type plan struct {
	about tracked
	model *Model             // nil for objects without a model
	steps []config.Component // the configured steps; a builder appends more
	law   pipeline.Estimator // nil until begin
}

// builder builds a plan. There is one builder for a scene and one for a field.
type builder interface {
	// plan returns the plan of a model without its law. m is nil if objects are followed by position only.
	plan(ctx context.Context, m *Model) (plan, error)
	// lanes returns the number of frames tracked in parallel.
	lanes(p plan) int
	steps(p plan, lanes int) ([]pipeline.NamedStep, error)
	encoder(p plan) (pipeline.Encoder, error)
	viewer(p plan) (pipeline.Viewer, error)
	// begin returns the law of a plan. After a change of model it may be the law already in use.
	begin(p plan) (pipeline.Estimator, error)
	// reserve skips that many object numbers.
	reserve(numbers uint64)
}

// builderOf returns the builder for the configuration.
func (s *Stream) builderOf(applied []uint64, deterministic bool) (builder, error) {
	cfg, source := s.cfg, s.Stages.Source.Info()
	if err := checkPlaces(cfg, source); err != nil || !cfg.Objects.Enabled {
		return &sceneBuilder{cfg: cfg, applied: applied, deterministic: deterministic, lead: s.ahead}, err
	}
	b, err := newFieldBuilder(cfg, lawConfig(cfg.Online, 0, deterministic, applied, s.ahead))
	switch {
	case err != nil:
		return nil, err
	case source.Places:
		return &placesBuilder{*b}, nil
	case cfg.Objects.Find != "" && cfg.Model == "":
		return &firstBuilder{fieldBuilder: *b}, nil
	}
	return b, nil
}

// make makes the steps and an encoder for each lane, all or none.
func (p plan) make(b builder) (steps []pipeline.NamedStep, encoders []pipeline.Encoder, err error) {
	lanes := b.lanes(p)
	for range lanes {
		encoder, err := b.encoder(p)
		if err != nil {
			closeEncoders(encoders)
			return nil, nil, fmt.Errorf("%s: %w", p.about.name, err)
		}
		encoders = append(encoders, encoder)
	}
	if steps, err = b.steps(p, lanes); err != nil {
		closeEncoders(encoders)
		return nil, nil, err
	}
	return steps, encoders, nil
}

// track makes the stages after the source: the steps, the encoders, the estimator and the rules, and loads the law from its file if there is
// one. own.Model and own.Steps override the configuration.
func (s *Stream) track(ctx context.Context, own Own, deterministic bool) (err error) {
	m := own.Model
	if m == nil && !(s.cfg.Objects.Enabled && s.cfg.Model == "") {
		if m, err = LoadModel(ctx, s.cfg, s.bus); err != nil {
			if strings.HasPrefix(s.cfg.Model, reach.ServerModel) {
				return s.ofServer(err)
			}
			return console.Usage(err)
		}
	}
	if s.ahead, err = newLead(s.cfg, deterministic); err != nil {
		return console.Usage(err)
	}
	b, err := s.builderOf(own.Applied, deterministic)
	if err != nil {
		return console.Usage(err)
	}
	p, err := planned(ctx, b, m, own.Steps)
	if err != nil {
		return err
	}
	if s.Stages.Steps, s.Stages.Encoders, err = p.make(b); err != nil {
		return console.Usage(err)
	}
	if p.law, err = b.begin(p); err != nil {
		return console.Usage(err)
	}
	s.Stages.Estimator, s.tracking = p.law, newTracking(s.cfg, b, p)
	if s.Stages.Watcher, s.rules, err = newWatcher(s.cfg, p.about.latents, s.ahead); err != nil {
		return console.Usage(err)
	}
	if !s.repeats {
		s.restored, err = restore(p.law, s.cfg.Online.State)
	}
	return console.Usage(err)
}

// planned returns a model's plan, with the given steps if there are any.
func planned(ctx context.Context, b builder, m *Model, steps []config.Component) (plan, error) {
	if steps == nil {
		return b.plan(ctx, m)
	}
	return plan{about: ofModel(m), model: m, steps: steps}, nil
}

// ofModel identifies a scene's model.
func ofModel(m *Model) tracked {
	return tracked{m.name, m.Net.Digest, m.Net.Card.Latent, m.Net.Card.Training.Seed}
}

// allLanes returns one lane per core.
func allLanes() int { return runtime.NumCPU() }
