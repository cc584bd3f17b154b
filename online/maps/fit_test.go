package maps

import (
	"math"
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/maps/mapstest"
)

// TestBesideFit: on no law is the map's drift off by more than 1.2 times what a fit of the whole recording is, over three films with noise and without.
func TestBesideFit(t *testing.T) {
	suite.Long(t)
	for _, l := range mapstest.Scenes() {
		for _, r := range []float64{0, 0.3, 1} {
			f := filmed(r)
			mine, theirs, z := 0.0, 0.0, 0.0
			const films = 3
			for seed := range uint64(films) {
				tracks := f.Tracks(&l, seed)
				w, at := mapped(f, tracks, 0).Law(), f.Visited(tracks)
				fitted, err := f.Fit(tracks)
				if err != nil {
					t.Fatal(err)
				}
				mine += l.Missed(at, func(x, y float64) (float64, float64) { d, _ := w.Drift(x, y); return d[0], d[1] })
				theirs += l.Missed(at, fitted)
				z += l.Off(at, w.Drift) / films
			}
			ratio := math.Sqrt(mine / theirs)
			t.Logf("%-20s r %.1f: %.3f px/s, %.2f times the fit's, errors of %.2f standard errors", l.Name, r, math.Sqrt(mine/films), ratio, math.Sqrt(z))
			if ratio > 1.2 {
				t.Errorf("%s at r = %g: %.2f times the error of a fit", l.Name, r, ratio)
			}
		}
	}
}
