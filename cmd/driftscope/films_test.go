package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/infer/card"
	"driftscope/internal/job/evaluation"
	"driftscope/internal/job/jobtest"
	"driftscope/internal/suite"
)

// TestFilms trains a model on three films, evaluates it and runs it. Thirty steps teach little, so the test checks only the form of the results.
func TestFilms(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	folder := t.TempDir()
	jobtest.WriteSpecimens(t, folder)
	pretrain := []string{"pretrain", "a.fits", "b.fits", "c.fits", "--latent", "2", "--steps", "30", "--pairs", "16", "--restarts", "1", "--synthetic-steps=-1", "--clahe", "off", "--out", "m.onnx"}
	o := drive(t, folder, append(pretrain, "--crop", "film")...)
	if o.status != 0 || !strings.Contains(o.errors, "each film's own grey window and region, normalise → roi 64x64 around the object → resize") {
		t.Fatal(o.errors)
	}
	file, err := card.Read(suite.Content(t, folder, "m.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if got := file.Card.Preprocess; len(got) != 3 || got[0].Options["film"] != true || got[1].Options["search"].(map[string]any)["film"] != true {
		t.Errorf("the card's steps are %+v", got)
	}
	o = drive(t, folder, "eval", "--model", "m.onnx", "--video", "b.fits", "--truth", "centroid", "--align", "affine", "--fit-frames", "0:20", "--frames", "20:40", "--baseline", "registration")
	var got evaluation.Evaluation
	if err := json.Unmarshal([]byte(o.out), &got); o.status != 0 || err != nil {
		t.Fatalf("eval: %v\n%s%s", err, o.out, o.errors)
	}
	if got.N != 20 || got.DisplacementMSE == nil || got.RegistrationMSE == nil {
		t.Errorf("eval prints %s", o.out)
	}
	if err := os.Mkdir(filepath.Join(folder, "two"), 0o700); err != nil {
		t.Fatal(err)
	}
	jobtest.WriteTrajectories(t, filepath.Join(folder, "two"))
	o = drive(t, folder, "eval", "--model", "m.onnx", "--video", "two", "--truth", "centroid", "--align", "affine", "--fit-frames", "0:8", "--frames", "8:16")
	if o.status != 0 || !strings.Contains(o.errors, "warning: two has 2 trajectories, but m.onnx centres each separately") {
		t.Errorf("eval of two films: %s", o.errors)
	}
	if o := drive(t, folder, "run", "c.fits", "--model", "m.onnx", "--nats", "off", "--no-status"); o.status != 0 || !strings.Contains(o.out, "frames in 25, tracked 25") {
		t.Errorf("run: %s%s", o.out, o.errors)
	}
	drive(t, folder, append(pretrain, "--crop", "film,200")...).check(t, 2, `--crop "film,200": expected film,SIZE with 1 to 128 pixels`)
	jobtest.Write(t, folder, "blank.fits", 128, jobtest.Specimen{X: 60, Y: 60, Background: 500, Frames: 5})
	drive(t, folder, "pretrain", "a.fits", "blank.fits", "--latent", "2", "--crop", "film", "--out", "x.onnx").check(t, 1, "every pixel of the film so far is 500: check the light")
}
