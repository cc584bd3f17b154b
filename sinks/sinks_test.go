package sinks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/sinks/sinktest"
)

func TestNew(t *testing.T) {
	b := sinktest.Bus(t)
	exists := filepath.Join(t.TempDir(), "there.jsonl")
	if err := os.WriteFile(exists, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tables := filepath.Join(t.TempDir(), "there.csv")
	if err := os.WriteFile(filepath.Join(filepath.Dir(tables), "there.sde.csv"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		kind    string
		options map[string]any
		env     Env
		want    string
	}{
		"kind":         {"kafka", nil, Env{}, `sink kind "kafka" is not known: give one of csv, geff, gpio, jsonl, nats, osc, parquet, serial, terminal, trackmate`},
		"nats off":     {"nats", nil, Env{Stream: "bead"}, "set nats.url"},
		"nats stream":  {"nats", nil, Env{Stream: "bead.2", Bus: b}, "bead-2 is valid"},
		"nats option":  {"nats", map[string]any{"url": "x"}, Env{Stream: "bead", Bus: b}, "url"},
		"term option":  {"terminal", map[string]any{"hertz": 5}, Env{}, "hertz"},
		"jsonl path":   {"jsonl", nil, Env{}, "path is missing"},
		"jsonl there":  {"jsonl", map[string]any{"path": exists}, Env{}, "append: true"},
		"jsonl folder": {"jsonl", map[string]any{"path": filepath.Join(exists, "a.jsonl")}, Env{}, "check the folder"},
		"jsonl option": {"jsonl", map[string]any{"file": "x"}, Env{}, "file"},
		"jsonl append": {"jsonl", map[string]any{"path": "x", "append": true, "rotate_mb": 1}, Env{}, "append: works only with a single file"},
		"csv path":     {"csv", nil, Env{}, "such as results.csv"},
		"csv append":   {"csv", map[string]any{"path": "x", "append": true}, Env{}, "append"},
		"csv there":    {"csv", map[string]any{"path": tables}, Env{}, "rotate_every to number the files"},
		"csv size":     {"csv", map[string]any{"path": "x", "rotate_mb": -1}, Env{}, "rotate_mb: found -1"},
		"csv time":     {"csv", map[string]any{"path": "x", "rotate_every": "1ms"}, Env{}, "rotate_every: found 1ms"},
		"csv keep":     {"csv", map[string]any{"path": "x", "keep": 3}, Env{}, "keep: only for numbered files"},
		"serial path":  {"serial", map[string]any{"rules": map[string]any{"edge": map[string]any{"on": "1"}}}, Env{}, "device is missing"},
		"serial rule":  {"serial", map[string]any{"device": "x", "firmata": map[string]any{"egde": 13}}, Env{Rules: []string{"edge"}}, "one of [edge]"},
		"osc option":   {"osc", map[string]any{"port": 9000}, Env{}, "port"},
		"gpio chip":    {"gpio", map[string]any{"lines": map[string]any{"edge": 17}}, Env{}, "chip is missing"},
		"parquet keep": {"parquet", map[string]any{"path": "x", "keep": -3}, Env{}, "keep: found -3"},
		"parquet file": {"parquet", map[string]any{"path": filepath.Join(exists, "a")}, Env{}, "check the folder"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := New(test.kind, sinktest.Decoder(t, test.options), test.env)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("found %v, expected one line with %q", err, test.want)
			}
		})
	}
}
