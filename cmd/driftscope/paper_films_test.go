package main

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/online"
)

// TestPaperFilms makes one short experiment of two films, each seen around a centre of its own. A few steps follow the molecule half-way:
// places that say nothing have an R² of 0 or less, and displacements no less error than those of an object that is taken to rest.
func TestPaperFilms(t *testing.T) {
	t.Parallel()
	c := &paperCmd{Out: t.TempDir(), Steps: 12}
	row := paperRow{scene: "dna-0", latent: 2, frames: 120, clahe: "off", crop: "film", affine: true, moved: displacements{RegistrationMSE: 1}}
	e, err := c.experiment(row, 1)
	if err != nil {
		t.Fatal(err)
	}
	scene, err := e.scene()
	if err != nil {
		t.Fatal(err)
	}
	if err := scene.Record(t.Context(), e.frames()); err != nil {
		t.Fatal(err)
	}
	training := e.training(e.frames())
	training.Pairs, training.Restarts, training.Sleep = 16, 1, -1
	if err := training.learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := e.measure(t.Context(), e.frames())
	if err != nil {
		t.Fatal(err)
	}
	e.found = m.finding
	if err := e.complete(t.Context()); err != nil || !e.whole() || !strings.Contains(string(content(t, c.Out, "dna-0-1.json")), `"crop": "film"`) {
		t.Errorf("%v: found %+v, in the file %s", err, e.found, content(t, c.Out, "dna-0-1.json"))
	}

	_, judged := halves([][]int{m.seen.rows(span{0, 100}), m.seen.rows(span{100, 120})})
	pairs, f := m.seen.pairs(judged), m.finding.Figures
	resting := sum(online.MeanSquares(displaced(m.truth.z, pairs), mat.NewDense(len(pairs), 2, nil)))
	if len(pairs) != 49+9 || f.N != 50+10 || f.Align != "affine" {
		t.Errorf("%d pairs of frames, figures %+v; expected the second halves of 100 and 20 frames", len(pairs), f)
	}
	if got := online.R2(pickRows(m.laid, judged), pickRows(m.truth.z, judged)); !slices.Equal(f.R2, got) || slices.Min(f.R2) < 0.7 {
		t.Errorf("R² %.3g, of the second halves %.3g, expected 0.7 or more", f.R2, got)
	}
	if ours, theirs := *f.DisplacementMSE, *f.RegistrationMSE; max(ours, theirs) > 0.7*resting {
		t.Errorf("displacements are off by %.3g, by registration %.3g, expected less than 0.7 of %.3g", ours, theirs, resting)
	}
}
