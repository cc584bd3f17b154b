package config

import (
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
)

// YAML returns the whole configuration with its defaults. Parse restores the configuration from it.
func (c Config) YAML() ([]byte, error) {
	data, err := yaml.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be written as YAML: %w", err)
	}
	return data, nil
}

// MarshalYAML returns the component in the form that Parse reads.
func (c Component) MarshalYAML() (any, error) {
	return map[string]any{c.Kind: quoted(c.Options())}, nil
}

// MarshalYAML returns the steps in the form that Parse reads.
func (p Preprocess) MarshalYAML() (any, error) {
	if len(p) == 0 {
		return "model", nil
	}
	return []Component(p), nil
}

// Public returns the configuration without secrets. It removes the tokens. In addresses and options it removes the text before an @ and the text after a name
// such as password. Paths of credentials remain.
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

// Reveal restores in c the secrets that Public removes from other, in the parts where c equals other.Public(). c is an edited public configuration, and other
// is the configuration that ran.
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

// same reports whether two components have the same YAML.
func (c Component) same(other Component) bool {
	one, err := c.YAML()
	two, err2 := other.YAML()
	return err == nil && err2 == nil && string(one) == string(two)
}

// public returns the component without secrets.
func (c Component) public() (Component, error) {
	return NewComponent(c.Kind, hidden(c.Options()).(map[string]any))
}

// Patterns of secrets: the text before an @ in an address, and the text after a name such as password. A password may contain an @ and quotes; the last @
// before a slash ends it.
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

// mistyped returns a malformed address for an error message. The mistake may be anywhere, so mistyped removes everything before the last @.
func mistyped(address string) string {
	return secrets.ReplaceAllString(before.ReplaceAllString(address, "${1}xxxxx@"), "${1}xxxxx")
}
