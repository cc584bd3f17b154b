package evaluation

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/internal/job/jobtest"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// perfect returns a film encoded by a model without error, in the form that eval uses.
func perfect(t *testing.T, s jobtest.Specimen) (*Encoded, *Truth) {
	t.Helper()
	const side = 128
	folder := t.TempDir()
	places := jobtest.Write(t, folder, "film.fits", side, s)
	rec, err := recording.Open(filepath.Join(folder, "film.fits"), 0, 0, "", recording.Whole)
	if err != nil {
		t.Fatal(err)
	}
	seen := &Encoded{recording: rec, Z: places, Trajectory: make([]uint64, s.Frames)}
	for k := range s.Frames {
		seen.Seq = append(seen.Seq, uint64(k))
	}
	return seen, &Truth{Z: places}
}

// Without noise phase correlation is accurate to a fraction of a pixel (rounding alone gives 0.4). With noise four times the spot it is off by whole pixels.
func TestRegister(t *testing.T) {
	suite.Long(t)
	for _, c := range []struct {
		name         string
		noise        float64
		best, atMost float64 // root mean squared error of a displacement, pixels; displacements have an rms of 2.9
	}{{"clean", 0, 0, 0.6}, {"noisy", 800, 2, 200}} {
		seen, truth := perfect(t, jobtest.Specimen{X: 60, Y: 70, Background: 10_000, Bright: 200, Noise: c.noise, Frames: 30})
		moved, err := register(t.Context(), seen)
		if err != nil {
			t.Fatal(err)
		}
		var off mat.Dense
		pairs := seen.Pairs(seen.Rows(recording.Whole))
		off.Sub(PickRows(moved, pairs), Displaced(truth.Z, pairs))
		if rms := mat.Norm(&off, 2) / math.Sqrt(float64(len(pairs))); rms < c.best || rms > c.atMost {
			t.Errorf("%s: off by %.2f px, expected %g to %g", c.name, rms, c.best, c.atMost)
		}
	}
}

func TestCompare(t *testing.T) {
	suite.Long(t)
	seen, truth := perfect(t, jobtest.Specimen{X: 60, Y: 70, Background: 10_000, Bright: 200, Noise: 800, Frames: 40})
	rows := seen.Rows(recording.Whole)
	right, err := Lay("affine", seen.Z, truth.Z, rows[:20])
	if err != nil {
		t.Fatal(err)
	}
	e := &Evaluation{}
	if err := e.Compare(t.Context(), seen, truth, Split{Judged: rows[20:], Fitted: rows[:20]}, right); err != nil {
		t.Fatal(err)
	}
	steps := Displaced(truth.Z, rows[21:])
	still := stat.Variance(mat.Col(nil, 0, steps), nil) + stat.Variance(mat.Col(nil, 1, steps), nil)
	if *e.DisplacementMSE > 1e-9 || *e.RegistrationMSE < still/10 {
		t.Errorf("ours %g, expected 0; registration's %g, expected about %g: it sees noise alone", *e.DisplacementMSE, *e.RegistrationMSE, still)
	}
	if err := e.Compare(t.Context(), seen, truth, Split{Judged: rows[39:], Fitted: rows[:20]}, right); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), "no two consecutive frames") {
		t.Errorf("one frame: %v, a usage error expected", err)
	}
	seen.Trajectory[1] = 7
	if err := e.Compare(t.Context(), seen, truth, Split{Judged: rows[20:], Fitted: rows[:4]}, right); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), "on 1 pairs of frames") {
		t.Errorf("two cuts in four frames: %v, a usage error expected", err)
	}
	seen.Seq = seen.Seq[:39]
	if _, err := register(t.Context(), seen); err == nil || !strings.Contains(err.Error(), "had 39 frames, then 40") {
		t.Errorf("found %v, expected the recording to have changed", err)
	}
}
