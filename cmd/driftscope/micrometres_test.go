package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

// The demo's molecule diffuses with 2 µm²/s in pixels of 0.1 µm. The encoder's latents get their scale from the centroid.
func TestRunGivesMicrometres(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "results.jsonl")
	file := filepath.Join(folder, "molecule.yaml")
	text := "source: {sim: {name: molecule, seed: 1, realtime: false, frames: 400}}\nonline: {pixel_um: 0.1}\nnats: {url: \"off\"}\nsinks: [{jsonl: {path: " + out + "}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := suite.Stdout(t, func() error { return (&runCmd{Sources: []string{file}}).Run(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	results, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	var law *message.SDERecord
	for lines := bufio.NewScanner(results); lines.Scan(); {
		if !strings.Contains(lines.Text(), `"kind":"sde"`) {
			continue
		}
		record, err := message.Decode(latent.KindSDE, lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		law = record.(*message.SDERecord)
	}
	if law == nil || law.Calibration != latent.Calibrated || law.UM == nil {
		t.Fatalf("no diffusion in µm²/s: %+v", law)
	}
	if *law.UMLow > 2 || *law.UMHigh < 2 || *law.UMHigh-*law.UMLow > 1 {
		t.Errorf("D %g [%g, %g] µm²/s, want an interval around 2 and narrower than 1", *law.UM, *law.UMLow, *law.UMHigh)
	}
}
