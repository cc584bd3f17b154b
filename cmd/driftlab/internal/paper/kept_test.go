package paper

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/infer/sdevae"
	"driftscope/internal/suite"
)

// boundsKept are rows whose bounds the test computes again, one per kind of noise. This takes one second per film.
var boundsKept = map[string]bool{"balls-ou": true, "balls-ou-normal": true, "wasserstein-ou-student": true, "dna-0": true}

// The committed table follows from the committed figures of the runs, for any recipe.
func TestPaperKept(t *testing.T) {
	suite.Long(t)
	const kept = "../../../../docs/paper"
	files, err := filepath.Glob(filepath.Join(kept, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no figures are kept")
	}
	runs := map[string]int{} // last run of each row
	for _, file := range files {
		var f finding
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &f)
		}
		if err != nil {
			t.Fatal(file, err)
		}
		runs[f.Settings.Row] = max(runs[f.Settings.Row], f.Settings.Run)
	}
	written, err := os.ReadFile(filepath.Join(kept, "table.md"))
	if err != nil {
		t.Fatal(err)
	}
	c := &Options{Out: kept, Table: true, Assets: os.Getenv("DRIFTSCOPE_DATA")}
	rows, err := chooseRows([]string{everyRow})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, row := range rows {
		var p plan
		for run := 1; run <= runs[row.scene]; run++ {
			e, err := c.experiment(row, run)
			if err != nil {
				t.Fatal(err)
			}
			if c.Assets == "" && e.Pictures != "" {
				t.Skip("DRIFTSCOPE_DATA is not set: the pictures of these rows are not there")
			}
			if err := e.recall(); err != nil {
				t.Fatal(err)
			}
			if e.whole() {
				p = append(p, e)
				found++
			}
		}
		if boundsKept[row.scene] {
			if err := p.allow(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range newTable(p, nil).Rows {
			at := slices.Index(tableHead, "one frame allows")
			cells := r.cells()
			for _, line := range strings.Split(string(written), "\n") {
				if there := strings.Split(strings.Trim(line, "| "), " | "); there[0] == r.Row && r.Allowed == nil && len(there) == len(cells) {
					copy(cells[at:at+4], there[at:])
				}
			}
			if line := strings.Join(cells, " | "); !strings.Contains(string(written), line) {
				t.Errorf("table.md has no line %q: write it anew with driftlab paper", line)
			}
		}
	}
	if found != len(files) {
		t.Errorf("%d files of figures, %d of them are runs of the paper's", len(files), found)
	}
}

// --only-table shows existing results, also of incomplete rows, and makes nothing.
func TestPaperOnlyTable(t *testing.T) {
	c := &Options{Out: t.TempDir(), Rows: []string{"balls-ou", "balls-circle"}, Runs: 2, Seeds: 1, Table: true}
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "--only-table") {
		t.Fatalf("of nothing: %v", err)
	}
	data, err := os.ReadFile("../../../../docs/paper/balls-ou-1.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(c.Out, "balls-ou-1.json"), data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	table := string(suite.Content(t, c.Out, "table.md"))
	if !strings.Contains(table, "| balls-ou | 1 |") || !strings.Contains(table, "| 8.2e-11 | – |") || strings.Contains(table, "balls-circle") {
		t.Errorf("the table is %s", table)
	}
	// For rows with pictures from a set, it needs neither the set nor substitutes, which would have a different bound.
	data, err = os.ReadFile("../../../../docs/paper/digits-ou-1.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(c.Out, "digits-ou-1.json"), data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Rows = []string{"digits-ou"}
	if err := c.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if table := string(suite.Content(t, c.Out, "table.md")); !strings.Contains(table, "| – | – |") || !strings.Contains(table, "digits-ou: what one frame allows is not known without its pictures") {
		t.Errorf("the table is %s", table)
	}
	c.Table = false
	differs := fmt.Sprintf("digits-ou-1.json: it was made with recipe 47, this command has %d; pictures digits from MNIST, this command has stand-in", sdevae.Recipe)
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), differs) {
		t.Errorf("found %v, expected what differs", err)
	}
	c.Table = true
	if models, _ := filepath.Glob(filepath.Join(c.Out, "*.onnx")); len(models) > 0 {
		t.Errorf("%v was made", models)
	}
}
