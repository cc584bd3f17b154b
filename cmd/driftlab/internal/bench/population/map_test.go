package population

import (
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/maps"
	"driftscope/online/maps/mapstest"
)

// TestMapped: one film of a trap: the drift is right to a half, the trap is told and nothing else.
func TestMapped(t *testing.T) {
	suite.Calculation(t)
	b := &bench{ctx: t.Context(), runs: 1, seed: 1, most: 1}
	c := Cell{Tracks: 30, Frames: 100, Runs: 1}
	if err := b.mapped(&c, &mapstest.AWideWell, 1); err != nil {
		t.Fatal(err)
	}
	if *c.Error > 0.5 || *c.Beside > 3 || *c.InSE > 2 || *c.Told != 1 || *c.False != 0 {
		t.Errorf("error %.2f, over fit's %.2f, over SE %.2f, told %g, false %g", *c.Error, *c.Beside, *c.InSE, *c.Told, *c.False)
	}
}

// TestPlacesCompared: a place is told once, and what is far from all is false.
func TestPlacesCompared(t *testing.T) {
	var f driftFound
	f.compare([]maps.Place{{X: 11, SD: 1}, {X: 12, SD: 1}, {X: 50, SD: 1}}, []mapstest.Place{{X: 10}, {X: 90}})
	if f.told != 1 || f.wrong != 2 {
		t.Errorf("told %g, false %g", f.told, f.wrong)
	}
}

// TestMap: the cells of the study.
func TestMap(t *testing.T) {
	suite.Long(t)
	cells, err := mapped(&bench{ctx: t.Context(), runs: 1, seed: 1, most: 10000})
	if err != nil || len(cells) != 2*len(drifts) {
		t.Fatalf("%d cells: %v", len(cells), err)
	}
	for i := range cells {
		c := &cells[i]
		places := len(drifts[i/2].Traps)+len(drifts[i/2].Vortices) > 0
		still := c.Law == mapstest.Nothing.Name                                                              // where a fit is nearly 0, too
		if still != (c.Error == nil) || places == (c.Told == nil) || *c.RMS > 5 || !still && *c.Beside > 2 { // of many 3 px/s, 1.1 times
			t.Errorf("%s, r %g: %.2f px/s, over fit's %.2f", c.Law, c.R, *c.RMS, *c.Beside)
		}
	}
}
