package paper

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/job/evaluation"
	"driftscope/online/offline"
)

// relative returns walks in three films, and the same positions after a linear map, relative to a different centre in each film, as a model would give them.
func relative() (z, walk *mat.Dense, trajectory []uint64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for film, n := range []int{40, 30, 31} {
		trajectory = append(trajectory, slices.Repeat([]uint64{uint64(5 - film)}, n)...)
	}
	z, walk = mat.NewDense(len(trajectory), 2, nil), mat.NewDense(len(trajectory), 2, nil)
	x, y := 0.0, 0.0
	for i, film := range trajectory {
		x, y = x+rng.NormFloat64(), y+rng.NormFloat64()
		walk.SetRow(i, []float64{x, y})
		u, v := x-10*float64(film), y+3*float64(film)
		z.SetRow(i, []float64{0.2*u - 0.1*v, 0.3*u + 0.4*v})
	}
	return z, walk, trajectory
}

// Positions relative to each film's centre are aligned with the truth up to rounding, without the second halves. With one map for all films, the centres, tens
// of steps apart, remain in the positions.
func TestLayFilms(t *testing.T) {
	z, walk, trajectory := relative()
	films := evaluation.Films(trajectory)
	first, second := halves(films)
	if len(films) != 3 || films[1][0] != 40 || len(first) != 20+15+15 || len(second) != 20+15+16 || first[20] != 40 || second[20] != 55 {
		t.Fatalf("found films %v, halves %v and %v", films, first, second)
	}
	off := func(a *evaluation.Alignment, err error) float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return evaluation.Sum(offline.MeanSquares(evaluation.PickRows(a.Laid, second), evaluation.PickRows(walk, second)))
	}
	if got := off(layFilms(z, walk, films)); got > 1e-20 {
		t.Errorf("film by film: off by %g, expected rounding alone", got)
	}
	if got := off(evaluation.Lay("affine", z, walk, first)); got < 1 {
		t.Errorf("under one map: off by %g, expected more than a step, 1", got)
	}

	// A change in a second half affects only its own frame.
	before, err := layFilms(z, walk, films)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*mat.Dense{z, walk} {
		m.Set(second[3], 0, 1e3)
	}
	after, err := layFilms(z, walk, films)
	if err != nil || !mat.Equal(evaluation.PickRows(before.Laid, first), evaluation.PickRows(after.Laid, first)) || !mat.Equal(before.To.Linear, after.To.Linear) {
		t.Errorf("a frame that is judged moved the map it is judged by: %v", err)
	}

	if _, err := layFilms(z, walk, append(films[:2:2], films[2][:1])); err == nil || !strings.Contains(err.Error(), "a film has one frame") {
		t.Errorf("found %v, expected one frame to be too few", err)
	}
}
