package sdevae

import (
	"runtime"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// TestStepCost: the times depend on the machine, but every part takes some time, and the parts take no longer than the whole step, up to noise.
func TestStepCost(t *testing.T) {
	suite.Long(t)
	before := runtime.GOMAXPROCS(0)
	c, err := StepCost(8, 2, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	if min(c.Forward, c.Backward, c.Optimiser, c.Train) <= 0 || max(c.Forward, c.Optimiser) >= 10*c.Train {
		t.Errorf("%+v", c)
	}
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("GOMAXPROCS is %d afterwards, it was %d", after, before)
	}
	for _, bad := range [][4]int{{7, 2, 1, 1}, {2, 2, 1, 1}, {8, 0, 1, 1}, {8, 2, 0, 1}, {8, 2, 1, 0}} {
		if _, err := StepCost(bad[0], bad[1], bad[2], bad[3]); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
