package config

import (
	"strings"
	"testing"
)

// The text that a sink writes to a device survives every conversion of a configuration: from the options of a flag, to YAML and back, and through Public.
func TestControlCharacters(t *testing.T) {
	for _, want := range []string{"SHUTTER 1\r\n", "\r", "\n", "a\x00\x03\x1b\x7f\u00ff", "\\ and \"quotes\"\r", " \t# no comment\n\n", "${secret:a}\r"} {
		c, err := NewComponent("serial", map[string]any{"rules": map[string]any{"edge": map[string]any{"on": want}}, "list": []any{want}})
		if err != nil {
			t.Fatal(err)
		}
		cfg := Default()
		if cfg.Source, err = NewComponent("sim", nil); err != nil {
			t.Fatal(err)
		}
		cfg.Sinks = []Component{c}
		public, err := cfg.Public()
		if err != nil {
			t.Fatal(err)
		}
		page, err := public.YAML()
		if err != nil {
			t.Fatal(err)
		}
		read, err := Parse("kept.yaml", page)
		if err != nil {
			t.Fatalf("%q: %v\n%s", want, err, page)
		}
		var o struct {
			Rules map[string]struct {
				On string `yaml:"on"`
			} `yaml:"rules"`
			List []string `yaml:"list"`
		}
		if err := read.Sinks[0].Decode(&o); err != nil {
			t.Fatal(err)
		}
		if got := o.Rules["edge"].On; got != want || o.List[0] != want {
			t.Errorf("found %q and %q, expected %q, of\n%s", got, o.List[0], want, page[strings.Index(string(page), "sinks"):])
		}
	}
}
