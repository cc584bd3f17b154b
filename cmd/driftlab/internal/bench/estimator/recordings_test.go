package estimator

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// What is known of three real recordings is within the intervals that are found: the trap's least squares and equipartition, that stuck
// beads rest, and trackpy's diffusion of the colloids.
func TestBenchRecordings(t *testing.T) {
	suite.Calculation(t)
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	var found recordingFindings
	printed, err := suite.Stdout(t, func() error { return (&RecordingsCommand{Data: data, JSON: true}).Run(t.Context()) })
	if err != nil {
		t.Fatal(err)
	}
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

func TestBenchRecordingsWithoutData(t *testing.T) {
	err := (&RecordingsCommand{Data: t.TempDir()}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "trap-good.mp4") {
		t.Errorf("an empty folder: %v", err)
	}
}
