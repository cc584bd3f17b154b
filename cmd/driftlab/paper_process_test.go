package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/infer/sdevae"
)

// figuresOf returns the result file of a run, as if made by this build's recipe.
func figuresOf(t *testing.T, name string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../docs/paper", name))
	if err != nil {
		t.Fatal(err)
	}
	var found map[string]any
	if err := json.Unmarshal(data, &found); err != nil {
		t.Fatal(err)
	}
	found["settings"].(map[string]any)["recipe"] = sdevae.Recipe
	return found
}

// TestPaperInProcess: the command runs its tasks in their own processes, and collects the result or the error of each.
func TestPaperInProcess(t *testing.T) {
	folder := t.TempDir()
	put := func(name string, v any) {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	first, second := figuresOf(t, "balls-ou-1.json"), figuresOf(t, "balls-ou-2.json")
	drift := first["figures"].(map[string]any)["l_mu"]
	delete(first, "gp") // as written by an earlier build
	put("balls-ou-1.json", first)
	put("balls-ou-2.trained.json", map[string]any{"settings": second["settings"]})
	if err := os.Mkdir(filepath.Join(folder, "balls-ou-2.onnx"), 0o700); err != nil { // torn
		t.Fatal(err)
	}
	o := drive(t, folder, "paper", "--rows", "balls-ou", "--runs", "2", "--out", ".", "--json")
	o.check(t, 1, "1 of 2 runs failed and are missing in the table (balls-ou, run 2: model: read ")
	if !strings.Contains(o.errors, "balls-ou, run 2: driftlab: ") {
		t.Errorf("the messages of the process are missing in the output:\n%s", o.errors)
	}
	var got struct {
		Rows []struct {
			Runs int     `json:"runs"`
			LMu  float64 `json:"l_mu"`
			GP   struct {
				LMu float64 `json:"l_mu"`
			} `json:"gp"`
		} `json:"rows"`
	}
	if err := json.Unmarshal([]byte(o.out), &got); err != nil || len(got.Rows) != 1 {
		t.Fatal(err, o.out)
	}
	if r := got.Rows[0]; r.Runs != 1 || r.LMu != drift || !(r.GP.LMu > 0.01 && r.GP.LMu < 4) { // zero drift has 4.2
		t.Errorf("found %+v", r)
	}
	drive(t, folder, "paper", "--rows", "balls-ou", "--out", ".", "--make", "balls-circle-1").check(t, 2, `--make: no requested row or study writes "balls-circle-1"`)
}
