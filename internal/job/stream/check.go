//go:build cgo

package stream

import (
	"context"
	"errors"
	"io"
	"strings"

	"driftscope/ingest"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/reach"
	"driftscope/online/objects"
	"driftscope/preprocess"
	"driftscope/sinks"
)

// Makers returns constructors of sources, sinks and steps that check their options. The sinks write nothing.
func Makers() reach.Makers {
	return reach.Makers{
		Source: func(kind string, decode func(any) error) error {
			_, err := ingest.New(kind, decode)
			return err
		},
		Sink: func(kind string, decode func(any) error) error {
			_, err := sinks.New(kind, decode, sinks.Env{Check: true})
			return err
		},
		Step: func(kind string, decode func(any) error) error {
			_, err := preprocess.New(kind, decode)
			return err
		},
		SourceKinds: ingest.Kinds(), SinkKinds: sinks.Kinds(), StepKinds: preprocess.Kinds(),
	}
}

// Check constructs every stage of a configuration and discards it.
func Check(cfg config.Config) error {
	var errs []error
	source, err := ingest.New(cfg.Source.Kind, cfg.Source.Decode) // needs no Close before Open
	if errs = append(errs, err, checkFrames(cfg)); err == nil {
		_, err := newLead(cfg, !source.Info().Live)
		errs = append(errs, err, checkPlaces(cfg, source.Info()))
	}
	steps, err := newSteps(cfg.Preprocess, 1)
	errs = append(errs, err)
	closeSteps(steps)
	latents, err := lintModel(cfg)
	errs = append(errs, err)
	_, rules, err := newWatcher(cfg, latents, nil)
	if err == nil {
		rules = append([]string{}, rules...) // an empty list means that the rules are known
	}
	errs = append(errs, err, checkState(cfg.Online.State), checkDashboard(cfg.Dashboard))
	for _, c := range cfg.Sinks {
		sink, err := sinks.New(c.Kind, c.Decode, sinks.Env{Stream: cfg.Stream, Stdout: io.Discard, Log: logger(cfg), Rules: rules, Check: true})
		if err == nil {
			err = sink.Close(context.Background())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// lintModel loads the model, unless it is on a server, and compares its steps with the configured ones. latents is the model's number of dimensions, 0
// if unknown, plus the dimensions of a position if objects are followed.
func lintModel(cfg config.Config) (latents int, err error) {
	if cfg.Objects.Enabled && cfg.Model == "" {
		return objects.Dim, nil
	}
	if strings.HasPrefix(cfg.Model, reach.ServerModel) {
		return 0, nil
	}
	m, err := LoadModel(context.Background(), cfg, nil)
	if err != nil {
		return 0, err
	}
	if cfg.Objects.Enabled {
		return objects.Dim + m.Net.Card.Latent, nil
	}
	own, err := stepsOf(m.Net.Card.Preprocess)
	if err != nil || len(cfg.Preprocess) == 0 {
		return m.Net.Card.Latent, err
	}
	return m.Net.Card.Latent, sameSteps(cfg.Preprocess, own)
}
