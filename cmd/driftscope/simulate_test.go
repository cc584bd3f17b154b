package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/internal/kit/console"
)

func TestSimulate(t *testing.T) {
	out := filepath.Join(t.TempDir(), "balls")
	command := simulateCmd{Name: "balls-ou", Frames: 3, Seed: 7, Out: out, Render: "integer"}
	if err := command.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for file, rows := range map[string]int{"frames.csv": 4, "truth.csv": 4} {
		text, err := os.ReadFile(filepath.Join(out, file))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(text), "\n"); got != rows {
			t.Errorf("%s has %d lines; want %d", file, got, rows)
		}
	}
	if err := command.Run(context.Background()); console.Status(err) != 2 || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a second run into the same folder: %v", err)
	}
}

func TestSimulateRefuses(t *testing.T) {
	for want, command := range map[string]simulateCmd{
		"--frames is 0":            {Name: "balls-ou", Frames: 0},
		"--frames is 10000001":     {Name: "balls-ou", Frames: 10_000_001},
		`scene "nope" is not know`: {Name: "nope", Frames: 1},
		"supports only subpixel":   {Name: "molecule", Frames: 1, Render: "integer"},
		"holds no digits":          {Name: "digits-ou", Frames: 1, Assets: t.TempDir()},
		"holds 0 objects":          {Name: "wasserstein-ou", Frames: 1, Assets: t.TempDir()},
	} {
		command.Out = filepath.Join(t.TempDir(), "out")
		if err := command.Run(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v; want one with %q", command, err, want)
		}
		if _, err := os.Stat(command.Out); !os.IsNotExist(err) {
			t.Errorf("%s was made", command.Out)
		}
	}
}
