package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/internal/flow/bus"
	"driftscope/internal/kit/console"
)

// Models are put, listed, fetched and removed from the command line; no file is overwritten.
func TestModelCommand(t *testing.T) {
	folder := t.TempDir()
	conn, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Store: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	model := func(args ...string) outcome {
		return drive(t, folder, append(append([]string{"model"}, args...), "--nats", conn.URL())...)
	}
	written(t, folder, map[string]string{"spot.onnx": string(shippedModel(t)), "foreign.onnx": "no model"})
	for _, test := range []struct{ args, want string }{
		{"list", "none: driftscope model put"},
		{"put spot.onnx", "spot: 2 latents of 64x64 pixels, 819753 bytes, SHA-256 "},
		{"put spot.onnx --name bead-2", "bead-2: 2 latents"},
		{"list", "bead-2 "},
		{"list", "2 latents of 64x64 pixels"},
		{"get bead-2", "bead-2.onnx: 2 latents"},
		{"remove spot", ""},
		{"list --site other", "none"},
	} {
		if o := model(strings.Fields(test.args)...); o.status != 0 || !strings.Contains(o.out, test.want) {
			t.Errorf("%s: found %+v, expected %q", test.args, o, test.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(folder, "bead-2.onnx")); err != nil || !bytes.Equal(got, shippedModel(t)) {
		t.Errorf("fetched %d bytes: %v", len(got), err)
	}
	model("get", "bead-2").check(t, 2, "exists already")
	at := modelServer{NATS: conn.URL()}
	t.Chdir(folder)
	for _, test := range []struct {
		command interface{ Run(context.Context) error }
		status  int
		want    string
	}{
		{&getModelCmd{Name: "gone", modelServer: at}, 1, "no such model"},
		{&removeModelCmd{Name: "gone", modelServer: at}, 1, "no such model"},
		{&putModelCmd{File: "foreign.onnx", modelServer: at}, 2, "torn or not ONNX"},
		{&putModelCmd{File: "none.onnx", modelServer: at}, 2, "no such file"},
		{&putModelCmd{File: "spot.onnx", Name: "a.b", modelServer: at}, 2, "letters, digits"},
		{&listModelsCmd{modelServer{NATS: "embedded"}}, 2, "give its address"},
	} {
		if err := test.command.Run(t.Context()); console.Status(err) != test.status || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: found %v, expected %q", test.command, err, test.want)
		}
	}
}
