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
	"driftscope/internal/latent"
	"driftscope/internal/pipeline"
	"driftscope/online/objects"
)

// fieldName is what takes the place of a model's name where objects are followed without one.
const fieldName = "objects"

// finishField makes what comes after the source where every object is followed: the steps that are written and those of a field, a locator a core, the
// estimator of objects.
func (s *Stream) finishField(cfg config.Config, applied []uint64, deterministic bool) (err error) {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %+v", fieldName, cfg.Preprocess))
	s.what = tracked{name: fieldName, digest: hex.EncodeToString(digest[:]), latents: objects.Dim}
	lanes := runtime.NumCPU()
	if s.Stages.Steps, err = newFieldSteps(cfg, lanes); err != nil {
		return exit.Usage(err)
	}
	for range lanes {
		encoder, err := field.NewEncoder(cfg.Objects.Max)
		if err != nil {
			return exit.Usage(err)
		}
		s.Stages.Encoders = append(s.Stages.Encoders, encoder)
	}
	s.Stages.Viewer = field.NewViewer()
	follow := lawConfig(cfg.Online, 0, deterministic, applied)
	estimator, err := objects.New(objects.Config{Every: cfg.Objects.Every, Lag: cfg.Objects.Lag, MaxGap: follow.MaxGap, Exposure: cfg.Online.Exposure, PixelUM: cfg.Online.PixelUM, Follow: follow})
	if err != nil {
		return exit.Usage(err)
	}
	s.law, s.Stages.Estimator = estimator, estimator
	return s.ruleAndRestore(cfg)
}

// noModel refuses another model where there is none.
func noModel(context.Context, []byte, *frame.Frame) (*pipeline.Replacement, error) {
	return nil, latent.Refuse(latent.Conflict, "model: every object of the field is followed, without a model: there is none to change: start the stream again without objects.enabled for one")
}

// newFieldSteps makes the steps that are written, and behind them those that the locators need.
func newFieldSteps(cfg config.Config, lanes int) ([]pipeline.NamedStep, error) {
	made, err := newSteps(cfg.Preprocess, lanes)
	if err != nil {
		return nil, err
	}
	picture := pipeline.NamedStep{Name: "picture"}
	for range lanes {
		picture.Steps = append(picture.Steps, field.NewPicture())
	}
	template := field.NewTemplate(frame.Template{SD: cfg.Objects.Template, Dark: cfg.Objects.Polarity == "dark"})
	return append(made, picture, pipeline.NamedStep{Name: "template", Steps: []pipeline.Step{template}}), nil
}
