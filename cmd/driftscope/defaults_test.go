package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"driftscope/internal/job/training"
)

// TestPretrainDefaults: the paper's rows and the benchmarks start from the defaults of pretrain's flags.
func TestPretrainDefaults(t *testing.T) {
	var parsed commands
	parser, err := kong.New(&parsed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"pretrain", "film", "--latent", "2", "--out", "m.onnx"}); err != nil {
		t.Fatal(err)
	}
	want := training.Defaults()
	want.Source, want.Latent, want.Out = []string{"film"}, "2", "m.onnx"
	if got := training.Options(parsed.Pretrain); !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, expected %+v", got, want)
	}
}

// TestRenamedFlags: flag names of the last release are accepted, each with a warning that gives the new name.
func TestRenamedFlags(t *testing.T) {
	var parsed commands
	parser, err := kong.New(&parsed)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"pretrain", "film", "--latent", "2", "--out", "m.onnx", "--follow=7", "--sleep", "8", "--redraw=9"}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	if p := parsed.Pretrain; p.SpriteSteps != 7 || p.SyntheticSteps != 8 || p.ReinitSteps != 9 {
		t.Errorf("found %d, %d and %d steps, expected 7, 8 and 9", p.SpriteSteps, p.SyntheticSteps, p.ReinitSteps)
	}
	if got := renamed(args); len(got) != 3 || !strings.Contains(got[0], "--follow is now --sprite-steps") {
		t.Errorf("warned: %q", got)
	}
	if got := renamed([]string{"pretrain", "--sprite-steps", "7"}); got != nil {
		t.Errorf("warned of new names: %q", got)
	}
}
