package reach

import (
	"fmt"
	"strings"

	"driftscope/configs"
	"driftscope/infer"
	"driftscope/internal/kit/console"
)

// Prefixes of the names of models that are part of the program, or stored on the NATS server.
const (
	EmbeddedModel = "embedded:"
	ServerModel   = "nats:"
)

// DefaultModel replaces an empty model name.
const DefaultModel = "molecule"

// OpenModel loads a model file, or embedded:NAME.
func OpenModel(name string) (*infer.Model, error) {
	m, err := openModel(name)
	return m, console.About(console.ModelsPage, err)
}

func openModel(name string) (*infer.Model, error) {
	if kept, found := strings.CutPrefix(name, ServerModel); found {
		return nil, fmt.Errorf("model %s: only run can use models on a server: fetch it with driftscope model get %s, and give the file", name, kept)
	}
	data, found, err := ShippedModel(name)
	switch {
	case err != nil:
		return nil, err
	case found:
		return infer.Parse(name, data)
	}
	return infer.Load(name)
}

// OpenSceneModel is like OpenModel but refuses a model of objects, which encodes the surroundings of one object.
func OpenSceneModel(name string) (*infer.Model, error) {
	m, err := OpenModel(name)
	if err == nil && m.Card.Objects != nil {
		return nil, fmt.Errorf("model %s: is a model of objects, expected a model of a whole scene: use it with run --objects", name)
	}
	return m, err
}

// ShippedModel returns the file for embedded:NAME; found is false for other names.
func ShippedModel(name string) (data []byte, found bool, err error) {
	if name, found = strings.CutPrefix(name, EmbeddedModel); found {
		data, err = configs.Model(name)
	}
	return data, found, err
}
