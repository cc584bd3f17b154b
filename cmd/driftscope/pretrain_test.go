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
	"driftscope/internal/job/jobtest"
	"driftscope/internal/suite"
)

// TestPretrainThenEval runs the whole chain once: simulate, train briefly, evaluate. Fifty steps teach little, so it checks only
// the form of the result. TestPretrainInterrupted checks that the same command gives the same model.
func TestPretrainThenEval(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "balls-ou", "--frames", "80", "--seed", "7", "--out", "balls"); o.status != 0 {
		t.Fatal(o.errors)
	}
	if o := drive(t, folder, "pretrain", "balls", "--latent", "2", "--train-frames", "0:60", "--steps", "50", "--pairs", "16", "--restarts", "1", "--out", "m.onnx"); o.status != 0 {
		t.Fatal(o.errors)
	}
	file, err := card.Read(suite.Content(t, folder, "m.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if c := file.Card; c.Training.Frames != "0:60" || c.Training.Seed != 1 || c.Input.Channels != 3 || math.Abs(c.DT-0.01) > 1e-9 || file.Decoder == nil || c.Drift == nil || c.Training.Verdict == nil {
		t.Errorf("the card says %+v", c)
	}
	if page, err := os.ReadFile(filepath.Join(folder, "m.html")); err != nil || !bytes.Contains(page, []byte("<svg")) {
		t.Errorf("no report with charts: %v", err)
	}

	o := drive(t, folder, "eval", "--model", "m.onnx", "--video", "balls", "--truth", "balls/truth.csv", "--frames", "60:80", "--baseline", "registration")
	if warned := strings.Contains(o.errors, "its verdict is "); warned != (file.Card.Training.Verdict.Doubted() != "") {
		t.Errorf("a verdict of %+v, eval says %s", file.Card.Training.Verdict, o.errors)
	}
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
		check(t, 2, "an affine map needs separate frames")
	drive(t, folder, "pretrain", "balls", "--latent", "0", "--out", "x.onnx").check(t, 2, "--latent")
	for _, flag := range []string{"--steps=-1", "--pairs=-5", "--restarts=-1", "--substeps=-1", "--tau=-1"} {
		drive(t, folder, "pretrain", "balls", "--latent", "2", flag, "--out", "x.onnx").check(t, 2, "expected positive numbers")
	}
	drive(t, folder, "pretrain", "balls", "--latent", "2", "--train-frames", "90:95", "--out", "x.onnx").check(t, 1, "no frame in 90:95")
	drive(t, folder, "pretrain", "balls", "--latent", "2", "--clock", "--train-frames", "20:60", "--out", "x.onnx").check(t, 2, "begin with 0")
	drive(t, folder, "pretrain", "balls", "--latent", "2", "--crop", "40,40,64", "--out", "x.onnx").check(t, 2, "do not lie inside the 64x64 frame")
}

// A model with a clock is trained on the beginning of a recording and tested on its end, with the clock's value there.
func TestPretrainClock(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	folder := t.TempDir()
	jobtest.WritePictures(t, folder, "spot", 80, 64)
	if o := drive(t, folder, "pretrain", "spot", "--latent", "2", "--clock", "--fps", "10", "--train-frames", "0:60", "--clahe", "off", "--steps", "25", "--pairs", "8", "--restarts", "1",
		"--synthetic-steps=-1", "--out", "m.onnx"); o.status != 0 {
		t.Fatal(o.errors)
	}
	if file, err := card.Read(suite.Content(t, folder, "m.onnx")); err != nil || math.Abs(file.Card.Clock-5.9) > 1e-6 || len(file.Card.Drift.Centre) != 2 {
		t.Errorf("60 frames, 0.1 s apart, last 5.9 s: found %+v, %v", file.Card, err)
	}
	if o := drive(t, folder, "eval", "--model", "m.onnx", "--video", "spot", "--fps", "10", "--truth", "centroid", "--frames", "60:80"); o.status != 0 {
		t.Error(o.errors)
	}
	drive(t, folder, "pretrain", "spot", "--from", "m.onnx", "--fps", "10", "--train-frames", "20:60", "--out", "x.onnx").check(t, 2, "begin with 0")
}
