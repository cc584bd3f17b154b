package config

import (
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
)

// YAML writes the whole configuration, with defaults, so that Parse reads the same.
func (c Config) YAML() ([]byte, error) {
	data, err := yaml.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be written as YAML: %w", err)
	}
	return data, nil
}

// MarshalYAML writes the component in the form that is read.
func (c Component) MarshalYAML() (any, error) {
	return map[string]any{c.Kind: quoted(c.Options())}, nil
}

// MarshalYAML writes the steps as they are read.
func (p Preprocess) MarshalYAML() (any, error) {
	if len(p) == 0 {
		return "model", nil
	}
	return []Component(p), nil
}

// Public returns the configuration without secrets: without the tokens and, in addresses and options, without the text before an @ and after a name such as
// password. Paths of credentials stay.
func (c Config) Public() (Config, error) {
	var err error
	c.NATS.URL, c.NATS.Token, c.Dashboard.Token = withoutUsers(c.NATS.URL), "", ""
	if c.Source, err = c.Source.public(); err != nil {
		return c, err
	}
	c.Sinks = append([]Component(nil), c.Sinks...)
	for i := range c.Sinks {
		if c.Sinks[i], err = c.Sinks[i].public(); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Reveal restores in c the secrets that Public removed from other, where c lacks them in the same way: c came from a public configuration, and other is the one
// that ran.
func (c Config) Reveal(other Config) (Config, error) {
	public, err := other.Public()
	if err != nil {
		return c, err
	}
	if c.NATS == public.NATS {
		c.NATS = other.NATS
	}
	if c.Dashboard == public.Dashboard {
		c.Dashboard = other.Dashboard
	}
	if c.Source.same(public.Source) {
		c.Source = other.Source
	}
	for i := range c.Sinks {
		if i < len(public.Sinks) && c.Sinks[i].same(public.Sinks[i]) {
			c.Sinks[i] = other.Sinks[i]
		}
	}
	return c, nil
}

// same reports whether two components were written alike.
func (c Component) same(other Component) bool {
	one, err := c.YAML()
	two, err2 := other.YAML()
	return err == nil && err2 == nil && string(one) == string(two)
}

// public returns the component without secrets.
func (c Component) public() (Component, error) {
	return NewComponent(c.Kind, hidden(c.Options()).(map[string]any))
}

// Secrets are the text before an @ in an address within a longer text, and after a name such as password. A password may hold an @ and quotes:
// the last @ before a slash ends it.
var (
	users   = regexp.MustCompile(`(://)[^/\s]*@`)
	secrets = regexp.MustCompile(`(?i)([\w-]*(?:passw|passphrase|pwd|user-pw|token|secret|api_?key)[\w-]*\s*=\s*)("[^"]*"|'[^']*'|[^&\s"'!]+)`)
	named   = regexp.MustCompile(`(?i)passw|passphrase|pwd|user-pw|token|secret|api_?key`)
	before  = regexp.MustCompile(`(?s)^(\w+://)?.*@`)
)

// hidden returns an option's value without secrets.
func hidden(v any) any {
	switch v := v.(type) {
	case string:
		return secrets.ReplaceAllString(withoutUsers(v), "$1")
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if text, ok := value.(string); ok && text != "" && named.MatchString(key) {
				continue
			}
			out[key] = hidden(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = hidden(value)
		}
		return out
	}
	return v
}

// withoutUsers returns a text without the users, passwords and tokens of its addresses.
func withoutUsers(text string) string { return users.ReplaceAllString(text, "$1") }

// mistyped returns a malformed address for an error. The place of the mistake is unknown, so mistyped removes everything before the last @.
func mistyped(address string) string {
	return secrets.ReplaceAllString(before.ReplaceAllString(address, "${1}xxxxx@"), "${1}xxxxx")
}
