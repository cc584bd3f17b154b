package paper

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"driftscope/ingest/sim"
	"driftscope/internal/job/evaluation"
)

// Rows with noise have the ratios of L_latent to the bound from one frame, and name the films whose ratio exceeds 2. Rows without noise have only the bound.
func TestPaperAllowed(t *testing.T) {
	one := func(coord, known, share float64) *oneFrame { return &oneFrame{coord, known, share} }
	for _, c := range []struct {
		row   string
		films []*oneFrame // one per run; L_latent per coordinate is 0.01 on the first, 0.02 on the second and so on
		cells string
		notes string
	}{
		{"balls-ou", []*oneFrame{one(1e-9, 0, 1), one(3e-9, 0, 1)}, "2.0e-09 ± 1.4e-09 | – | 0.005 ± 0 | 2 to 4", ""},
		{"multiple-balls-ou", []*oneFrame{one(1e-9, 0, 0.98), one(1e-9, 0, 1)}, "1.0e-09 ± 0 | – | 0.005 ± 0 | 2 to 4",
			"multiple-balls-ou: one frame allows is the mean over 0.99 of the frames; in the others a latent does not change the picture."},
		{"balls-ou-normal", []*oneFrame{one(0.005, 0, 1), one(0.008, 0, 1), one(0.02, 0, 1)}, "0.011 ± 0.00794 | 1.5 to 2.5 | 0.005 ± 0 | 1 to 1.54",
			"balls-ou-normal: more than 2 times what one frame allows on films 2 (2.5×)."},
		{"balls-ou-normal", []*oneFrame{one(0.006, 0, 1)}, "0.006 | 1.67 | 0.005 | 0.909", "balls-ou-normal: more than 2 times what one frame allows on none of 1 films."},
		{"dna-0", []*oneFrame{one(0.004, 0.003, 1), one(0.005, 0.002, 1)}, "0.0045 ± 0.000707 | 2.5 to 4 | – | 2.5 to 4",
			"dna-0: with the molecule's shape known, one frame would allow 0.0025.\n" +
				"dna-0: more than 2 times what one frame allows on films 1 (2.5×), 2 (4×)."},
		{"digits-ou", []*oneFrame{one(1e-9, 0, 1), nil}, "– | – | – | –", "digits-ou: what one frame allows is not known without its pictures: give --assets."},
	} {
		rows, err := chooseRows([]string{c.row})
		if err != nil {
			t.Fatal(err)
		}
		var found []*finding
		for i, allows := range c.films {
			f := &finding{Settings: settings{Run: i + 1}, Figures: &evaluation.Evaluation{LLatentCoord: 0.01 * float64(i+1)}, allows: allows}
			if !rows[0].affine {
				f.unit = 0.005
			}
			found = append(found, f)
		}
		r := tableRow{Row: c.row, Runs: len(found), Allowed: newAllowed(&rows[0], found)}
		if got := strings.Join(r.allowedCells(), " | "); got != c.cells {
			t.Errorf("%s: cells %q, expected %q", c.row, got, c.cells)
		}
		if got := strings.Join(r.allowedNotes(), "\n"); got != c.notes {
			t.Errorf("%s: notes\n%s\nexpected\n%s", c.row, got, c.notes)
		}
	}
}

// TestPaperUnit: for exact latents only the unit is unknown, to 1/√(2N) with N pairs. So the mean error over films is the latents' variance divided by 2N. With
// 40 films the standard error of this mean is √(2/40) = 22 %; the limit is three standard errors.
func TestPaperUnit(t *testing.T) {
	const films, frames = 40, 200
	left, expected := 0.0, 0.0
	for seed := range uint64(films) {
		e := &experiment{settings: settings{Row: "wasserstein-ou", Seed: seed + 1, Frames: frames}}
		one, err := e.unitError()
		if err != nil {
			t.Fatal(err)
		}
		walk, err := sim.NewWalk(e.Row, e.Seed)
		if err != nil {
			t.Fatal(err)
		}
		var z []float64
		for range frames {
			z = append(z, walk.Next().Z[0])
		}
		left, expected = left+one, expected+stat.Variance(z, nil)/(2*(frames-1))
	}
	if ratio := left / expected; math.Abs(ratio-1) > 0.66 {
		t.Errorf("%d films leave %.2f times what their numbers of pairs say", films, ratio)
	}
}

// The bound uses the same frames as L_latent: all frames of a film, or the second half of each film of molecules.
func TestPaperSpread(t *testing.T) {
	e := &experiment{settings: settings{Row: "dna-0", Seed: 1, Frames: 200}, row: paperRow{affine: true}}
	chosen, err := e.spread(10)
	if err != nil || len(chosen) != 10 || !chosen[50] || !chosen[90] || !chosen[150] || chosen[100] {
		t.Errorf("%v: of two films' second halves %v are chosen", err, chosen)
	}
	e = &experiment{settings: settings{Row: "balls-ou", Seed: 1, Frames: 60}}
	if chosen, err = e.spread(100); err != nil || len(chosen) != 60 {
		t.Errorf("%v: of 60 frames %d are chosen", err, len(chosen))
	}
}
