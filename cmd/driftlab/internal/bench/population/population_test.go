package population

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

func TestMain(m *testing.M) { os.Exit(suite.Goroutines(m.Run())) }

// TestBound: of steps without blur and noise the bound of D is that of Σ Δ² where σ² is to be found too, D² (6 + 4ε + 2ε²)/N with ε = 0 and more by terms of 1/N
// (Vestergaard et al.), less what the full likelihood gains on it.
func TestBound(t *testing.T) {
	c := Cell{Tracks: 1, Frames: 101, R: 0}
	known, covariances := math.Sqrt(2/200.), math.Sqrt(6/200.+2*1e-4)
	if got := c.bound(); !(got > known && got < 1.001*covariances) {
		t.Errorf("found %.4f, expected more than with a known noise, %.4f, and less than the covariances', %.4f", got, known, covariances)
	}
	many := c
	if many.Tracks = 100; math.Abs(many.bound()*10-c.bound()) > 1e-9 {
		t.Errorf("100 tracks: %.4f, one: %.4f", many.bound(), c.bound())
	}
}

// TestCommand: every study has its cells (but for laws and traps, which take minutes), the same ones by the same seed, and what they say is about right in a handful of runs.
func TestCommand(t *testing.T) {
	var found [2]struct {
		Runs  int
		Cells []Cell
	}
	for i := range found {
		out, err := suite.Stdout(t, func() error {
			return (&Command{Runs: 3, Seed: 1, Most: 60, JSON: true, Studies: []string{"pooled", "states", "count", "map", "pairs"}}).Run(t.Context())
		})
		if err == nil {
			err = json.Unmarshal(out, &found[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for i, c := range found[0].Cells {
		if !reflect.DeepEqual(c, found[1].Cells[i]) {
			t.Errorf("the same seed gave %+v and %+v", c, found[1].Cells[i])
		}
		if *c.Coverage < 0 || *c.Coverage > 1 || c.Runs != 3 {
			t.Errorf("%+v", c)
		}
		if c.Study == "pooled" && !(*c.Error > 0 && *c.Error < 5*c.Bound) {
			t.Errorf("an error that the bound makes unlikely: %+v", c)
		}
		seen[c.Study]++
	}
	if seen["pooled"] != 8 || seen["states"] != 24 || seen["count"] != 0 {
		t.Errorf("cells %v", seen)
	}
}

// TestCount: states are counted in populations of the size that the study has.
func TestCount(t *testing.T) {
	suite.Long(t)
	cells, err := counted(&bench{ctx: t.Context(), runs: 1, seed: 1, most: 6000})
	if err != nil {
		t.Fatal(err)
	}
	right := 0.0
	for _, c := range cells {
		right += *c.Right
	}
	if len(cells) != 12 || right < 11 { // each is right in 95 % and more
		t.Errorf("%g of %d counted right", right, len(cells))
	}
}

// TestText: what a person reads.
func TestText(t *testing.T) {
	out, err := suite.Stdout(t, func() error {
		return (&Command{Runs: 2, Seed: 1, Most: 60, Studies: []string{"pooled"}}).Run(t.Context())
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(out); !strings.Contains(text, "coverage") || strings.Count(text, "\npooled ") != 8 {
		t.Errorf("found\n%s", text)
	}
}

// TestMistakes: each is told with what to give instead.
func TestMistakes(t *testing.T) {
	for want, c := range map[string]Command{
		"--runs: found 0, expected 1 to 100000":                                         {Most: 1},
		"--most: found 0, expected 1 or more":                                           {Runs: 1},
		`--studies: found "colour", expected some of pooled, states, count, map, pairs`: {Runs: 1, Most: 1, Studies: []string{"colour"}},
	} {
		if err := c.Run(t.Context()); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected a usage error with %q", err, want)
		}
	}
}
