package main

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/internal/latent"
	"driftscope/sinks"
)

// What is known of three real recordings is within the intervals that are found: the trap's least squares and equipartition, that stuck
// beads rest, and trackpy's diffusion of the colloids.
func TestBenchRecordings(t *testing.T) {
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	var found recordingFindings
	printed := captured(t, func() error { return (&benchRecordingsCmd{Data: data, JSON: true}).Run(t.Context()) })
	if err := json.Unmarshal(printed, &found); err != nil {
		t.Fatalf("%s: %v", printed, err)
	}
	if len(found.Trap) != 2 {
		t.Fatalf("%d axes of the trap", len(found.Trap))
	}
	for _, a := range found.Trap {
		if !a.Rate.holds(a.LeastSquaresRate) || !a.Sigma.holds(a.LeastSquaresSigma) || !a.Stiffness.holds(a.Equipartition) || !a.Online.holds(a.LeastSquaresSigma) {
			t.Errorf("trap: %+v", a)
		}
		if math.IsInf(a.Rate.High, 0) || a.Stiffness.High > 5 {
			t.Errorf("trap: an interval that says nothing: %+v", a)
		}
	}
	if s := found.Stuck; s.Sigma.High >= 0.2 || s.Sigma.Low > 0 || s.Frames != 5 || s.Below < s.Beads/2 {
		t.Errorf("stuck: %+v", s)
	}
	if w := found.Water; !w.D.holds(0.40) || w.D.High-w.D.Low > 0.15 || w.Frames != 60 || w.ROIs < 10 {
		t.Errorf("water: %+v", w)
	}
}

// captured is what run prints on standard output.
func captured(t *testing.T, run func() error) []byte {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := os.Stdout
	os.Stdout = file
	err = run()
	os.Stdout = before
	if err != nil {
		t.Fatal(err)
	}
	printed, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return printed
}

func TestBenchRecordingsWithoutData(t *testing.T) {
	err := (&benchRecordingsCmd{Data: t.TempDir()}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "trap-good.mp4") {
		t.Errorf("an empty folder: %v", err)
	}
}

// The demo's molecule diffuses by 2 µm²/s in pixels of 0.1 µm: seen through the encoder, and given its length by the centroid.
func TestRunGivesMicrometres(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "results.jsonl")
	file := filepath.Join(folder, "molecule.yaml")
	text := "source: {sim: {name: molecule, seed: 1, realtime: false, frames: 400}}\nonline: {pixel_um: 0.1}\nnats: {url: \"off\"}\nsinks: [{jsonl: {path: " + out + "}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	captured(t, func() error { return (&runCmd{Sources: []string{file}}).Run(t.Context()) })
	results, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	var law *sinks.SDERecord
	for lines := bufio.NewScanner(results); lines.Scan(); {
		if !strings.Contains(lines.Text(), `"kind":"sde"`) {
			continue
		}
		record, err := sinks.Decode(latent.KindSDE, lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		law = record.(*sinks.SDERecord)
	}
	if law == nil || law.Calibration != latent.Calibrated || law.UM == nil {
		t.Fatalf("no diffusion in µm²/s: %+v", law)
	}
	if *law.UMLow > 2 || *law.UMHigh < 2 || *law.UMHigh-*law.UMLow > 1 {
		t.Errorf("D %g [%g, %g] µm²/s, want an interval around 2 and narrower than 1", *law.UM, *law.UMLow, *law.UMHigh)
	}
}
