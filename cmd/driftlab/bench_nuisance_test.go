package main

import (
	"encoding/json"
	"os"
	"testing"

	"driftscope/internal/suite"
)

// TestBenchNuisance: every film and its clean version is trained on in its own process, and no files of these processes remain.
func TestBenchNuisance(t *testing.T) {
	suite.Long(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	o := drive(t, t.TempDir(), "bench", "nuisance", "--scene", "wasserstein-ou", "--nuisance", "lines", "--amount", "1", "--frames", "40", "--steps", "6", "--json")
	var got struct {
		Cells, Clean []struct {
			Scene, Nuisance, Verdict string
			LLatentCoord             float64 `json:"l_latent_coord"`
			Amount, Ratio            float64
			Frames                   int
		}
	}
	if err := json.Unmarshal([]byte(o.out), &got); o.status != 0 || err != nil || len(got.Cells) != 1 || len(got.Clean) != 1 {
		t.Fatalf("status %d, %v\n%s%s", o.status, err, o.out, o.errors)
	}
	if k := got.Cells[0]; k.Scene != "wasserstein-ou" || k.Nuisance != "lines" || k.Amount != 0.1 || k.Frames != 40 || k.Verdict != "good" || k.Ratio != k.LLatentCoord/got.Clean[0].LLatentCoord {
		t.Errorf("found %+v beside %+v", k, got.Clean[0])
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	drive(t, t.TempDir(), "bench", "nuisance", "--nuisance", "rain").check(t, 2, `nuisance "rain" is not known`)
}
