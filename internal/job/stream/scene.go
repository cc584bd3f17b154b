//go:build cgo

package stream

import (
	"context"

	"driftscope/infer"
	"driftscope/infer/sdevae"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/online"
	"driftscope/preprocess"
)

// sceneBuilder builds the tracking of one scene by a model of whole pictures.
type sceneBuilder struct {
	cfg           config.Config
	applied       []uint64 // frames at which the first law applies refined drifts; nil applies them when ready
	deterministic bool
	lead          *lead
}

func (b *sceneBuilder) plan(ctx context.Context, m *Model) (plan, error) {
	steps, err := m.Steps(ctx, b.cfg)
	return plan{about: ofModel(m), model: m, steps: steps}, err
}

// lanes returns 1 for a model with a clock, which needs the frames in order.
func (b *sceneBuilder) lanes(p plan) int {
	lanes := allLanes()
	if p.model.Net.Card.Clock > 0 {
		lanes = 1
	}
	giveCores(lanes)
	return lanes
}

// steps appends a step that follows the object's centroid to the steps of the plan.
func (b *sceneBuilder) steps(p plan, lanes int) ([]pipeline.NamedStep, error) {
	steps, err := newSteps(p.steps, lanes)
	if err != nil {
		return nil, err
	}
	return append(steps, pipeline.NamedStep{Name: "centroid", Steps: []pipeline.Step{preprocess.NewFollow()}}), nil
}

func (b *sceneBuilder) encoder(p plan) (pipeline.Encoder, error) {
	e, err := p.model.Net.NewEncoder()
	return sceneEncoder{e}, err
}

func (b *sceneBuilder) viewer(p plan) (pipeline.Viewer, error) { return p.model.Net.NewEncoder() }
func (b *sceneBuilder) reserve(uint64)                         {} // a scene has no objects

// sceneEncoder encodes a scene.
type sceneEncoder struct{ encoding[*latent.Latent] }

// Sees returns an empty latent.
func (sceneEncoder) Sees() latent.Observation { return latent.Observation{Latent: &latent.Latent{}} }

// Encode fills the latent.
func (e sceneEncoder) Encode(ctx context.Context, dst latent.Observation, f *frame.Frame) error {
	return e.encoding.Encode(ctx, dst.Latent, f)
}

// begin starts a law from the drift of the model's training. Only the first law of a run repeats an earlier run.
func (b *sceneBuilder) begin(p plan) (pipeline.Estimator, error) {
	applied := b.applied
	b.applied = nil
	law, err := newEstimator(lawConfig(b.cfg.Online, p.model.Net.Card.DT, b.deterministic, applied, b.lead), p.model.Net)
	if err != nil {
		return nil, err
	}
	return sceneLaw{law, law}, nil
}

// sceneLaw is the law of a scene. It has no objects to report or follow.
type sceneLaw struct {
	pipeline.Law
	estimator *online.Estimator // the same object as Law
}

// Finish fits the law to the whole recording.
func (l sceneLaw) Finish(dst *latent.SDE, after uint64) bool { return l.estimator.Finish(dst, after) }

// Update updates the law. It has an estimate for every frame.
func (l sceneLaw) Update(dst *latent.Estimate, seen latent.Observation) (told bool, err error) {
	return true, l.estimator.Update(dst, seen.Latent)
}

// Reports returns none.
func (sceneLaw) Reports() []latent.Message { return nil }

// Last returns none.
func (sceneLaw) Last() []latent.Message { return nil }

// Follow returns an error.
func (sceneLaw) Follow(id uint64) error {
	name := "follow"
	if id == 0 {
		name = "unfollow"
	}
	return latent.Refuse(latent.Conflict, "%s: this stream follows one scene: run it with --objects to follow objects by their numbers", name)
}

// newEstimator returns an estimator that starts from the drift of the model's training, with the settings of lawConfig.
func newEstimator(c online.Config, model *infer.Model) (*online.Estimator, error) {
	c.Dim, c.TrainMean, c.TrainSD = model.Card.Latent, model.Card.Mean, model.Card.SD
	if model.Card.Drift != nil {
		c.Prior = sdevae.DriftOf(&model.Card)
	}
	return online.New(c)
}
