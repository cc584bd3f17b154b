package maps

import (
	"math"
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/maps/mapstest"
)

// TestBesideFit verifies that the error of the map's drift is at most 1.2 times the error of a fit of the whole recording. For each law it uses three films:
// without noise, with some noise and with much.
func TestBesideFit(t *testing.T) {
	suite.Long(t)
	for _, l := range mapstest.Scenes() {
		mine, theirs := 0.0, 0.0
		for seed, r := range []float64{0, 0.3, 1} {
			f := filmed(r)
			tracks := f.Tracks(&l, uint64(seed))
			w, at := mapped(f, tracks, 0).Law(nil), f.Visited(tracks)
			fitted, err := f.Fit(tracks)
			if err != nil {
				t.Fatal(err)
			}
			mine += l.Missed(at, func(x, y float64) (float64, float64) { d, _ := w.Drift(x, y); return d[0], d[1] })
			theirs += l.Missed(at, fitted)
		}
		ratio := math.Sqrt(mine / theirs)
		t.Logf("%-20s %.2f times the fit's error", l.Name, ratio)
		if ratio > 1.2 {
			t.Errorf("%s: %.2f times the error of a fit", l.Name, ratio)
		}
	}
}

// TestErrors verifies the standard errors to a fifth, on laws not used to design the map. An affine drift has six numbers per film, so the errors of one law
// over four films have a standard deviation of 15 %. Each law may deviate by three of these plus the fifth.
func TestErrors(t *testing.T) {
	suite.Long(t)
	const films = 4
	pooled, laws := 0.0, 0.0
	for _, l := range mapstest.Judging() {
		if l.Name == mapstest.ARoll.Name { // nearly a rotation, with too few steps to show the difference, see law.go
			continue
		}
		f, z := filmed(0.3), 0.0
		for seed := range uint64(films) {
			tracks := f.Tracks(&l, seed)
			z += l.Off(f.Visited(tracks), mapped(f, tracks, 0).Law(nil).Drift) / films
		}
		pooled, laws = pooled+z, laws+1
		t.Logf("%-20s errors of %.2f standard errors", l.Name, math.Sqrt(z))
		if z = math.Sqrt(z); z < 0.8*0.55 || z > 1.2*1.45 {
			t.Errorf("%s: errors of %.2f standard errors", l.Name, z)
		}
	}
	if z := math.Sqrt(pooled / laws); z < 0.8 || z > 1.2 {
		t.Errorf("errors of %.2f standard errors over all laws", z)
	}
}
