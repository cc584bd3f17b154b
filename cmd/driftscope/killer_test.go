package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/infer/card"
	"driftscope/internal/job/reach"
	"driftscope/internal/kit/console"
)

// diesInTrial makes the process that tries a model end by a signal, as a crash of OpenCV would.
const diesInTrial = "DRIFTSCOPE_TEST_TRIAL_DIES"

// killer returns a model that makes OpenCV 4.6 write out of bounds while loading: CumSum(x, x).
func killer(t *testing.T) []byte {
	t.Helper()
	m, err := reach.OpenModel(reach.EmbeddedModel + reach.DefaultModel)
	if err != nil {
		t.Fatal(err)
	}
	side := m.Card.Input.Width
	g := &card.Graph{
		Name: "killer", Inputs: []card.Value{{Name: "x", Shape: []int{1, m.Card.Input.Channels, side, side}}},
		Outputs: []card.Value{{Name: "both", Shape: []int{1, 4}}},
		Tensors: []card.Tensor{{Name: "w", Shape: []int{4, side * side}, Data: make([]float32, 4*side*side)}, {Name: "b", Shape: []int{4}, Data: make([]float32, 4)}},
		Nodes: []card.Node{
			{Op: "CumSum", Inputs: []string{"x", "x"}, Outputs: []string{"sum"}},
			{Op: "Flatten", Inputs: []string{"sum"}, Outputs: []string{"flat"}},
			{Op: "Gemm", Inputs: []string{"flat", "w", "b"}, Outputs: []string{"both"}, Attrs: []card.Attr{{Name: "transB", Value: 1}}},
		},
	}
	data, err := card.Write(&m.Card, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A running stream refuses models from others that crash, and continues with its own model: one model is on the list of known ones, and one
// ends only the process that tries it.
func TestSwapToAKiller(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	r := startSwapping(t, strings.ReplaceAll(molecules, "%[1]s", folder)+"nats: {port: 0, durable: true, store: "+folder+"}\n")
	own := shipped(t)
	r.put("good", plainModel(t, 2, 1, 64)) // creates the store
	js, err := jetstream.New(r.streams.Bus.NATS())
	if err != nil {
		t.Fatal(err)
	}
	store, err := js.ObjectStore(t.Context(), "driftscope_local_models")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"killer": killer(t), "hidden": plainModel(t, 3, 1, 64)} {
		if _, err := store.PutBytes(t.Context(), name, data); err != nil {
			t.Fatal(err)
		}
	}
	r.ask("model", `{"name": "killer"}`, "409", `node "sum" (CumSum): found the operator CumSum, which is not supported`)
	t.Setenv(diesInTrial, "yes")
	r.ask("model", `{"name": "hidden"}`, "409", "OpenCV ended the process that tested it (")
	r.ask("model", `{"name": "good"}`, "409", "OpenCV ended the process that tested it (")
	r.tracks("embedded:molecule", own.Digest, 2)
	if err := os.Unsetenv(diesInTrial); err != nil { // t.Setenv restores it
		t.Fatal(err)
	}
	r.ask("model", `{"name": "good"}`, "", "ok")
	r.stop()
}

// A model that crashes makes run and model put fail with one line: status 1, and no stack trace.
func TestRunAKiller(t *testing.T) {
	folder := t.TempDir()
	for name, data := range map[string][]byte{"killer.onnx": killer(t), "hidden.onnx": plainModel(t, 3, 1, 64)} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(diesInTrial, "yes")
	for file, want := range map[string]string{
		"killer.onnx": "found the operator CumSum, which is not supported: export the model without it; supported operators: Abs, Add,",
		"hidden.onnx": "OpenCV ended the process that tested it (",
	} {
		for _, args := range [][]string{{"run", "sim:molecule", "--frames", "5", "--nats", "off", "--model", file}, {"model", "put", file}} {
			o := drive(t, folder, args...)
			problem, _, _ := strings.Cut(o.errors, "driftscope"+console.More)
			lines := strings.Count(problem, "\n")
			if o.status != 1 || lines != 1 || !strings.Contains(o.errors, file) || !strings.Contains(o.errors, want) {
				t.Errorf("%v: found status %d and %q, expected 1 and one line with %q", args, o.status, o.errors, want)
			}
		}
	}
}

// The shipped model is loaded without a trial process.
func TestTheShippedModelIsReadAtOnce(t *testing.T) {
	t.Setenv(diesInTrial, "yes")
	if _, err := reach.OpenModel(reach.EmbeddedModel + reach.DefaultModel); err != nil {
		t.Error(err)
	}
}
