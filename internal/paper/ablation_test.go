package paper

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/infer/sdevae"
	"driftscope/infer/sdevae/tuned"
	"driftscope/internal/suite"
)

// filmsOf are the unchanged runs of one seed.
func filmsOf(t *testing.T, c *Options) []*ablationRun {
	t.Helper()
	films, err := c.ablationFilms()
	if err != nil {
		t.Fatal(err)
	}
	return films
}

// TestAblationChanges: what a film asked for is changed, a number by half and by two and a case away, and nothing else; another seed's is its own.
func TestAblationChanges(t *testing.T) {
	c := &Options{Studies: []string{ablationStudy}, Rows: []string{"balls-ou", "dna-0"}, Runs: 2, Seed: 100, Out: t.TempDir()}
	films := filmsOf(t, c)
	if len(films) != 4 || films[1].Seed != 102 || films[2].Film != "dna-0" || films[2].Frames != 400 {
		t.Fatalf("%+v are the films", films)
	}
	everything := &Options{Studies: []string{ablationStudy}, Rows: []string{everyRow, "trapped"}, Runs: 1, Out: t.TempDir()}
	if all := filmsOf(t, everything); len(all) < 20 || all[0].Film == everyRow || all[len(all)-1].Frames != 80 {
		t.Errorf("all rows and the bead are %v", all)
	}
	films[1].found = &ablated{Asked: []string{"sprites.coreEdge", "sprites.covered"}}
	var changes []string
	for _, r := range c.ablationChanges(films) {
		if r.Film != "balls-ou" || r.Seed != 102 || r.Recipe != sdevae.Recipe {
			t.Errorf("%+v was not asked for", r)
		}
		changes = append(changes, r.Change)
	}
	if want := []string{"sprites.coreEdge=0.5", "sprites.coreEdge=2", "sprites.covered=0"}; !slices.Equal(changes, want) {
		t.Errorf("%q are changed, expected %q", changes, want)
	}
	c.Numbers = []string{"sprites.covered"}
	if some := c.ablationChanges(films); len(some) != 1 || some[0].file() != "ablation-balls-ou-102-sprites.covered-0" {
		t.Errorf("%v are changed of one that is named", some)
	}
}

// TestAblationTable: ratios are geometric means over seeds; what is not asked for is a dash, and what was not measured is empty.
func TestAblationTable(t *testing.T) {
	c := &Options{Studies: []string{ablationStudy}, Rows: []string{"balls-ou"}, Runs: 2, Out: t.TempDir()}
	films := filmsOf(t, c)
	for i, f := range films {
		f.found = &ablated{Missed: float64(i + 1), Verdict: "good", Asked: []string{"sprites.coreEdge", "train.rate"}}
	}
	runs := c.ablationChanges(films)
	for _, r := range runs {
		if r.Change == "sprites.coreEdge=2" {
			r.found = &ablated{Missed: 2 * float64(r.Seed*r.Seed)} // 2 and 4 times what its film misses
		}
	}
	text := ablationTable(films, runs)
	for _, line := range []string{"| `sprites.coreEdge` | 0.3 | 2.83 (2) |", "| `train.rate` | 0.002 |  |", "| `sprites.covered` | case | – |"} {
		if !strings.Contains(text, line) {
			t.Errorf("the table lacks %q:\n%s", line, text)
		}
	}
}

// TestAblationOnlyTable: the table is made of the files that are there, of films and of changes.
func TestAblationOnlyTable(t *testing.T) {
	c := &Options{Studies: []string{ablationStudy}, Rows: []string{"balls-ou"}, Runs: 1, Seeds: 1, Seed: 100, Table: true, Out: t.TempDir()}
	film := filmsOf(t, c)[0]
	film.found = &ablated{Settings: film.ablationSettings, Missed: 2, Asked: []string{"sprites.covered"}}
	changed := c.ablationChanges([]*ablationRun{film})[0]
	for _, r := range []*ablated{film.found, {Settings: changed.ablationSettings, Missed: 3}} {
		path := film.path
		if r.Settings.Change != "" {
			path = changed.path
		}
		if err := writeJSON(path+".json", r); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if table := string(suite.Content(t, c.Out, "ablation.md")); !strings.Contains(table, "| `sprites.covered` | case | 1.5 (1) |") {
		t.Errorf("the change is not in the table:\n%s", table)
	}
}

// TestAblationRefused: what the study cannot be, and files of others, are refused with what to do.
func TestAblationRefused(t *testing.T) {
	for says, c := range map[string]*Options{
		"leave the others out": {Studies: []string{ablationStudy, sizesStudy}},
		"tuned-numbers.md":     {Studies: []string{ablationStudy}, Numbers: []string{"luck"}},
		"rows":                 {Studies: []string{ablationStudy}, Rows: []string{"no-such"}},
	} {
		c.Runs, c.Seeds, c.Out = 1, 1, t.TempDir()
		if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, expected %q", c, err, says)
		}
	}
	c := &Options{Studies: []string{ablationStudy}, Rows: []string{"balls-ou"}, Runs: 1, Seeds: 1, Out: t.TempDir(), Table: true, Make: "another"}
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), `nothing that the rows and studies ask for leaves "another"`) {
		t.Errorf("a task that is none: %v", err)
	}
	film := filmsOf(t, c)[0]
	for name, text := range map[string]string{"torn": "{", "another recipe's": `{"settings":{"recipe":1}}`} {
		if err := os.WriteFile(film.path+".json", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "delete it or give another --out") {
			t.Errorf("a file that is %s: %v", name, err)
		}
	}
}

// TestAblationRun: a change reaches the training, and only a training without one says what it asked for. Three steps make no model, which misses all.
func TestAblationRun(t *testing.T) {
	suite.Long(t)
	c := &Options{Studies: []string{ablationStudy}, Rows: []string{"balls-ou"}, Runs: 1, Seeds: 1, Steps: 3, Out: t.TempDir()}
	film := filmsOf(t, c)[0]
	film.Frames = 60 // of a film of 1,000 it would take a minute
	if err := film.perform(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := film.recall(); err != nil || !slices.Contains(film.found.Asked, "share.majority") {
		t.Fatalf("%v, asked for %v", err, film.found)
	}
	s := film.ablationSettings
	s.Change = "sprites.coreEdge=0.5"
	changed := c.ablationRun(s)
	t.Cleanup(func() {
		if err := tuned.Scale([]string{"sprites.coreEdge=1"}); err != nil {
			t.Error(err)
		}
	})
	if err := changed.perform(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := changed.recall(); err != nil || changed.found.Missed != 1 || changed.found.Verdict != "bad" || len(changed.found.Asked) > 0 {
		t.Errorf("%v, %+v, without the change %+v", err, changed.found, film.found)
	}
	for _, k := range tuned.All() {
		if k.Name == "sprites.coreEdge" && k.Value() != k.Ships/2 {
			t.Errorf("%s was %g in the training, expected half of %g", k.Name, k.Value(), k.Ships)
		}
	}
	if left, err := filepath.Glob(filepath.Join(c.Out, "*")); err != nil || len(left) != 2 {
		t.Errorf("%v lies there, expected two files: %v", left, err)
	}
}
