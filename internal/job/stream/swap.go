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
	"driftscope/sinks/natsink"
)

// tracking is the current tracking of a stream's frames. While the stream runs, it prepares other models: models on the server, and the previous model
// with its last law.
type tracking struct {
	builder
	cfg    config.Config
	bus    *bus.Conn       // nil if no client may request another model
	bucket *natsink.Bucket // nil if nothing is stored in KV
	first  string          // digest of the model that the run began with

	mu      sync.Mutex // guards now, which other goroutines read
	now     plan
	before  plan // the previous plan, with its law
	changed bool // before is set
	closing sync.WaitGroup
}

func newTracking(cfg config.Config, b builder, now plan) *tracking {
	return &tracking{builder: b, cfg: cfg, first: now.about.digest, now: now}
}

// wanted is the payload of the command model: a name with the required digest, or back.
type wanted struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Back   bool   `json:"back"`
}

var digest256 = regexp.MustCompile(`^[0-9a-f]{64}$`)

// readWanted refuses a payload that does not name exactly one model.
func readWanted(payload []byte) (w wanted, err error) {
	err = latent.DecodePayload(payload, &w)
	named := w.Name != "" && !w.Back && (w.SHA256 == "" || digest256.MatchString(w.SHA256))
	if err != nil || !named && w != (wanted{Back: true}) {
		return w, latent.Refuse(latent.Malformed, `model: found %.80q: send {"name": "spot"}, optionally with "sha256" and 64 hexadecimal digits, or {"back": true}`, payload)
	}
	return w, nil
}

// swap implements pipeline.Swap.
func (t *tracking) swap(ctx context.Context, payload []byte, like *frame.Frame) (*pipeline.Replacement, error) {
	w, err := readWanted(payload)
	if err != nil {
		return nil, err
	}
	if w.Back {
		if !t.changed {
			return nil, latent.Refuse(latent.Conflict, `model: there is no earlier model, the run began with this one: send {"name": ...}`)
		}
		return t.ready(t.before)
	}
	next, err := t.fetch(ctx, w)
	if err != nil {
		return nil, err
	}
	if err := t.try(ctx, next, like); err != nil {
		return nil, err
	}
	if next.law, err = t.another(next); err != nil {
		return nil, refused(next, err)
	}
	r, err := t.ready(next)
	if err != nil && next.law != t.now.law {
		next.law.Close()
	}
	return r, err
}

// refused returns the error for a plan that does not fit the stream.
func refused(p plan, err error) error {
	return latent.Refuse(latent.Conflict, "model: %s: %v", p.about.name, err)
}

// fetch loads the requested model and plans its tracking.
func (t *tracking) fetch(ctx context.Context, w wanted) (plan, error) {
	m, err := fetchModel(ctx, t.bus, w.Name)
	switch now := t.now.model; {
	case err != nil:
		return plan{}, refusal(err)
	case w.SHA256 != "" && w.SHA256 != m.Net.Digest:
		return plan{}, latent.Refuse(latent.Conflict, "model: %s has the SHA-256 %s, expected %s: put the right model on the server", m.name, m.Net.Digest, w.SHA256)
	case now != nil && m.Net.Digest == now.Net.Digest:
		return plan{}, latent.Refuse(latent.Conflict, "model: %s, SHA-256 %.12s, already tracks: name another", m.name, m.Net.Digest)
	}
	if err := m.fits(t.cfg.Objects.Enabled); err != nil {
		return plan{}, latent.Refuse(latent.Conflict, "%v", err)
	}
	next, err := t.plan(ctx, m)
	if err == nil {
		_, _, err = newWatcher(t.cfg, next.about.latents, nil)
	}
	if err != nil {
		return plan{}, latent.Refuse(latent.Conflict, "model: %s: %v", m.name, err)
	}
	return next, nil
}

// refusal returns the error for a failed fetch of a model, with a code for the cause.
func refusal(err error) error {
	code := latent.Conflict // the file is invalid, or there is no store
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

// try encodes a copy of a frame with separate steps and a separate encoder, so that the stages of the stream start without a frame.
func (t *tracking) try(ctx context.Context, p plan, like *frame.Frame) error {
	if like == nil {
		return latent.Refuse(latent.NotNow, "model: %s cannot be tried before the first frame arrives: try again later", p.about.name)
	}
	encoder, err := t.encoder(p)
	if err != nil {
		return refused(p, err)
	}
	defer encoder.Close()
	steps, err := t.steps(p, 1)
	if err != nil {
		return refused(p, err)
	}
	defer closeSteps(steps)
	picture := frame.New(like.Seq, like.Time, frame.Meta{}, like.Mat().Clone())
	defer picture.Close()
	for i := 0; err == nil && i < len(steps); i++ {
		err = steps[i].Steps[0].Apply(ctx, picture)
	}
	if err == nil {
		err = encoder.Encode(ctx, encoder.Sees(), picture)
	}
	var skip *frame.ErrSkip
	if err == nil || errors.As(err, &skip) { // an error of the frame, not of the model
		return nil
	}
	return latent.Refuse(latent.Conflict, "model: %s does not fit this source: %v", p.about.name, err)
}

// another returns the law of a plan. A new law loads the state left by an earlier run of the model.
func (t *tracking) another(p plan) (pipeline.Estimator, error) {
	law, err := t.begin(p)
	if err != nil || law == t.now.law {
		return law, err
	}
	if _, err = restore(law, t.state(p)); err != nil {
		law.Close()
	}
	return law, err
}

// state returns the file for the law of a plan: online.state for the model that the run began with, a file next to it for another model.
func (t *tracking) state(p plan) string {
	if path := t.cfg.Online.State; path == "" || p.about.digest == t.first {
		return path
	}
	return t.cfg.Online.State + "." + p.about.digest[:12]
}

// ready builds the stages of a plan.
func (t *tracking) ready(p plan) (*pipeline.Replacement, error) {
	viewer, err := t.viewer(p)
	if err != nil {
		return nil, refused(p, err)
	}
	steps, encoders, err := p.make(t.builder)
	if err != nil {
		viewer.Close()
		return nil, latent.Refuse(latent.Conflict, "model: %v", err)
	}
	name := "none"
	if p.model != nil {
		name = fmt.Sprintf("%s, SHA-256 %s", p.about.name, p.about.digest)
	}
	return &pipeline.Replacement{
		Model: name, Steps: steps, Encoders: encoders, Viewer: viewer, Estimator: p.law, Keep: keeping(t.state(p), t.bucket, p.about.digest),
		Done: func(used bool) { t.done(p, used) },
	}, nil
}

// done records the plan now in use, and closes the law that the command back can no longer restore.
func (t *tracking) done(next plan, used bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := next
	if used {
		left, t.before, t.now, t.changed = t.before, t.now, next, true
	}
	if law := left.law; law != nil && law != t.now.law && law != t.before.law {
		t.closing.Go(func() { law.Close() }) // part of a refinement may still run
	}
}

// about returns the stream's description, with its present model.
func (t *tracking) about(a natsink.About) natsink.About {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now.about
	a.Model, a.ModelSHA256, a.Latents = now.name, now.digest, now.latents
	return a
}

// close frees the law that was kept for the command back. It may be called on nil.
func (t *tracking) close() {
	if t == nil {
		return
	}
	if law := t.before.law; law != nil && law != t.now.law {
		law.Close()
	}
	t.closing.Wait()
}
