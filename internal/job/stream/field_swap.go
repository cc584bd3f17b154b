//go:build cgo

package stream

import (
	"context"
	"fmt"
	"sync"

	"driftscope/infer/field"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/online/objects"
	"driftscope/sinks/natsink"
)

// lookSwapper makes another model of objects ready for a running stream: one that the server keeps, or the one before, which may be none. The objects, their
// numbers and laws go on; only what they look like is told otherwise.
type lookSwapper struct {
	cfg       config.Config
	bus       *bus.Conn
	locators  *field.Locators
	estimator *objects.Estimator
	alone     tracked // what runs where no model does

	mu      sync.Mutex // over now, which others ask for
	now     *Model     // nil where there is none
	before  *Model
	changed bool
}

// swap is a pipeline.Swap.
func (s *lookSwapper) swap(ctx context.Context, payload []byte, like *frame.Frame) (*pipeline.Replacement, error) {
	w, err := readWanted(payload)
	if err != nil {
		return nil, err
	}
	if w.Back {
		if !s.changed {
			return nil, latent.Refuse(latent.Conflict, `model: there is none to go back to, the run began with this one: send {"name": ...}`)
		}
		return s.ready(s.before)
	}
	m, err := s.fetch(ctx, w)
	if err == nil {
		err = s.try(ctx, m, like)
	}
	if err != nil {
		return nil, err
	}
	return s.ready(m)
}

// fetch loads the model that is wanted.
func (s *lookSwapper) fetch(ctx context.Context, w wanted) (*Model, error) {
	m, err := w.fetch(ctx, s.bus, s.now)
	if err != nil {
		return nil, err
	}
	if err := m.fits(true); err != nil {
		return nil, latent.Refuse(latent.Conflict, "%v", err)
	}
	if _, _, err := newWatcher(s.cfg, objects.Dim+m.Net.Card.Latent, nil); err != nil {
		return nil, latent.Refuse(latent.Conflict, "model: %s: %v", m.name, err)
	}
	return m, nil
}

// try encodes a copy of a frame.
func (s *lookSwapper) try(ctx context.Context, m *Model, like *frame.Frame) error {
	if like == nil {
		return latent.Refuse(latent.NotNow, "model: no frame has come yet that %s could be tried on: try again when one has", m.name)
	}
	look, err := field.NewAppearance(m.Net)
	if err != nil {
		return latent.Refuse(latent.Conflict, "model: %v", err)
	}
	encoder := field.NewEncoder(s.locators, look)
	defer encoder.Close()
	light := frame.Template{SD: m.Net.Card.Objects.Template, Dark: m.Net.Card.Objects.Dark}
	steps, err := newFieldSteps(s.cfg.Preprocess, light, 1)
	if err != nil {
		return latent.Refuse(latent.Conflict, "model: %s: %v", m.name, err)
	}
	defer closeSteps(steps)
	return m.tryOn(ctx, like, steps, encoder)
}

// ready builds the lanes of a model, nil for places alone.
func (s *lookSwapper) ready(next *Model) (*pipeline.Replacement, error) {
	steps, encoders, err := newFieldTrack(s.cfg, s.locators, next)
	if err != nil {
		return nil, latent.Refuse(latent.Conflict, "model: %v", err)
	}
	name := "none"
	if next != nil {
		name = fmt.Sprintf("%s, SHA-256 %s", next.name, next.Net.Digest)
	}
	return &pipeline.Replacement{Model: name, Steps: steps, Encoders: encoders, Viewer: field.NewViewer(), Estimator: s.estimator,
		Done: func(used bool) { s.done(next, used) }}, nil
}

// done notes which model runs.
func (s *lookSwapper) done(next *Model, used bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if used {
		s.before, s.now, s.changed = s.now, next, true
	}
}

// about is what a stream says of itself, with the model that runs now. It may be called on nil.
func (s *lookSwapper) about(a natsink.About) natsink.About {
	if s == nil {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.changed {
		return a
	}
	what := s.alone
	if s.now != nil {
		what = looking(s.now)
	}
	a.Model, a.ModelSHA256, a.Latents = what.name, what.digest, what.latents
	return a
}
