//go:build cgo

package stream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"

	"driftscope/infer/field"
	"driftscope/internal/config"
	"driftscope/internal/exit"
	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
	"driftscope/online/objects"
)

// fieldName is what takes the place of a model's name where objects are followed without one.
const fieldName = "objects"

// finishField makes what comes after the source where every object is followed: the steps that are written and those of a field, an encoder a core, the
// estimator of objects.
func (s *Stream) finishField(ctx context.Context, cfg config.Config, applied []uint64, deterministic bool) (err error) {
	var m *Model
	if cfg.Model != "" {
		if m, err = LoadModel(ctx, cfg, s.bus); err != nil {
			return exit.Usage(err)
		}
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %+v", fieldName, cfg.Preprocess))
	alone := tracked{name: fieldName, digest: hex.EncodeToString(digest[:]), latents: objects.Dim}
	if s.what = alone; m != nil {
		s.what = looking(m)
	}
	locators, err := field.NewLocators(cfg.Objects.Max)
	if err == nil {
		s.Stages.Steps, s.Stages.Encoders, err = newFieldTrack(cfg, locators, m)
	}
	if err != nil {
		return exit.Usage(err)
	}
	s.Stages.Viewer = field.NewViewer()
	if s.ahead, err = newLead(cfg, deterministic); err != nil {
		return exit.Usage(err)
	}
	if err := s.followObjects(cfg, s.what.latents-objects.Dim, applied, deterministic); err != nil {
		return err
	}
	s.looks = &lookSwapper{cfg: cfg, locators: locators, estimator: s.Stages.Estimator.(*objects.Estimator), alone: alone, now: m}
	return s.ruleAndRestore(cfg)
}

// followObjects makes the estimator of objects, each of which has latents.
func (s *Stream) followObjects(cfg config.Config, latents int, applied []uint64, deterministic bool) error {
	follow := lawConfig(cfg.Online, 0, deterministic, applied)
	follow.Lead = s.ahead.asked()
	estimator, err := objects.New(objects.Config{Every: cfg.Objects.Every, Lag: cfg.Objects.Lag, MaxGap: follow.MaxGap, Exposure: cfg.Online.Exposure, PixelUM: cfg.Online.PixelUM,
		Depth: cfg.Optics.FocalDepth, Pairs: cfg.Objects.Pairs, Latents: latents, Follow: follow})
	if err != nil {
		return exit.Usage(err)
	}
	s.law, s.Stages.Estimator = estimator, estimator
	return nil
}

// looking is what runs with a model of objects.
func looking(m *Model) tracked {
	return tracked{m.name, m.Net.Digest, objects.Dim + m.Net.Card.Latent, m.Net.Card.Training.Seed}
}

// newFieldTrack makes the steps and the encoders of a field. A configuration's template goes before the model's.
func newFieldTrack(cfg config.Config, locators *field.Locators, m *Model) (steps []pipeline.NamedStep, encoders []pipeline.Encoder, err error) {
	template := frame.Template{SD: cfg.Objects.Template, Dark: cfg.Objects.Polarity == "dark"}
	if m != nil && template.SD == 0 {
		template = frame.Template{SD: m.Net.Card.Objects.Template, Dark: m.Net.Card.Objects.Dark}
	}
	lanes := runtime.NumCPU()
	if steps, err = newFieldSteps(cfg.Preprocess, template, lanes); err != nil {
		return nil, nil, err
	}
	if encoders, err = newFieldEncoders(locators, m, lanes); err != nil {
		closeSteps(steps)
		return nil, nil, err
	}
	return steps, encoders, nil
}

// newFieldEncoders makes an encoder per core, each with the model where there is one: all or none.
func newFieldEncoders(locators *field.Locators, m *Model, lanes int) (made []pipeline.Encoder, err error) {
	for range lanes {
		var look field.Look
		if m != nil {
			if look, err = field.NewAppearance(m.Net); err != nil {
				closeEncoders(made)
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
		}
		made = append(made, field.NewEncoder(locators, look))
	}
	return made, nil
}

// newFieldSteps makes the steps that are written, and behind them those that the locators need.
func newFieldSteps(written []config.Component, template frame.Template, lanes int) ([]pipeline.NamedStep, error) {
	made, err := newSteps(written, lanes)
	if err != nil {
		return nil, err
	}
	picture := pipeline.NamedStep{Name: "picture"}
	for range lanes {
		picture.Steps = append(picture.Steps, field.NewPicture())
	}
	return append(made, picture, pipeline.NamedStep{Name: "template", Steps: []pipeline.Step{field.NewTemplate(template)}}), nil
}
