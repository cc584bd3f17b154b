package paper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocv.io/x/gocv"
	"gonum.org/v1/gonum/mat"

	"driftscope/ingest/sim"
	"driftscope/internal/job/evaluation"
	"driftscope/internal/job/recording"
	"driftscope/internal/suite"
	"driftscope/online/offline"
)

// recordMiddle writes the experiment's film in the same way as simulate, but only the centre of each picture, a seventh of it, which contains the molecule.
func recordMiddle(t *testing.T, e *experiment) {
	t.Helper()
	const width = 192
	scene, err := e.scene()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(e.frames(), 0o700); err != nil {
		t.Fatal(err)
	}
	m := gocv.NewMatWithSize(width, width, gocv.MatTypeCV16UC1)
	defer m.Close()
	pixels, err := m.DataPtrUint16()
	if err != nil {
		t.Fatal(err)
	}
	table, places := "file,t,trajectory\n", "t,z1,z2,mu1,mu2\n"
	var picture sim.Picture
	for k := 0; ; k++ {
		truth, err := scene.Next(&picture)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		edge := (scene.Format().Width - width) / 2
		for y := range width {
			copy(pixels[y*width:(y+1)*width], picture.U16[(y+edge)*scene.Format().Width+edge:])
		}
		name := fmt.Sprintf("%03d.png", k)
		if !gocv.IMWrite(filepath.Join(e.frames(), name), m) {
			t.Fatal("no picture was written")
		}
		table += fmt.Sprintf("%s,%g,%d\n", name, truth.T, truth.Trajectory)
		places += fmt.Sprintf("%g,%g,%g,%g,%g\n", truth.T, truth.Z[0], truth.Z[1], truth.Mu[0], truth.Mu[1])
	}
	for name, text := range map[string]string{"frames.csv": table, "truth.csv": places} {
		if err := os.WriteFile(filepath.Join(e.frames(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPaperFilms makes one short experiment of two films with different centres. After a few steps the model follows the molecule partly. Positions without
// information would have an R² of 0 or less, and displacements the error of an object at rest or more.
func TestPaperFilms(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	c := &Options{Out: t.TempDir(), Steps: 12}
	row := paperRow{scene: "dna-0", latent: 2, frames: 120, clahe: "off", crop: "film", affine: true, moved: displacements{RegistrationMSE: 1}}
	e, err := c.experiment(row, 1)
	if err != nil {
		t.Fatal(err)
	}
	recordMiddle(t, e)
	training := e.training(e.frames())
	training.Pairs, training.Restarts, training.SyntheticSteps = 16, 1, -1
	if err := training.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := e.measure(t.Context(), e.frames())
	if err != nil {
		t.Fatal(err)
	}
	e.found = m.finding
	if err := e.complete(t.Context()); err != nil || !e.whole() || !strings.Contains(string(suite.Content(t, c.Out, "dna-0-1.json")), `"crop": "film"`) {
		t.Errorf("%v: found %+v, in the file %s", err, e.found, suite.Content(t, c.Out, "dna-0-1.json"))
	}

	_, judged := halves([][]int{m.seen.Rows(recording.Span{From: 0, To: 100}), m.seen.Rows(recording.Span{From: 100, To: 120})})
	pairs, f := m.seen.Pairs(judged), m.finding.Figures
	resting := evaluation.Sum(offline.MeanSquares(evaluation.Displaced(m.truth.Z, pairs), mat.NewDense(len(pairs), 2, nil)))
	if len(pairs) != 49+9 || f.N != 50+10 || f.Align != "affine" {
		t.Errorf("%d pairs of frames, figures %+v; expected the second halves of 100 and 20 frames", len(pairs), f)
	}
	if got := offline.R2(evaluation.PickRows(m.alignment.Laid, judged), evaluation.PickRows(m.truth.Z, judged)); !slices.Equal(f.R2, got) || slices.Min(f.R2) < 0.7 {
		t.Errorf("R² %.3g, of the second halves %.3g, expected 0.7 or more", f.R2, got)
	}
	if ours, theirs := *f.DisplacementMSE, *f.RegistrationMSE; max(ours, theirs) > 0.7*resting {
		t.Errorf("displacements are off by %.3g, by registration %.3g, expected less than 0.7 of %.3g", ours, theirs, resting)
	}
}
