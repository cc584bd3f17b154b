package learning

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"driftscope/ingest/sim"
	"driftscope/internal/suite"
)

// TestDraw: the same seed makes the same films, another one others; each can be filmed, in a folder of its own.
func TestDraw(t *testing.T) {
	suite.Calculation(t)
	c := &VerdictCommand{Films: 60, Seed: 3}
	cells, err := c.draw()
	if err != nil {
		t.Fatal(err)
	}
	again, _ := c.draw()
	other, _ := (&VerdictCommand{Films: 60, Seed: 4}).draw()
	if !reflect.DeepEqual(cells, again) || reflect.DeepEqual(cells, other) {
		t.Error("films do not follow the seed")
	}
	files, bare, noisy := map[string]bool{}, 0, 0
	for _, k := range cells {
		if files[k.file()] = true; k.Frames < fewest || k.Frames > most {
			t.Errorf("%s", k)
		}
		if len(k.On) == 0 {
			bare++
		}
		s, err := (&Command{}).shoot(t.Context(), k)
		if err != nil {
			t.Fatalf("%s: %v", k, err)
		}
		var p sim.Picture
		if _, err := s.film.Next(&p); err != nil {
			t.Fatalf("%s: %v", k, err)
		}
		if p.Depth != sim.Unit && p.Depth != sim.Counts {
			noisy++
		}
	}
	if len(files) != 60 || bare < 10 || bare > 50 || noisy == 0 { // a third of 60, and those with noise of their own
		t.Errorf("%d folders, %d films without a nuisance, %d with noise", len(files), bare, noisy)
	}
}

// TestVerdicts counts what was said of what; films of which nothing is known are left out.
func TestVerdicts(t *testing.T) {
	film := func(verdict string, held float64) *cell {
		return &cell{Scene: "balls-ou", Nuisance: "random", On: []laid{{"flicker", 0.05}}, Verdict: verdict, Held: &held}
	}
	v := newVerdicts(1, []*cell{film(good, 0.99), film(good, 0.4), film("doubt", 0.4), film(bad, 0.1), film(bad, 0.7), film("", 0), {Verdict: bad, Nuisance: "random"}})
	want := map[string]map[string]int{good: {"right": 1, "wrong": 1}, "doubt": {"wrong": 1}, bad: {"wrong": 1, "between": 1, "none": 1}}
	if !reflect.DeepEqual(v.Counts, want) || len(v.Films) != 6 {
		t.Errorf("%v", v.Counts)
	}
	var out bytes.Buffer
	v.print(&out)
	if !strings.Contains(out.String(), "2 films were called good, and 1 of them are right. Of 3 wrong models 1 were called bad, 2 in doubt or bad.") || !strings.Contains(out.String(), "flicker 0.05") {
		t.Error(out.String())
	}
}

// TestVerdictOfRandomFilm: a film is made, trained on for a few steps, judged and told of.
func TestVerdictOfRandomFilm(t *testing.T) {
	suite.Long(t)
	k := &cell{Scene: "wasserstein-ou", Nuisance: "random", Frames: 60, Seed: 5, On: []laid{{"hot", 1}, {"lines", 0.1}}}
	if err := (&Command{Steps: 6}).measure(t.Context(), k, filepath.Join(t.TempDir(), k.file())); err != nil {
		t.Fatal(err)
	}
	if k.Verdict == "" || k.Held == nil || *k.Held > 1 {
		t.Errorf("%s: %s", k, k.outcome())
	}
}
