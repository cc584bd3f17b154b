package config

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Component is a source, a step or a sink as written in the file: its kind and its options. In YAML it is a map with one key, {kind: {option: value}}, or only
// the kind.
type Component struct {
	Kind string

	node ast.Node // the options; nil if there are none
	file string
	path string // path of the options, for errors
}

// NewComponent returns the same Component as YAML with these options. Flags and model cards use it.
func NewComponent(kind string, options map[string]any) (Component, error) {
	c := Component{Kind: kind, path: kind}
	if len(options) == 0 {
		return c, nil
	}
	data, err := yaml.Marshal(quoted(options))
	if err != nil {
		return c, fmt.Errorf("%s: options cannot be written as YAML: %w", kind, err)
	}
	c.node, err = parse(kind, data)
	return c, err
}

// Decode reads the options into dst, a pointer to a struct with yaml tags, whose fields contain the defaults. An unknown key or a value of the wrong type is an
// error with file, line and path. Decode reports all errors at once.
func (c Component) Decode(dst any) error {
	if c.node == nil {
		return nil
	}
	return decode(c.node, c.file, c.path, dst)
}

// With returns the component with one option set, which replaces the option in the file. Errors about the new component name no line.
func (c Component) With(option string, value any) (Component, error) {
	options := c.Options()
	options[option] = value
	return NewComponent(c.Kind, options)
}

// Options returns the options as written; empty if there are none.
func (c Component) Options() map[string]any {
	options := map[string]any{}
	if c.node != nil && yaml.NodeToValue(c.node, &options) != nil {
		return map[string]any{} // not a map of text to values; Decode reports the error
	}
	return options
}

// stream returns the default name of a stream with this source.
func (c Component) stream() string {
	options := c.Options()
	for _, of := range []struct{ key, before string }{{"path", ""}, {"subject", "nats:"}, {"url", ""}, {"name", "sim:"}} {
		if text, ok := options[of.key].(string); ok && text != "" {
			return StreamName(of.before + text)
		}
	}
	if c.Kind == "sim" {
		return Default().Stream // the default scene
	}
	return StreamName(c.Kind)
}

// YAML returns the component as it is written in a configuration file.
func (c Component) YAML() ([]byte, error) {
	data, err := yaml.Marshal(map[string]any{c.Kind: quoted(c.Options())})
	if err != nil {
		return nil, fmt.Errorf("%s: options cannot be written as YAML: %w", c.Kind, err)
	}
	return data, nil
}

// Preprocess is the list of steps from the camera's picture to the encoder's input. Empty means the model's own.
type Preprocess []Component
