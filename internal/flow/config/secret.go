package config

import (
	"errors"
	"fmt"
	"regexp"
)

// reference matches ${secret:NAME}, a reference to a secret that only the machine of the stream knows.
var reference = regexp.MustCompile(`\$\{secret:([A-Za-z0-9_-]{1,64})\}`)

// nobody matches an address with a user but no password before the @.
var nobody = regexp.MustCompile(`(://)[^/\s:@]*:?@`)

// ErrSecret reports a secret in a configuration that other users may read.
var ErrSecret = errors.New("everyone who may read the configuration could read this secret: write ${secret:NAME} instead")

// WithoutSecrets returns an error if the configuration contains a secret instead of a reference to a secret.
func (c Config) WithoutSecrets() error {
	if c.NATS.Token != "" || c.Dashboard.Token != "" || c.NATS.URL != withoutUsers(c.NATS.URL) {
		return fmt.Errorf("nats or dashboard: %w, or leave it out", ErrSecret)
	}
	for _, part := range append([]Component{c.Source}, c.Sinks...) {
		bare, err := part.mapped(func(text string) (string, error) {
			return nobody.ReplaceAllString(reference.ReplaceAllString(text, ""), "$1"), nil
		})
		if err != nil {
			return err
		}
		public, err := bare.public()
		if err != nil {
			return err
		}
		if !bare.withoutEmpty().same(public.withoutEmpty()) {
			return fmt.Errorf("%s: %w", part.Kind, ErrSecret)
		}
	}
	return nil
}

// Resolve replaces references to secrets by the secrets, in the options of the source and of the sinks.
func (c Config) Resolve(secret func(name string) (string, error)) (Config, error) {
	resolve := func(text string) (out string, err error) {
		out = reference.ReplaceAllStringFunc(text, func(found string) string {
			value, failed := secret(reference.FindStringSubmatch(found)[1])
			err = errors.Join(err, failed)
			return value
		})
		return out, err
	}
	var err error
	if c.Source, err = c.Source.mapped(resolve); err != nil {
		return c, fmt.Errorf("source: %w", err)
	}
	c.Sinks = append([]Component(nil), c.Sinks...)
	for i := range c.Sinks {
		if c.Sinks[i], err = c.Sinks[i].mapped(resolve); err != nil {
			return c, fmt.Errorf("sinks[%d]: %w", i, err)
		}
	}
	return c, nil
}

// mapped returns the component with change applied to every text in its options.
func (c Component) mapped(change func(string) (string, error)) (Component, error) {
	options, err := mapped(c.Options(), change)
	if err != nil {
		return c, err
	}
	return NewComponent(c.Kind, options.(map[string]any))
}

// mapped returns an option's value with change applied to every text in it.
func mapped(v any, change func(string) (string, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return change(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if out[key], err = mapped(value, change); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			if out[i], err = mapped(value, change); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// withoutEmpty returns the component without empty texts, because an empty option means the same as a missing one.
func (c Component) withoutEmpty() Component {
	options := map[string]any{}
	for key, value := range c.Options() {
		if value != "" {
			options[key] = value
		}
	}
	out, err := NewComponent(c.Kind, options)
	if err != nil {
		return c
	}
	return out
}
