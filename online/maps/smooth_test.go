package maps

import (
	"testing"

	"driftscope/online/maps/mapstest"
)

// TestLearnAffine: where no choice that is left has an answer, the drift is affine. A film of molecules, some of which stand still, had that.
func TestLearnAffine(t *testing.T) {
	f := filmed(0)
	m := mapped(f, f.Tracks(&mapstest.ASpring, 1), 0)
	d := make([]float64, len(m.cells))
	for i := range d {
		d[i] = 10
	}
	r := m.assemble(m.grow(), d)
	for i := range r.gram.n {
		r.gram.row(i)[0] = -1 // as rounding leaves it where places are noise
	}
	got := r.learn([]choice{{0, 0}}, new([ranges]*matern), func() {})
	if len(got) != 1 || got[0].choice != none {
		t.Errorf("found %d beliefs", len(got))
	}
}

// TestPauses: reading the map pauses for each of the 31 beliefs, each that is inverted, and each window about a place, so that a live run's law rests within it.
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
