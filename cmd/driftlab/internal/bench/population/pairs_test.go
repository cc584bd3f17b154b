package population

import (
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/interactions"
)

// TestPushed: of few spheres a force is told where there is one.
func TestPushed(t *testing.T) {
	b := &bench{ctx: t.Context(), runs: 1, seed: 1, most: 1}
	for _, law := range []string{free, soft} {
		c := Cell{Law: law, Tracks: 200, Frames: 200, Runs: 1}
		if err := b.pairs(&c, 1); err != nil {
			t.Fatal(err)
		}
		if (*c.Told == 1) != (law == soft) || *c.InSE > 2.5 || *c.Coverage < 0.4 { // one film of some four independent places
			t.Errorf("%s: told %g, error of %.2f SE, %.2f of the intervals hold the truth", law, *c.Told, *c.InSE, *c.Coverage)
		}
	}
}

// TestJudged: knots that few pairs were near are left out.
func TestJudged(t *testing.T) {
	var f forceFound
	c := interactions.Curve{R: []float64{0, 1, 2}, F: []float64{9, 3, 9}, SE: []float64{1, 2, 1}, Low: []float64{0, -1, 0}, High: []float64{1, 7, 1}, Pairs: []float64{100, 50, 49}, Evidence: 4}
	f.judge(&c, func(r float64) float64 { return r })
	if f != (forceFound{error2: 4, z2: 1, held: 1, n: 1, told: true}) {
		t.Errorf("%+v", f)
	}
}

// TestPairs: the cells of the study.
func TestPairs(t *testing.T) {
	suite.Long(t)
	cells, err := pairs(&bench{ctx: t.Context(), runs: 1, seed: 1, most: 60000})
	if err != nil || len(cells) != 4 {
		t.Fatalf("%d cells: %v", len(cells), err)
	}
	for i := range cells {
		if c := &cells[i]; (*c.Told == 1) != (c.Law == soft) || *c.InSE > 2.5 {
			t.Errorf("%s, r %g: told %g, error of %.2f SE", c.Law, c.R, *c.Told, *c.InSE)
		}
	}
}
