package main

import (
	"reflect"
	"testing"

	"github.com/alecthomas/kong"

	"driftscope/internal/training"
)

// TestPretrainDefaults: what the paper's rows and the benchmarks begin with is what pretrain's flags say when none is given.
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
