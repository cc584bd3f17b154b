package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// perfect is a film as eval has it once a model that makes no error has seen it.
func perfect(t *testing.T, s specimen) (*recording, *encoded, *truth) {
	t.Helper()
	const side = 128
	folder := t.TempDir()
	places := film(t, folder, "film.fits", side, s)
	rec, err := openRecording(filepath.Join(folder, "film.fits"), 0, 0, "", whole)
	if err != nil {
		t.Fatal(err)
	}
	seen := &encoded{z: places, trajectory: make([]uint64, s.frames)}
	for k := range s.frames {
		seen.seq = append(seen.seq, uint64(k))
	}
	return rec, seen, &truth{z: places}
}

// Without noise phase correlation is right to a fraction of a pixel (rounding alone would be off by 0.4), and whole pixels off where a pixel's noise is four times the spot.
func TestRegister(t *testing.T) {
	long(t)
	for _, c := range []struct {
		name         string
		noise        float64
		best, atMost float64 // root of the mean squared error of a displacement, pixels; one has an rms of 2.9
	}{{"clean", 0, 0, 0.6}, {"noisy", 800, 2, 200}} {
		rec, seen, truth := perfect(t, specimen{x: 60, y: 70, background: 10_000, bright: 200, noise: c.noise, frames: 30})
		moved, err := register(t.Context(), rec, seen)
		if err != nil {
			t.Fatal(err)
		}
		var off mat.Dense
		pairs := seen.pairs(seen.rows(whole))
		off.Sub(pickRows(moved, pairs), displaced(truth.z, pairs))
		if rms := mat.Norm(&off, 2) / math.Sqrt(float64(len(pairs))); rms < c.best || rms > c.atMost {
			t.Errorf("%s: off by %.2f px, expected %g to %g", c.name, rms, c.best, c.atMost)
		}
	}
}

func TestCompare(t *testing.T) {
	long(t)
	rec, seen, truth := perfect(t, specimen{x: 60, y: 70, background: 10_000, bright: 200, noise: 800, frames: 40})
	rows := seen.rows(whole)
	right, err := lay("affine", seen.z, truth.z, rows[:20])
	if err != nil {
		t.Fatal(err)
	}
	e := &evaluation{}
	if err := e.compare(t.Context(), rec, seen, truth, rows[20:], rows[:20], right); err != nil {
		t.Fatal(err)
	}
	steps := displaced(truth.z, rows[21:])
	still := stat.Variance(mat.Col(nil, 0, steps), nil) + stat.Variance(mat.Col(nil, 1, steps), nil)
	if *e.DisplacementMSE > 1e-9 || *e.RegistrationMSE < still/10 {
		t.Errorf("ours %g, expected 0; registration's %g, expected about %g: it sees noise alone", *e.DisplacementMSE, *e.RegistrationMSE, still)
	}
	if err := e.compare(t.Context(), rec, seen, truth, rows[39:], rows[:20], right); err == nil || exitStatus(err) != 2 || !strings.Contains(err.Error(), "no two consecutive frames") {
		t.Errorf("one frame: %v, a usage error expected", err)
	}
	seen.trajectory[1] = 7
	if err := e.compare(t.Context(), rec, seen, truth, rows[20:], rows[:4], right); err == nil || exitStatus(err) != 2 || !strings.Contains(err.Error(), "on 1 pairs of frames") {
		t.Errorf("two cuts in four frames: %v, a usage error expected", err)
	}
	seen.seq = seen.seq[:39]
	if _, err := register(t.Context(), rec, seen); err == nil || !strings.Contains(err.Error(), "gave 39 frames, then 40") {
		t.Errorf("found %v, expected the recording to have changed", err)
	}
}

// Displacements are told of in rows all of whose findings have them.
func TestPaperDisplacements(t *testing.T) {
	long(t)
	p := madeUp(t, &paperCmd{Out: t.TempDir()}, "dna-0", 0.01, 0.5, 1.5)
	for i, e := range p {
		if row := newTable(p, nil).Rows[0]; row.displacements != (displacements{}) || strings.Contains(string(newTable(p, nil).markdown()), "phase correlation") {
			t.Errorf("with %d of 2 findings: found %+v, expected none", i, row.displacements)
		}
		ours, theirs := 0.001, 0.01+0.02*float64(i)
		e.found.Figures.DisplacementMSE, e.found.Figures.RegistrationMSE = &ours, &theirs
	}
	table := newTable(p, nil)
	if got, want := table.Rows[0].displacements, (displacements{0.001, 0.02}); got != want || table.Rows[0].Paper.displacements != (displacements{7.93e-2, 2.58}) {
		t.Errorf("found %+v, the paper's %+v", got, table.Rows[0].Paper.displacements)
	}
	want := "dna-0: the displacement from frame to frame has a mean squared error of 0.001 ± 0 here and of 0.02 ± 0.0141 by phase correlation; in the paper of 0.0793 and by image registration 2.58."
	if got := string(table.markdown()); !strings.Contains(got, want) {
		t.Errorf("found\n%s\nexpected %q in it", got, want)
	}
	text, err := json.Marshal(table.Rows[0])
	if err != nil || !strings.Contains(string(text), `"displacement_mse":0.001,"registration_mse":0.02`) || !strings.Contains(string(text), `"displacement_mse":0.0793,"registration_mse":2.58`) {
		t.Errorf("%v: %s", err, text)
	}
}
