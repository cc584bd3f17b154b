package population

import (
	"testing"

	"driftscope/internal/suite"
)

// TestExponent: errors are smaller where tracks are longer, about those of docs/lab, and most intervals hold the truth.
func TestExponent(t *testing.T) {
	suite.Calculation(t)
	cells, err := exponent(&bench{ctx: t.Context(), runs: 3, seed: 1, most: 2000})
	if err != nil || len(cells) != 9 { // 10 to 100 places, and five models
		t.Fatalf("%d cells: %v", len(cells), err)
	}
	for i, most := range []float64{0.5, 0.45, 0.35, 0.3} { // 0.38, 0.32, 0.23 and 0.18 of many, and three standard errors of 60 tracks
		if c := &cells[i]; c.Law != mixture || *c.Off > most || *c.Off < 0.05 || *c.Coverage < 0.8 {
			t.Errorf("%s, %d places: error %.3f, %.2f of the intervals hold α", c.Law, c.Frames, *c.Off, *c.Coverage)
		}
	}
	for _, c := range cells[4:] {
		if c.Frames != modelLength || *c.Right < 0.4 { // five models: chance is a fifth
			t.Errorf("%s, %d places: %.2f named right", c.Law, c.Frames, *c.Right)
		}
	}
}
