package infer_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gocv.io/x/gocv"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/flow/latent"
)

var grey4x4 = card.Input{Channels: 1, Height: 4, Width: 4}

// plain returns an ONNX encoder without a card.
func plain(d int) []byte {
	return linearEncoder(grey4x4, random(2*d*16, 1), make([]float32, 2*d)).Marshal(nil)
}

// written returns a model file with the card cardFor(grey4x4, d), even if the graphs contradict it.
func written(t testing.TB, d int, encoder, decoder *card.Graph) []byte {
	t.Helper()
	data, err := card.Write(cardFor(grey4x4, d), encoder, decoder)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const foreignCard = `
version: 1
input: {channels: 1, height: 4, width: 4}
latent: 2
preprocess:
  - kind: normalise
    options: {window: [0, 255]}
dt_s: 0.02
sigma: [1, 1]
mean: [0, 0]
sd: [2, 3]
train_s: 10
training: {command: "train.py data/*.tif"}
`

// save writes files into a new folder and returns the path of the first.
func save(t *testing.T, model []byte, yaml string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "encoder.onnx")
	if err := os.WriteFile(path, model, 0o600); err != nil {
		t.Fatal(err)
	}
	if yaml != "" {
		if err := os.WriteFile(strings.TrimSuffix(path, ".onnx")+".yaml", []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestLoad(t *testing.T) {
	in, err := infer.Load(save(t, written(t, 2, linearEncoder(grey4x4, random(64, 1), make([]float32, 4)), nil), ""))
	if err != nil {
		t.Fatal(err)
	}
	beside, err := infer.Load(save(t, plain(2), foreignCard))
	if err != nil {
		t.Fatal(err)
	}
	if beside.Card.DT != 0.02 || beside.Card.SD[1] != 3 || beside.Card.Preprocess[0].Kind != "normalise" {
		t.Errorf("found card %+v, expected the card of the YAML file", beside.Card)
	}
	if len(in.Digest) != 64 || in.Digest == beside.Digest {
		t.Errorf("found digests %q and %q, expected two SHA-256 sums", in.Digest, beside.Digest)
	}
	var a, b latent.Latent
	f := picture(t, 4, 4, gocv.MatTypeCV32FC1, random(16, 4)...)
	for _, c := range []struct {
		m *infer.Model
		z *latent.Latent
	}{{in, &a}, {beside, &b}} {
		if err := open(t, c.m).Encode(context.Background(), c.z, f); err != nil {
			t.Fatal(err)
		}
	}
	if a.Mean[0] != b.Mean[0] || a.Mean[1] != b.Mean[1] {
		t.Errorf("found %v and %v, expected equal latents from equal graphs", a.Mean, b.Mean)
	}
}

func TestLoadRefuses(t *testing.T) {
	good := linearEncoder(grey4x4, random(64, 1), make([]float32, 4))
	oddNames := newGraph("x", 1, 1, 4, 4)
	oddNames.flatten("flat")
	oddNames.gemm("mu", random(32, 1), random(2, 2))
	oddNames.last = "flat"
	oddNames.gemm("sigma", random(32, 1), random(2, 2))
	wide := card.Input{Channels: 1, Height: 8, Width: 8}
	open := bytes.Replace(written(t, 2, good, nil), []byte("\x0a\x02\x08\x01\x0a\x02\x08\x01"), []byte("\x0a\x02\x12\x00\x0a\x02\x08\x01"), 1) // dim_param for dim_value
	for _, c := range []struct {
		name  string
		model []byte
		yaml  string
		want  string
	}{
		{"empty file", nil, "", "the file is empty"},
		{"text file", []byte("this is no model\n"), "", "torn or not ONNX"},
		{"torn", plain(2)[:100], "", "torn or not ONNX"},
		{"no card", plain(2), "", "carries no driftscope.card metadata, which must hold version, input, latent, preprocess"},
		{"unknown key", plain(2), foreignCard + "latents: 3\n", `line 14: unknown field "latents"`},
		{"missing keys", plain(2), "version: 1\nlatent: 2\n", "input.channels: found 0, expected 1 or 3"},
		{"train_s is no number", plain(2), strings.Replace(foreignCard, "train_s: 10", "train_s: .nan", 1), "line 12: train_s: found NaN, expected a positive number of seconds"},
		{"train_s below 0", plain(2), strings.Replace(foreignCard, "train_s: 10", "train_s: -1", 1), "line 12: train_s: found -1"},
		{"a window that is none", plain(2), strings.Replace(foreignCard, "[0, 255]", "[0, .inf]", 1), "line 5: preprocess[0].options.window[1]: found +Inf, expected a finite number"},
		{"a huge resize", plain(2), strings.Replace(foreignCard, "dt_s:", "  - {kind: resize, options: {width: 16384, height: 16384}}\ndt_s:", 1),
			"line 5: preprocess[1].options: found a resize to 16384x16384, expected at most 4194304 pixels"},
		{"alias", plain(2), strings.Replace(foreignCard, "[2, 3]", "&a [2, 3]", 1), "line 11: anchors and aliases are not supported"},
		{"big card", plain(2), strings.Repeat("# ", 1<<18), "at most 65536 expected"},
		{"latent contradicts", written(t, 3, good, nil), "", "returns 2 means and 2 log sds, but the card has latent: 3"},
		{"input contradicts", written(t, 2, linearEncoder(wide, random(256, 1), make([]float32, 4)), nil), "", "does not run on the card's input of 1x4x4"},
		{"decoder contradicts", written(t, 2, good, linearDecoder(wide, 2, random(128, 1), random(64, 1))), "", "the decoder returns 64 values, but the card's input of 1x4x4 has 16"},
		{"decoder's latents contradict", written(t, 2, good, linearDecoder(grey4x4, 3, random(48, 1), random(16, 1))), "", "the decoder does not run on 2 latents"},
		{"operator OpenCV refuses", refusedByOpenCV(t), "", "OpenCV: "},
		{"sizes left open", open, "", "declared with the shape 0x1x4x4, expected float32 of shape 1x1x4x4: export it with the fixed sizes"},
		{"outputs", written(t, 2, oddNames.outputs(card.Value{Name: "mu", Shape: []int{1, 2}}, card.Value{Name: "sigma", Shape: []int{1, 2}}), nil), "",
			"expected mean log_sd, or a single output"},
		{"mean alone", func() []byte {
			g := newGraph("x", 1, 1, 4, 4)
			g.flatten("flat")
			g.gemm("z", random(32, 1), random(2, 2))
			return written(t, 2, g.outputs(card.Value{Name: "z", Shape: []int{1, 2}}), nil)
		}(), "", "only output has 2 values, expected 4: the means and the log sds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := save(t, c.model, c.yaml)
			_, err := infer.Load(path)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("found %v, expected %q in it", err, c.want)
			}
			if !strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("%v: does not name the file", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: more than one line", err)
			}
		})
	}
	if _, err := infer.Load(filepath.Join(t.TempDir(), "none.onnx")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: found %v, expected ErrNotExist", err)
	}
	if _, err := infer.Parse("memory", plain(2)); !errors.Is(err, card.ErrNoCard) {
		t.Errorf("found %v, expected ErrNoCard", err)
	}
}

func TestLoadRefusesHugeFile(t *testing.T) {
	path := save(t, []byte{0}, "")
	if err := os.Truncate(path, card.MaxFile+1); err != nil { // sparse: takes no disk space
		t.Fatal(err)
	}
	if _, err := infer.Load(path); err == nil || !strings.Contains(err.Error(), "at most 268435456 expected") {
		t.Errorf("found %v, expected the size to be refused", err)
	}
}

// refusedByOpenCV returns a model of allowed operators that OpenCV 4.6 refuses: its Slice omits the optional axes.
func refusedByOpenCV(t *testing.T) []byte {
	t.Helper()
	g := newGraph("x", 1, 1, 4, 4)
	g.flatten("flat")
	g.Ints = []card.IntTensor{{Name: "starts", Data: []int{0, 0}}, {Name: "ends", Data: []int{1, 16}}, {Name: "steps", Data: []int{1, 1}}}
	g.node("Slice", "part", []string{"starts", "ends", "", "steps"})
	g.gemm("both", random(64, 1), random(4, 2))
	return written(t, 2, g.outputs(card.Value{Name: "both", Shape: []int{1, 4}}), nil)
}

// TestLoadIsQuiet: for a model that OpenCV refuses, only our one line is printed, and nothing from OpenCV on standard error.
func TestLoadIsQuiet(t *testing.T) {
	path := save(t, refusedByOpenCV(t), "")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), loadAndExit+"="+path)
	var problems strings.Builder
	child.Stderr = &problems
	out, err := child.Output()
	if err != nil || problems.String() != "" || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "OpenCV") {
		t.Errorf("found %v, on standard error %q, on standard output %q, expected one line on standard output", err, problems.String(), out)
	}
}

// convolutional returns a small model file with every operator of exported models.
func convolutional(t testing.TB) []byte {
	t.Helper()
	g := newGraph("x", 1, 1, 4, 4)
	g.conv("c", g.random(2*25, 5), g.random(2, 1))
	g.leaky("l")
	g.pool("p")
	g.flatten("flat")
	g.gemm("mean", g.random(2*8, 3), g.random(2, 1))
	g.last = "flat"
	g.gemm("log_variance", g.random(2*8, 3), g.random(2, 1))
	g.node("Exp", "variance", nil)
	g.node("Log", "log", nil)
	g.node("Mul", "log_sd", []string{g.tensor([]float32{0.5, 0.5}, 1, 2)})
	encoder := g.outputs(card.Value{Name: "mean", Shape: []int{1, 2}}, card.Value{Name: "log_sd", Shape: []int{1, 2}})

	h := newGraph("z", 1, 2)
	h.gemm("seed", h.random(8*2, 1), h.random(8, 1))
	h.reshape("unflat", 1, 2, 2, 2)
	h.double("u")
	h.conv("c", h.random(2*25, 5), h.random(1, 1))
	h.node("Sigmoid", "x", nil)
	return written(t, 2, encoder, h.outputs(card.Value{Name: "x", Shape: []int{1, 1, 4, 4}}))
}

// FuzzParse searches for a file that ends this process, because it passes both the check of operators and the trial.
func FuzzParse(f *testing.F) {
	good := written(f, 2, linearEncoder(grey4x4, random(64, 1), make([]float32, 4)), linearDecoder(grey4x4, 2, random(32, 1), random(16, 1)))
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(convolutional(f))
	f.Add(clocked(f, 10, "x", "t"))
	f.Add([]byte{})
	for _, killer := range killers(f) {
		f.Add(killer)
	}
	for seed := range uint64(6) {
		data, err := infer.RandomModel(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := infer.Parse("fuzz.onnx", data)
		if (m == nil) == (err == nil) {
			t.Errorf("found model %v and error %v, expected one of them", m, err)
		}
	})
}
