//go:build cgo

package stream

import (
	"errors"
	"fmt"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/flow/trigger"
)

// newWatcher makes the rules of a stream whose model has so many latents, 0 where that is not known, and gives their names. It is nil where
// there are none. l, nil for none, is told how long frames take.
func newWatcher(cfg config.Config, latents int, l *lead) (_ pipeline.Watcher, names []string, err error) {
	var rules []*trigger.Rule
	var errs []error
	for i, c := range cfg.Triggers {
		r, err := trigger.New(c.Kind, c.Decode, trigger.Env{Latents: latents, Field: cfg.Objects.Enabled, PixelUM: cfg.Online.PixelUM})
		if err != nil {
			errs = append(errs, fmt.Errorf("triggers[%d]: %w", i, err))
			continue
		}
		rules, names = append(rules, r), append(names, r.Name())
	}
	if err := errors.Join(errs...); err != nil || len(rules) == 0 {
		return nil, nil, err
	}
	watcher, err := trigger.Together(rules)
	if err != nil {
		return nil, nil, err
	}
	if l != nil {
		return &timed{rules: watcher, lead: l}, names, nil
	}
	return watcher, names, nil
}
