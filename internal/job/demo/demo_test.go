//go:build cgo

package demo

import (
	"bytes"
	"strings"
	"testing"
)

func TestWelcome(t *testing.T) {
	var out bytes.Buffer
	if err := Welcome(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"driftscope demo", "driftscope doctor", "driftscope probe", "--help", "tutorial.md"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the first lines do not name %s:\n%s", want, &out)
		}
	}
	if n := strings.Count(out.String(), "\n"); n > 12 {
		t.Errorf("%d lines, expected a few", n)
	}
}

func TestConfig(t *testing.T) {
	cfg, err := (&Command{Dashboard: "127.0.0.1:0", Out: "tracks.csv"}).config("beads.mov")
	if err != nil {
		t.Fatal(err)
	}
	if !cfg.Objects.Enabled || cfg.Online.PixelUM != filmPixel || cfg.Dashboard.Address != "127.0.0.1:0" || len(cfg.Sinks) != 2 {
		t.Errorf("found %+v", cfg)
	}
	if _, err := (&Command{NATSPort: -1}).config("beads.mov"); err == nil {
		t.Error("a port below 0 is taken")
	}
}
