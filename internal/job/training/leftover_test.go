package training

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"driftscope/internal/suite"
)

// TestCheckpointOutlivesModel: a training's checkpoint is removed only once its model is in place.
func TestCheckpointOutlivesModel(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "m.onnx")
	u := &unfinished{path: out + ".training"}
	if err := u.save([]byte("step 5"), 5); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(out, 0o700); err != nil { // a file cannot replace a folder
		t.Fatal(err)
	}
	suite.LeaveUnfinished(t, out)
	if err := u.complete(out, []byte("model")); err == nil {
		t.Error("a model took the place of a folder")
	}
	if got := string(suite.Content(t, folder, "m.onnx.training")); got != "step 5" {
		t.Errorf("the checkpoint is %q", got)
	}
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	if err := u.complete(out, []byte("model")); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 || string(suite.Content(t, folder, "m.onnx")) != "model" {
		t.Errorf("found %v, %v, expected the model alone", fmt.Sprint(left), err)
	}
}
