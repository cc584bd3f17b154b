package population

import (
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/switching"
)

// TestSwitched: of states ten times apart most switches are found, few are false, and objects that keep their D are not told to switch.
func TestSwitched(t *testing.T) {
	b := &bench{ctx: t.Context(), runs: 1, seed: 1, most: 1}
	c := Cell{Law: "switches", Tracks: 30, Frames: 400, R: 0.1, Ratio: 10, Rate: 1, Runs: 1}
	if err := b.switched(&c, 1); err != nil {
		t.Fatal(err)
	}
	// about 240 switches; of 60 tracks a seventh are missed, most of them because a state lasts for less than Window frames, which a seventh do
	if *c.Told != 1 || *c.Median > 3 || *c.False > 0.05 || *c.Missed > 0.3 || *c.Right < 0.97 || *c.Error > 0.5 {
		t.Errorf("told %g, median %g frames, %g false, %g missed, %g right, rate off by %g", *c.Told, *c.Median, *c.False, *c.Missed, *c.Right, *c.Error)
	}
	for _, law := range []string{keepState, keepBetween} {
		c := Cell{Law: law, Tracks: 30, Frames: 200, R: 0.1, Ratio: 10, Runs: 1}
		if err := b.switched(&c, 2); err != nil {
			t.Fatal(err)
		}
		if *c.Told != 0 || c.Median != nil {
			t.Errorf("%s: told %g", law, *c.Told)
		}
	}
}

// TestCompare: a switch that is told where one alike is near is right, another is false, and a true one that none alike is near is missed.
func TestCompare(t *testing.T) {
	truth := make([]int, 100)
	for k := range truth {
		if k >= 20 && k < 60 {
			truth[k] = 1
		}
	}
	told := &switching.Path{Switches: []switching.Switch{{Step: 23, From: 0, To: 1}, {Step: 80, From: 1, To: 0}}, States: make([][]float64, 100)}
	for k := range told.States {
		told.States[k] = []float64{1, 0}
	}
	var s switchesSeen
	s.compare(truth, told)
	if len(s.distances) != 2 || s.distances[0] != 3 || s.distances[1] != 20 || s.wrong != 1 || s.missed != 1 || s.sure != 100 || s.right != 60 {
		t.Errorf("%+v", s)
	}
}

// TestSwitching: the cells of the study.
func TestSwitching(t *testing.T) {
	suite.Long(t)
	cells, err := switched(&bench{ctx: t.Context(), runs: 1, seed: 1, most: 24000})
	if err != nil || len(cells) != 16 {
		t.Fatalf("%d cells: %v", len(cells), err)
	}
	for i := range cells {
		if c := &cells[i]; (*c.Told == 1) != (c.Rate > 0) {
			t.Errorf("%s, ratio %g, r %g: told %g", c.Law, c.Ratio, c.R, *c.Told)
		}
	}
}
