package maps

import (
	"testing"

	"driftscope/online/maps/mapstest"
)

// TestLearnAffine verifies that the drift is affine if no remaining choice is solvable. This occurred in a film of molecules, some of them at rest.
func TestLearnAffine(t *testing.T) {
	f := filmed(0)
	m := mapped(f, f.Tracks(&mapstest.ASpring, 1), 0)
	d := make([]float64, len(m.cells))
	for i := range d {
		d[i] = 10
	}
	r := m.assemble(m.grow(), d)
	for i := range r.gram.n {
		r.gram.row(i)[0] = -1 // rounding does this if positions are mostly noise
	}
	got := r.learn([]choice{{0, 0}}, new([ranges]*matern), func() {})
	if len(got) != 1 || got[0].choice != none {
		t.Errorf("found %d beliefs", len(got))
	}
}

// TestPauses verifies that Law pauses for each of the 31 beliefs, for each inverted belief, and for each window around a candidate, so a live run can pause.
func TestPauses(t *testing.T) {
	f := filmed(0)
	pauses := 0
	l := mapped(f, f.Tracks(&mapstest.ASpring, 1), 0).Law(func() { pauses++ })
	if least := len(choices()) + passes + len(reaches); pauses < least || len(l.Traps) != 1 {
		t.Errorf("%d pauses, expected at least %d; traps: %v", pauses, least, l.Traps)
	}
	if l.Release(); len(l.Traps) != 1 {
		t.Error("Release removed the trap")
	}
	if mean, sd := l.Drift(10, 10); mean != [2]float64{} || sd != [2]float64{} {
		t.Errorf("a drift of %g ± %g after Release", mean, sd)
	}
}
