//go:build cgo

package stream

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// Model is a model with its requested name.
type Model struct {
	Net      *infer.Model
	name     string
	borrowed bool // no model was given, and the shipped one was not trained on this specimen
}

// LoadModel loads the model that cfg names, or the shipped one. It fetches a model on the server through b, which is nil without a connection.
func LoadModel(ctx context.Context, cfg config.Config, b *bus.Conn) (*Model, error) {
	m, err := findModel(ctx, cfg, b)
	if err != nil {
		return nil, err
	}
	if why := m.Net.Card.Training.Verdict.Doubted(); why != "" {
		console.Warn("model %s: its verdict is %s: %s", m.name, m.Net.Card.Training.Verdict.Level, why)
	}
	return m, m.fits(cfg.Objects.Enabled)
}

// fits refuses a model of objects for a scene, and a model of a scene for objects.
func (m *Model) fits(objects bool) error {
	switch ofObjects := m.Net.Card.Objects != nil; {
	case objects && !ofObjects:
		return fmt.Errorf("model %s: is for a whole scene, but this run follows objects: train one with pretrain --objects, or leave the model out", m.name)
	case ofObjects && !objects:
		return fmt.Errorf("model %s: is for objects: run it with --objects, or objects: {enabled: true} in a configuration", m.name)
	}
	return nil
}

func findModel(ctx context.Context, cfg config.Config, b *bus.Conn) (*Model, error) {
	m := &Model{name: cfg.Model}
	if name, found := strings.CutPrefix(m.name, reach.ServerModel); found && b != nil {
		return fetchModel(ctx, b, name)
	}
	if m.name == "" {
		m.name = reach.EmbeddedModel + reach.DefaultModel
		m.borrowed = cfg.Source.Kind != recording.SimSource || cfg.Source.Options()["name"] != reach.DefaultModel
	}
	var err error
	m.Net, err = reach.OpenModel(m.name)
	return m, err
}

// fetchModel reads a model from the server.
func fetchModel(ctx context.Context, b *bus.Conn, name string) (*Model, error) {
	models, err := b.Models()
	if err != nil {
		return nil, err
	}
	m := &Model{name: reach.ServerModel + name}
	data, err := models.Get(ctx, name, card.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.name, err)
	}
	m.Net, err = infer.Parse(m.name, data)
	return m, err
}

// Steps returns the preprocessing steps of the card. Steps listed in the configuration must be the same. A borrowed model's grey window and region fit another
// camera, so Steps replaces them.
func (m *Model) Steps(ctx context.Context, cfg config.Config) ([]config.Component, error) {
	own, err := stepsOf(m.Net.Card.Preprocess)
	if err != nil {
		return nil, console.Usage(err)
	}
	switch {
	case len(cfg.Preprocess) > 0:
		return own, console.Usage(sameSteps(cfg.Preprocess, own))
	case !m.borrowed:
		return own, nil
	}
	width, height, err := recording.FirstFrame(ctx, cfg.Source)
	if err != nil {
		return nil, err
	}
	console.Warn("no model was given: latents come from the molecule's encoder and mean nothing for this specimen until you train one: driftscope pretrain %s --latent auto --out model.onnx, then run with --model model.onnx", recording.ShellWord(recording.SourceName(cfg.Source)))
	return stepsOf(adapt(m.Net.Card.Preprocess, width, height))
}

// adapt makes a card's steps fit any camera: the grey window follows the pictures, and the region is the largest square in their centre.
func adapt(steps []card.Step, width, height int) []card.Step {
	adapted := []card.Step{{Kind: "roi", Options: map[string]any{
		"centre": []any{float64(width-1) / 2, float64(height-1) / 2}, "size": min(width, height),
	}}}
	for _, s := range steps {
		switch s.Kind {
		case "roi", "illumination": // of another scene
			continue
		case "normalise":
			options := map[string]any{"grey": true}
			if to, ok := s.Options["to"]; ok {
				options["to"] = to
			}
			s.Options = options
		}
		adapted = append(adapted, s)
	}
	return adapted
}

// sameSteps refuses a configuration whose steps differ from the training's.
func sameSteps(written, own []config.Component) error {
	for i := range max(len(written), len(own)) {
		var w, o string
		if i < len(written) {
			w = describeStep(written[i])
		}
		if i < len(own) {
			o = describeStep(own[i])
		}
		if w != o {
			return fmt.Errorf("preprocess[%d]: found %s, the model was trained with %s: write preprocess: model", i, orNone(w), orNone(o))
		}
	}
	return nil
}

// describeStep writes a step in one form, however its numbers were written.
func describeStep(c config.Component) string {
	return fmt.Sprintf("%s %v", c.Kind, plain(c.Options()))
}

// orNone formats a step for display: it shortens the thumbnail of an illumination.
func orNone(step string) string {
	const readable = 200
	switch {
	case step == "":
		return "nothing"
	case len(step) > readable:
		return step[:readable] + "..."
	}
	return step
}

// plain converts every number to float64, at all depths, so that 64 equals 64.0.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = plain(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = plain(value)
		}
		return out
	}
	if r := reflect.ValueOf(v); r.IsValid() && r.CanConvert(reflect.TypeFor[float64]()) {
		return r.Convert(reflect.TypeFor[float64]()).Float()
	}
	return v
}
