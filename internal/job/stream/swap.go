//go:build cgo

package stream

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/online"
	"driftscope/sinks/natsink"
)

// modelState is a model with its preprocessing and the law of its latents.
type modelState struct {
	model *Model
	steps []config.Component
	law   *online.Estimator
}

// swapper makes other models ready for a running stream: those that the server keeps, and the one before, with its law as it was left.
type swapper struct {
	cfg           config.Config
	bus           *bus.Conn
	bucket        *natsink.Bucket // nil where nothing is kept in KV
	deterministic bool
	first         string // digest of the model that the run began with
	lead          *lead  // of the stream

	mu      sync.Mutex // over now, which others ask for
	now     modelState
	before  modelState // its law is held here; no model before the first change
	closing sync.WaitGroup
}

func newSwapper(cfg config.Config, now modelState, deterministic bool) *swapper {
	return &swapper{cfg: cfg, deterministic: deterministic, first: now.model.Net.Digest, now: now}
}

// wanted is the payload of the command model: a name, with the digest that it must have, or back.
type wanted struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Back   bool   `json:"back"`
}

var digest256 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// readWanted refuses whatever does not say exactly one model.
func readWanted(payload []byte) (w wanted, err error) {
	err = latent.DecodePayload(payload, &w)
	named := w.Name != "" && !w.Back && (w.SHA256 == "" || digest256.MatchString(w.SHA256))
	if err != nil || !named && w != (wanted{Back: true}) {
		return w, latent.Refuse(latent.Malformed, `model: found %.80q: send {"name": "spot"}, if you like with "sha256": and 64 hexadecimal digits, or {"back": true}`, payload)
	}
	return w, nil
}

// swap is a pipeline.Swap.
func (s *swapper) swap(ctx context.Context, payload []byte, like *frame.Frame) (*pipeline.Replacement, error) {
	w, err := readWanted(payload)
	if err != nil {
		return nil, err
	}
	if w.Back {
		if s.before.model == nil {
			return nil, latent.Refuse(latent.Conflict, `model: there is none to go back to, the run began with this one: send {"name": ...}`)
		}
		return s.ready(s.before)
	}
	next, err := s.fetch(ctx, w)
	if err != nil {
		return nil, err
	}
	if err := try(ctx, next, like); err != nil {
		return nil, err
	}
	if next.law, err = s.begin(next.model); err != nil {
		return nil, err
	}
	r, err := s.ready(next)
	if err != nil {
		next.law.Close()
	}
	return r, err
}

// fetch loads the model that is wanted, and the preprocessing that it was trained with.
func (s *swapper) fetch(ctx context.Context, w wanted) (modelState, error) {
	model, err := w.fetch(ctx, s.bus, s.now.model)
	if err != nil {
		return modelState{}, err
	}
	steps, err := model.Steps(ctx, s.cfg)
	if err != nil {
		return modelState{}, latent.Refuse(latent.Conflict, "model: %s: %v", model.name, err)
	}
	if _, _, err := newWatcher(s.cfg, model.Net.Card.Latent, nil); err != nil {
		return modelState{}, latent.Refuse(latent.Conflict, "model: %s: %v", model.name, err)
	}
	return modelState{model: model, steps: steps}, nil
}

// fetch loads the model that is wanted from the server, in place of the one that runs now, nil for none.
func (w wanted) fetch(ctx context.Context, b *bus.Conn, now *Model) (*Model, error) {
	m, err := fetchModel(ctx, b, w.Name)
	switch {
	case err != nil:
		return nil, refusal(err)
	case w.SHA256 != "" && w.SHA256 != m.Net.Digest:
		return nil, latent.Refuse(latent.Conflict, "model: %s has the SHA-256 %s, expected %s: put the one that is meant", m.name, m.Net.Digest, w.SHA256)
	case now != nil && m.Net.Digest == now.Net.Digest:
		return nil, latent.Refuse(latent.Conflict, "model: %s, SHA-256 %.12s, is the one that tracks: name another", m.name, m.Net.Digest)
	}
	return m, nil
}

// refusal says whose fault it is that a model could not be fetched.
func refusal(err error) error {
	code := latent.Conflict // the file is not what it should be, or there is no store
	switch {
	case errors.Is(err, bus.ErrNoModel):
		code = latent.Unknown
	case errors.Is(err, bus.ErrName):
		code = latent.Malformed
	case errors.Is(err, bus.ErrUnanswered):
		code = latent.NotNow
	}
	return latent.Refuse(code, "%v", err)
}

// try encodes a copy of a frame with steps and an encoder of its own, so that those of the stream see no frame before their first.
func try(ctx context.Context, f modelState, like *frame.Frame) (err error) {
	if like == nil {
		return latent.Refuse(latent.NotNow, "model: no frame has come yet that %s could be tried on: try again when one has", f.model.name)
	}
	steps, err := newTrack(f.steps, 1)
	if err != nil {
		return latent.Refuse(latent.Conflict, "model: %s: %v", f.model.name, err)
	}
	defer closeSteps(steps)
	encoder, err := f.model.Net.NewEncoder()
	if err != nil {
		return latent.Refuse(latent.Conflict, "model: %v", err)
	}
	defer encoder.Close()
	return f.model.tryOn(ctx, like, steps, encoder)
}

// tryOn runs a copy of a frame through steps and encoder.
func (m *Model) tryOn(ctx context.Context, like *frame.Frame, steps []pipeline.NamedStep, encoder pipeline.Encoder) (err error) {
	picture := frame.New(like.Seq, like.Time, frame.Meta{}, like.Mat().Clone())
	defer picture.Close()
	for i := 0; err == nil && i < len(steps); i++ {
		err = steps[i].Steps[0].Apply(ctx, picture)
	}
	if err == nil {
		err = encoder.Encode(ctx, &latent.Latent{}, picture)
	}
	var skip *frame.ErrSkip
	if err == nil || errors.As(err, &skip) { // that frame's own fault
		return nil
	}
	return latent.Refuse(latent.Conflict, "model: %s does not fit this source: %v", m.name, err)
}

// begin gives a model a law: the card's drift, or the law that an earlier run of the model left.
func (s *swapper) begin(m *Model) (*online.Estimator, error) {
	c := lawConfig(s.cfg.Online, m.Net.Card.DT, s.deterministic, nil)
	c.Lead = s.lead.asked()
	law, err := newEstimator(c, m.Net)
	if err == nil {
		if _, err = restore(law, s.state(m)); err != nil {
			law.Close()
		}
	}
	if err != nil {
		return nil, latent.Refuse(latent.Conflict, "model: %s: %v", m.name, err)
	}
	return law, nil
}

// state is where the law of a model is kept: online.state is the file of the model that the run began with, those of others lie beside it.
func (s *swapper) state(m *Model) string {
	if path := s.cfg.Online.State; path == "" || m.Net.Digest == s.first {
		return path
	}
	return s.cfg.Online.State + "." + m.Net.Digest[:12]
}

// ready builds the nets and steps of next.
func (s *swapper) ready(next modelState) (*pipeline.Replacement, error) {
	encoders, err := newEncoders(next.model)
	if err != nil {
		return nil, latent.Refuse(latent.Conflict, "model: %v", err)
	}
	viewer, err := next.model.Net.NewEncoder()
	if err != nil {
		closeEncoders(encoders)
		return nil, latent.Refuse(latent.Conflict, "model: %v", err)
	}
	steps, err := newTrack(next.steps, len(encoders))
	if err != nil {
		viewer.Close()
		closeEncoders(encoders)
		return nil, latent.Refuse(latent.Conflict, "model: %s: %v", next.model.name, err)
	}
	return &pipeline.Replacement{
		Model: fmt.Sprintf("%s, SHA-256 %s", next.model.name, next.model.Net.Digest),
		Steps: steps, Encoders: encoders, Viewer: viewer, Estimator: next.law, Keep: keeping(s.state(next.model), s.bucket, next.model.Net.Digest),
		Done: func(used bool) { s.done(next, used) },
	}, nil
}

// done notes which model tracks, and closes the law that back can no longer restore.
func (s *swapper) done(next modelState, used bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := next
	if used {
		left, s.before, s.now = s.before, s.now, next
	}
	if law := left.law; law != nil && law != s.now.law && law != s.before.law {
		s.closing.Go(func() { law.Close() }) // a slice of refinement may still run
	}
}

// about is what a stream says of itself, with the model that tracks now. It may be called on nil.
func (s *swapper) about(a natsink.About) natsink.About {
	if s == nil {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.now.model
	a.Model, a.ModelSHA256, a.Latents = m.name, m.Net.Digest, m.Net.Card.Latent
	return a
}

// close frees the law that the stream could have gone back to. It may be called on nil.
func (s *swapper) close() {
	if s == nil {
		return
	}
	if s.before.law != nil {
		s.before.law.Close()
	}
	s.closing.Wait()
}
