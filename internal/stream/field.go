//go:build cgo

package stream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"driftscope/infer/field"
	"driftscope/internal/config"
	"driftscope/internal/frame"
	"driftscope/internal/latent"
	"driftscope/internal/pipeline"
	"driftscope/online"
	"driftscope/online/objects"
)

// fieldName is what takes the place of a model's name where objects are followed without one.
const fieldName = "objects"

// fieldBuilder makes what follows every object of a field, with a model of objects or without one. The objects, their numbers and laws go on through a change of
// model.
type fieldBuilder struct {
	cfg      config.Config
	locators *field.Locators
	follow   online.Config // of the law of the object that is followed

	law fieldLaw // of nothing before it has begun
}

func newFieldBuilder(cfg config.Config, follow online.Config) (*fieldBuilder, error) {
	locators, err := field.NewLocators(cfg.Objects.Max)
	return &fieldBuilder{cfg: cfg, locators: locators, follow: follow}, err
}

func (b *fieldBuilder) plan(_ context.Context, m *Model) (plan, error) {
	if m != nil {
		about := ofModel(m)
		about.latents += objects.Dim
		return plan{about: about, model: m}, nil
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %+v", fieldName, b.cfg.Preprocess))
	return plan{about: tracked{name: fieldName, digest: hex.EncodeToString(digest[:]), latents: objects.Dim}}, nil
}

func (b *fieldBuilder) lanes(plan) int { return allLanes() }

// steps are those that are written, and behind them those that the locators need. A configuration's template goes before the model's.
func (b *fieldBuilder) steps(p plan, lanes int) ([]pipeline.NamedStep, error) {
	template := frame.Template{SD: b.cfg.Objects.Template, Dark: b.cfg.Objects.Polarity == "dark"}
	if p.model != nil && template.SD == 0 {
		template = frame.Template{SD: p.model.Net.Card.Objects.Template, Dark: p.model.Net.Card.Objects.Dark}
	}
	made, err := newSteps(b.cfg.Preprocess, lanes)
	if err != nil {
		return nil, err
	}
	picture := pipeline.NamedStep{Name: "picture"}
	for range lanes {
		picture.Steps = append(picture.Steps, field.NewPicture())
	}
	return append(made, picture, pipeline.NamedStep{Name: "template", Steps: []pipeline.Step{field.NewTemplate(template)}}), nil
}

func (b *fieldBuilder) encoder(p plan) (pipeline.Encoder, error) {
	if p.model == nil {
		return fieldEncoder{field.NewEncoder(b.locators, nil)}, nil
	}
	look, err := field.NewAppearance(p.model.Net)
	if err != nil {
		return nil, err
	}
	return fieldEncoder{field.NewEncoder(b.locators, look)}, nil
}

func (b *fieldBuilder) viewer(plan) (pipeline.Viewer, error) { return field.NewViewer(), nil }

// begin makes the estimator of the first plan, which is the one of all.
func (b *fieldBuilder) begin(p plan) (pipeline.Estimator, error) {
	if b.law.estimator != nil {
		return b.law, nil
	}
	o := b.cfg.Objects
	made, err := objects.New(objects.Config{Every: o.Every, Lag: o.Lag, MaxGap: b.follow.MaxGap, Exposure: b.cfg.Online.Exposure, PixelUM: b.cfg.Online.PixelUM,
		Depth: b.cfg.Optics.FocalDepth, Pairs: o.Pairs, Latents: p.about.latents - objects.Dim, Follow: b.follow})
	if err != nil {
		return nil, err
	}
	b.law = fieldLaw{made, made}
	return b.law, nil
}

func (b *fieldBuilder) reserve(numbers uint64) { b.law.estimator.Reserve(numbers) }

// fieldEncoder sees a field.
type fieldEncoder struct{ locating *field.Encoder }

// Dim is the number of latents of each object.
func (e fieldEncoder) Dim() int { return e.locating.Dim() }

// Close frees the look.
func (e fieldEncoder) Close() error { return e.locating.Close() }

// Sees makes the sight of a field.
func (fieldEncoder) Sees() latent.Observation { return latent.Observation{Sight: &latent.Sight{}} }

// Encode fills the sight.
func (e fieldEncoder) Encode(ctx context.Context, dst latent.Observation, f *frame.Frame) error {
	return e.locating.Encode(ctx, dst.Sight, f)
}

// fieldLaw is the law of all objects of a field, and of the one that is followed.
type fieldLaw struct {
	pipeline.Law
	estimator *objects.Estimator // the same
}

// Update takes in the sight.
func (l fieldLaw) Update(dst *latent.Estimate, seen latent.Observation) (told bool, err error) {
	return l.estimator.Update(dst, seen.Sight)
}

// Reports are the estimator's.
func (l fieldLaw) Reports() []latent.Message { return l.estimator.Reports() }

// Last are the estimator's.
func (l fieldLaw) Last() []latent.Message { return l.estimator.Last() }

// Follow is the estimator's.
func (l fieldLaw) Follow(id uint64) error { return l.estimator.Follow(id) }

// Finish has nothing to learn: what the objects did is folded already.
func (fieldLaw) Finish(*latent.SDE, uint64) bool { return false }
