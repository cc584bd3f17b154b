package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"driftscope/infer/card"
	"driftscope/internal/job/jobtest"
	"driftscope/internal/suite"
)

// TestPretrainInterrupted trains on two recordings without interruption, and again with a kill and a Ctrl-C: the same command then
// gives the same model, byte for byte. It does not repeat the choice of the preparation.
func TestPretrainInterrupted(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	folders := [2]string{t.TempDir(), t.TempDir()}
	for _, folder := range folders {
		jobtest.WritePictures(t, folder, "a", 34, 64)
		jobtest.WritePictures(t, folder, "b", 24, 64)
	}
	args := []string{"pretrain", "a", "b", "--latent", "2", "--fps", "10", "--steps", "30", "--pairs", "8", "--restarts", "2", "--synthetic-steps", "26", "--clahe", "on", "--seed", "3", "--out", "m.onnx"}
	o := drive(t, folders[0], args...)
	if o.status != 0 {
		t.Fatal(o.errors)
	}
	for _, want := range []string{"warning: a, b: 58 frames are few", "held-out pictures explained, latents ", "grey window "} {
		if !strings.Contains(o.errors, want) {
			t.Errorf("nobody said %q:\n%s", want, o.errors)
		}
	}
	want := suite.Content(t, folders[0], "m.onnx")
	if _, err := os.Stat(filepath.Join(folders[0], "m.onnx.training")); !os.IsNotExist(err) {
		t.Errorf("the checkpoint is still there: %v", err)
	}

	stop(t, folders[1], syscall.SIGKILL, 2, args)
	for _, name := range []string{"m.onnx", "m.onnx.training", "m.html"} {
		suite.LeaveUnfinished(t, filepath.Join(folders[1], name))
	}
	drive(t, folders[1], append(slices.Clone(args), "--rate", "0.001")...).check(t, 2, `m.onnx.training: it was started with rate "0", this command has "0.001": delete it or give another --out`)
	if problems := stop(t, folders[1], syscall.SIGINT, 1, args); !strings.Contains(problems, "interrupted, no model was written; the same command continues from step ") {
		t.Errorf("after Ctrl-C:\n%s", problems)
	}
	o = drive(t, folders[1], args...)
	if o.status != 0 || !strings.Contains(o.errors, "continuing from step ") || strings.Contains(o.errors, "grey window ") {
		t.Errorf("status %d\n%s", o.status, o.errors)
	}
	if !bytes.Equal(suite.Content(t, folders[1], "m.onnx"), want) {
		t.Error("another model than without interruptions")
	}
	if left := unfinishedFiles(t, folders[1]); len(left) > 0 {
		t.Errorf("found %v, expected that what was killed is swept", left)
	}

	continued(t, folders[0])
}

// continued continues the training of the model on one of the recordings.
func continued(t *testing.T, folder string) {
	o := drive(t, folder, "pretrain", "b", "--from", "m.onnx", "--fps", "10", "--steps", "6", "--pairs", "8", "--out", "further.onnx")
	if o.status != 0 {
		t.Fatal(o.errors)
	}
	var files [2]*card.File
	for i, name := range []string{"m.onnx", "further.onnx"} {
		var err error
		if files[i], err = card.Read(suite.Content(t, folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	old, further := files[0].Card, files[1].Card
	if old.Training.Source != "a, b" || old.Training.Frames != "0:58" || further.Training.Source != "b" || further.Latent != 2 {
		t.Errorf("the cards say %+v and %+v", old.Training, further.Training)
	}
	before, _ := json.Marshal(old.Preprocess)
	after, _ := json.Marshal(further.Preprocess)
	if !bytes.Equal(before, after) {
		t.Errorf("prepared by %s, the model it continues by %s", after, before)
	}
	drive(t, folder, "pretrain", "b", "--from", "m.onnx", "--latent", "3", "--fps", "10", "--out", "x.onnx").check(t, 2, "it has 2 latents, but --latent is 3")
	for _, kept := range []string{"--crop=none", "--clahe=on", "--keep-light"} {
		drive(t, folder, "pretrain", "b", "--from", "m.onnx", kept, "--fps", "10", "--out", "x.onnx").check(t, 2, "leave --crop, --clahe and --keep-light out")
	}
	drive(t, folder, "pretrain", "b", "--from", "m.onnx", "--restarts", "3", "--fps", "10", "--out", "x.onnx").check(t, 2, "leave --restarts and --reinit-steps out")
	drive(t, folder, "pretrain", "b", "--from", "b/000.png", "--fps", "10", "--out", "x.onnx").check(t, 2, "--from b/000.png")
	drive(t, folder, "pretrain", "a", "b", "--latent", "2", "--train-frames", "0:9", "--fps", "10", "--out", "x.onnx").check(t, 2, "2 recordings were given")
	if err := os.WriteFile(filepath.Join(folder, "x.onnx.training"), []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	drive(t, folder, "pretrain", "b", "--latent", "2", "--fps", "10", "--out", "x.onnx").check(t, 2, "x.onnx.training: unusable checkpoint: it does not begin with the right signature: delete it or give another --out")
}

// stop starts driftscope, sends it the signal after the given number of evaluations of the held-out frames, and returns its output.
func stop(t *testing.T, folder string, signal syscall.Signal, looks int, args []string) string {
	t.Helper()
	c := command(t, folder, args...)
	said, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if !strings.Contains(lines.Text(), "(restart ") {
			continue
		}
		if looks--; looks == 0 {
			if err := c.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Wait(); err == nil {
		t.Errorf("ended well in spite of %v:\n%s", signal, all.String())
	}
	return all.String()
}
