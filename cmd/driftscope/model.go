package main

import (
	"context"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"driftscope/configs"
	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/bus"
	"driftscope/internal/config"
)

// What the name of a model begins with that is part of the program, or kept on the NATS server.
const (
	embedded = "embedded:"
	onServer = "nats:"
)

// defaultModel is what an empty model means.
const defaultModel = "molecule"

// loadedModel is a model with the name it was asked for.
type loadedModel struct {
	*infer.Model
	name     string
	borrowed bool // nobody gave a model, and the shipped one was not trained on this specimen
}

// loadModel loads the model that cfg names, or the shipped one. One on the server comes by b, which is nil where there is no connection.
func loadModel(ctx context.Context, cfg config.Config, b *bus.Conn) (*loadedModel, error) {
	m := &loadedModel{name: cfg.Model}
	if name, found := strings.CutPrefix(m.name, onServer); found && b != nil {
		return fetchModel(ctx, b, name)
	}
	if m.name == "" {
		m.name = embedded + defaultModel
		m.borrowed = cfg.Source.Kind != simSource || cfg.Source.Options()["name"] != defaultModel
	}
	var err error
	m.Model, err = openModel(m.name)
	return m, err
}

// fetchModel gets a model that is kept on the server.
func fetchModel(ctx context.Context, b *bus.Conn, name string) (*loadedModel, error) {
	models, err := b.Models()
	if err != nil {
		return nil, err
	}
	m := &loadedModel{name: onServer + name}
	data, err := models.Get(ctx, name, card.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.name, err)
	}
	m.Model, err = infer.Parse(m.name, data)
	return m, err
}

// openModel loads a model file, or embedded:NAME.
func openModel(name string) (*infer.Model, error) {
	if kept, found := strings.CutPrefix(name, onServer); found {
		return nil, fmt.Errorf("model %s: only run takes models from a server: driftscope model get %s, and give the file", name, kept)
	}
	data, found, err := shipped(name)
	switch {
	case err != nil:
		return nil, err
	case found:
		return infer.Parse(name, data)
	}
	return infer.Load(name)
}

// shipped is the file that embedded:NAME stands for; found is false for other names.
func shipped(name string) (data []byte, found bool, err error) {
	if name, found = strings.CutPrefix(name, embedded); found {
		data, err = configs.Model(name)
	}
	return data, found, err
}

// steps is the preprocessing: the card's own, which a list in the configuration must repeat. A borrowed model's grey window and
// region fit another camera and are replaced.
func (m *loadedModel) steps(ctx context.Context, cfg config.Config) ([]config.Component, error) {
	own, err := stepsOf(m.Card.Preprocess)
	if err != nil {
		return nil, usage(err)
	}
	switch {
	case len(cfg.Preprocess) > 0:
		return own, usage(sameSteps(cfg.Preprocess, own))
	case !m.borrowed:
		return own, nil
	}
	width, height, err := firstFrame(ctx, cfg.Source)
	if err != nil {
		return nil, err
	}
	warn("no model was given: latents come from the molecule's encoder and mean nothing for this specimen until you train one: driftscope pretrain %s --latent auto --out model.onnx, then run with --model model.onnx", shellWord(sourceName(cfg.Source)))
	return stepsOf(adapt(m.Card.Preprocess, width, height))
}

// sourceName is what a person would type for a source.
func sourceName(c config.Component) string {
	options := c.Options()
	for _, key := range []string{"name", "camera", "device", "subject"} {
		if name, given := options[key]; given {
			return fmt.Sprintf("%s:%v", c.Kind, name)
		}
	}
	path, ok := options["path"].(string)
	chosen := chosenOf(options)
	switch {
	case !ok:
		return c.Kind // a pipeline is long, and an address may hold a password
	case len(chosen) == 0:
		return path
	}
	return fmt.Sprintf("%s:%s?%s", c.Kind, path, chosen.Encode())
}

// chosenOf is which of a recording's series is taken: NDTiff's axes, a TIFF's channel and slice.
func chosenOf(options map[string]any) url.Values {
	chosen := url.Values{}
	axes, _ := options["axes"].(map[string]any)
	for name, value := range axes {
		chosen.Set(name, fmt.Sprint(value))
	}
	for _, name := range []string{"channel", "slice"} {
		if value, given := options[name]; given {
			chosen.Set(name, fmt.Sprint(value))
		}
	}
	return chosen
}

// adapt makes a card's steps fit any camera: the grey window follows the pictures, the region is the largest square in their middle.
func adapt(steps []card.Step, width, height int) []card.Step {
	adapted := []card.Step{{Kind: "roi", Options: map[string]any{
		"centre": []any{float64(width-1) / 2, float64(height-1) / 2}, "size": min(width, height),
	}}}
	for _, s := range steps {
		switch s.Kind {
		case "roi":
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

// sameSteps refuses a configuration that would run a model otherwise than it was trained.
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

// describeStep writes a step in one form, whatever way its numbers were written.
func describeStep(c config.Component) string {
	return fmt.Sprintf("%s %v", c.Kind, plain(c.Options()))
}

func orNone(step string) string {
	if step == "" {
		return "nothing"
	}
	return step
}

// plain replaces every kind of number by float64, all the way down, so that 64 equals 64.0.
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
