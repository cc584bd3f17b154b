package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/atomicfile"
)

// unfinishedFiles lists what is not whole in a folder.
func unfinishedFiles(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*"+atomicfile.Suffix))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// leave puts there what a process leaves that is killed while it writes path.
func leave(t *testing.T, path string) {
	t.Helper()
	f, err := atomicfile.Create(path+".00112233445566ff"+atomicfile.Suffix, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close() // the lock is gone
}

// TestKilledRunIsSwept: a run that is killed leaves a file a table and may leave half a state; after the next one ends none of them is there, and
// it has said so. A file that a user calls alike stays.
func TestKilledRunIsSwept(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	written(t, folder, map[string]string{"bead.yaml": "stream: bead\nsource: {sim: {name: molecule}}\nonline: {state: law}\nnats: {url: \"off\"}\n" +
		"sinks: [parquet: {path: out.parquet}, jsonl: {path: out.jsonl, append: true}]\n"})
	const kills = 2
	for range kills {
		run := begin(t, folder, "run", "bead.yaml", "--no-status")
		before := int64(0)
		if info, err := os.Stat(filepath.Join(folder, "out.jsonl")); err == nil {
			before = info.Size()
		}
		run.until("lines", func() bool {
			info, err := os.Stat(filepath.Join(folder, "out.jsonl"))
			return err == nil && info.Size() > before
		})
		if left := unfinishedFiles(t, folder); len(left) != 4 {
			t.Fatalf("%v are being written, expected a file for each of the four tables", left)
		}
		run.kill()
		leave(t, filepath.Join(folder, "law"))
	}
	mine := filepath.Join(folder, "law.mine"+atomicfile.Suffix)
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := drive(t, folder, "run", "bead.yaml", "--no-status", "--frames", "20")
	if o.status != 0 || !strings.Contains(o.errors, "removed ") || !strings.Contains(o.errors, "law.00112233445566ff.partial") || !strings.Contains(o.errors, "files=4") {
		t.Errorf("status %d, expected what was removed:\n%s", o.status, o.errors)
	}
	if left := unfinishedFiles(t, folder); !slices.Equal(left, []string{mine}) {
		t.Errorf("found %v, expected %s alone", left, mine)
	}
}

// TestCheckpointOutlivesModel: a training's checkpoint is removed only once its model is in place.
func TestCheckpointOutlivesModel(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "m.onnx")
	u := &unfinished{path: out + ".training"}
	if err := u.save([]byte("step 5"), 5); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(out, 0o700); err != nil { // which no file can replace
		t.Fatal(err)
	}
	leave(t, out)
	if err := u.complete(out, []byte("model")); err == nil {
		t.Error("a model took the place of a folder")
	}
	if got := string(content(t, folder, "m.onnx.training")); got != "step 5" {
		t.Errorf("the checkpoint is %q", got)
	}
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	if err := u.complete(out, []byte("model")); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 || string(content(t, folder, "m.onnx")) != "model" {
		t.Errorf("found %v, %v, expected the model alone", fmt.Sprint(left), err)
	}
}
