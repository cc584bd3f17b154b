package maps

import (
	"testing"

	"driftscope/online/maps/mapstest"
)

// TestLearnAffine verifies that the drift is affine if no remaining choice is solvable. This occurred in a film of molecules with some at rest.
func TestLearnAffine(t *testing.T) {
	f := filmed(0)
	m := mapped(f, f.Tracks(&mapstest.ASpring, 1), 0)
	d := make([]float64, len(m.cells))
	for i := range d {
		d[i] = 10
	}
	r := m.assemble(m.grow(), d)
	for i := range r.gram.n {
		r.gram.row(i)[0] = -1 // rounding does this if places are mostly noise
	}
	got := r.learn([]choice{{0, 0}}, new([ranges]*matern), func() {})
	if len(got) != 1 || got[0].choice != none {
		t.Errorf("found %d beliefs", len(got))
	}
}

// TestPauses verifies that reading the map pauses per belief, 31 of them, per inverted belief, and per window around a place, so that a live run can
// rest.
func TestPauses(t *testing.T) {
	f := filmed(0)
	pauses := 0
	l := mapped(f, f.Tracks(&mapstest.ASpring, 1), 0).Law(func() { pauses++ })
	if least := len(choices()) + passes + len(reaches); pauses < least || len(l.Traps) != 1 {
		t.Errorf("%d pauses, expected %d at least; traps: %v", pauses, least, l.Traps)
	}
	if l.Release(); len(l.Traps) != 1 {
		t.Error("the trap is gone")
	}
	if mean, sd := l.Drift(10, 10); mean != [2]float64{} || sd != [2]float64{} {
		t.Errorf("a drift of %g ± %g after Release", mean, sd)
	}
}
