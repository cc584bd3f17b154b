package maps

import (
	"math"
	"testing"
	"time"

	"driftscope/internal/latent"
	"driftscope/internal/suite"
	"driftscope/online/drift"
	"driftscope/online/offline"
)

// TestBesideFit: on no law is the map's drift off by more than 1.2 times what a fit of the whole recording is, over three films with noise and without.
func TestBesideFit(t *testing.T) {
	suite.Long(t)
	for _, l := range scenes() {
		for _, r := range []float64{0, 0.3, 1} {
			f := film{50, 200, 256, 0.02, r}
			mine, theirs, z := 0.0, 0.0, 0.0
			const films = 3
			for seed := range uint64(films) {
				tracks := f.tracks(l, seed)
				w, at, n := f.mapped(tracks, 0).Law(), f.visited(tracks), fit(t, tracks, f.dt)
				scratch, mu := new(drift.Scratch), make([]float64, 2)
				mine += missed(at, l, func(x, y float64) (float64, float64) { d, _ := w.Drift(x, y); return d[0], d[1] })
				theirs += missed(at, l, func(x, y float64) (float64, float64) {
					n.Drift(mu, []float64{x, y}, scratch)
					return mu[0], mu[1]
				})
				z += off(at, l, w) / films
			}
			ratio := math.Sqrt(mine / theirs)
			t.Logf("%-20s r %.1f: %.3f px/s, %.2f times the fit's, errors of %.2f standard errors", l.name, r, math.Sqrt(mine/films), ratio, math.Sqrt(z))
			if ratio > 1.2 {
				t.Errorf("%s at r = %g: %.2f times the error of a fit", l.name, r, ratio)
			}
		}
	}
}

// fit is offline.Fit of the same tracks, each a trajectory.
func fit(t *testing.T, tracks [][][2]float64, dt float64) *drift.Network {
	t.Helper()
	var seen []latent.Latent
	at := time.Unix(0, 0)
	for i, track := range tracks {
		for _, p := range track {
			seen = append(seen, latent.Latent{Seq: uint64(len(seen)), Time: at, Trajectory: uint64(i), Mean: []float64{p[0], p[1]}, SD: make([]float64, 2)})
			at = at.Add(time.Duration(dt * 1e9))
		}
	}
	n, err := offline.Fit(seen, offline.Config{Dim: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
