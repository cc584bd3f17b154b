package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/infer/card"
)

// TestPretrainThenEval goes the whole way once: simulate, learn briefly, judge. Fifty steps teach little, so only the form of
// the result is held; that the same command gives the same model is TestPretrainInterrupted's.
func TestPretrainThenEval(t *testing.T) {
	long(t)
	t.Parallel()
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "balls-ou", "--frames", "80", "--seed", "7", "--out", "balls"); o.status != 0 {
		t.Fatal(o.errors)
	}
	if o := drive(t, folder, "pretrain", "balls", "--latent", "2", "--train-frames", "0:60", "--steps", "50", "--pairs", "16", "--restarts", "1", "--out", "m.onnx"); o.status != 0 {
		t.Fatal(o.errors)
	}
	file, err := card.Read(content(t, folder, "m.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if c := file.Card; c.Training.Frames != "0:60" || c.Training.Seed != 1 || c.Input.Channels != 3 || math.Abs(c.DT-0.01) > 1e-9 || file.Decoder == nil || c.Drift == nil {
		t.Errorf("the card says %+v", c)
	}
	if page, err := os.ReadFile(filepath.Join(folder, "m.html")); err != nil || !bytes.Contains(page, []byte("<svg")) {
		t.Errorf("no report with charts: %v", err)
	}

	o := drive(t, folder, "eval", "--model", "m.onnx", "--video", "balls", "--truth", "balls/truth.csv", "--frames", "60:80", "--baseline", "registration")
	var got map[string]any
	if err := json.Unmarshal([]byte(o.out), &got); o.status != 0 || err != nil {
		t.Fatalf("eval: %v\n%s%s", err, o.out, o.errors)
	}
	for _, key := range []string{"l_latent", "l_mu", "l_latent_coord", "l_mu_coord", "crlb", "recon_mse", "r2", "n", "dt", "align", "displacement_mse", "registration_mse"} {
		if got[key] == nil {
			t.Errorf("eval prints no %s: %s", key, o.out)
		}
	}
	if got["n"] != 20.0 || got["l_latent"] != 2*got["l_latent_coord"].(float64) {
		t.Errorf("20 frames of 2 coordinates were judged, eval prints %s", o.out)
	}
	drive(t, folder, "eval", "--model", "m.onnx", "--video", "balls", "--truth", "balls/truth.csv", "--align", "affine", "--frames", "50:80").
		check(t, 2, "never judged on frames it was fitted on")
	drive(t, folder, "pretrain", "balls", "--latent", "0", "--out", "x.onnx").check(t, 2, "--latent")
	for _, flag := range []string{"--steps=-1", "--pairs=-5", "--restarts=-1", "--substeps=-1", "--tau=-1"} {
		drive(t, folder, "pretrain", "balls", "--latent", "2", flag, "--out", "x.onnx").check(t, 2, "expected positive numbers")
	}
	drive(t, folder, "pretrain", "balls", "--latent", "2", "--train-frames", "90:95", "--out", "x.onnx").check(t, 1, "no frame in 90:95")
	drive(t, folder, "pretrain", "balls", "--latent", "2", "--clock", "--train-frames", "20:60", "--out", "x.onnx").check(t, 2, "begin with 0")
	drive(t, folder, "pretrain", "balls", "--latent", "2", "--crop", "40,40,64", "--out", "x.onnx").check(t, 2, "do not lie inside the 64x64 frame")
}

// A model with a clock is trained on the beginning of a recording, and is judged on its end as the clock stands there.
func TestPretrainClock(t *testing.T) {
	long(t)
	t.Parallel()
	folder := t.TempDir()
	pictures(t, folder, "spot", 80, 64)
	if o := drive(t, folder, "pretrain", "spot", "--latent", "2", "--clock", "--fps", "10", "--train-frames", "0:60", "--clahe", "off", "--steps", "25", "--pairs", "8", "--restarts", "1",
		"--sleep=-1", "--out", "m.onnx"); o.status != 0 {
		t.Fatal(o.errors)
	}
	if file, err := card.Read(content(t, folder, "m.onnx")); err != nil || math.Abs(file.Card.Clock-5.9) > 1e-6 || len(file.Card.Drift.Centre) != 2 {
		t.Errorf("60 frames, 0.1 s apart, last 5.9 s: found %+v, %v", file.Card, err)
	}
	if o := drive(t, folder, "eval", "--model", "m.onnx", "--video", "spot", "--fps", "10", "--truth", "centroid", "--frames", "60:80"); o.status != 0 {
		t.Error(o.errors)
	}
	drive(t, folder, "pretrain", "spot", "--from", "m.onnx", "--fps", "10", "--train-frames", "20:60", "--out", "x.onnx").check(t, 2, "begin with 0")
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]span{
		"": {0, math.MaxUint64}, "0:80": {0, 80}, ":5": {0, 5}, "7:": {7, math.MaxUint64},
	} {
		if got, err := parseSpan("--frames", text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"80", "8:8", "9:3", "a:b", "-1:4", "1:2:3"} {
		if _, err := parseSpan("--frames", text); err == nil || exitStatus(err) != 2 || !strings.HasPrefix(err.Error(), "--frames ") {
			t.Errorf("%q: %v, a usage error of --frames expected", text, err)
		}
	}
}

func TestParseTruth(t *testing.T) {
	got, err := parseTruth(strings.NewReader("t,z1,z2,mu1,mu2\n0,1,2,3,4\n0.1,5,6,7,8\n"))
	if err != nil || got.z.At(1, 1) != 6 || got.mu.At(0, 0) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err = parseTruth(strings.NewReader("z1\n1\n")); err != nil || got.mu != nil {
		t.Errorf("without drift: %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                     "no header",
		"t,x\n0,1\n":           "0 z columns",
		"t,z1,z2,mu1\n":        "1 mu columns",
		"t,z1\n":               "no rows",
		"t,z1\n0,one\n":        `line 2: found "one"`,
		"t,z1\n0,1\n0.1,2,3\n": "wrong number of fields",
	} {
		if _, err := parseTruth(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, an error with %q expected", text, err, want)
		}
	}
}

func FuzzParseTruth(f *testing.F) {
	f.Add("t,z1,mu1\n0,1,2\n")
	f.Add("z2,z1\n\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseTruth(strings.NewReader(text))
		if err == nil && got.mu != nil && got.mu.RawMatrix().Cols != got.z.RawMatrix().Cols {
			t.Error("as many drifts as coordinates expected")
		}
	})
}
