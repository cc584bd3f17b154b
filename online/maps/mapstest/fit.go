package mapstest

import (
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/drift"
	"driftscope/online/offline"
)

// Fit returns the drift that offline.Fit learns from all tracks. Each track is a trajectory.
func (f *Film) Fit(tracks [][][2]float64) (func(x, y float64) (dx, dy float64), error) {
	var seen []latent.Latent
	at := time.Unix(0, 0)
	for i, track := range tracks {
		for _, p := range track {
			seen = append(seen, latent.Latent{Seq: uint64(len(seen)), Time: at, Trajectory: uint64(i), Mean: []float64{p[0], p[1]}, SD: make([]float64, 2)})
			at = at.Add(time.Duration(f.DT * 1e9))
		}
	}
	n, err := offline.Fit(seen, offline.Config{Dim: 2, Seed: 1})
	if err != nil {
		return nil, err
	}
	scratch, mu := new(drift.Scratch), make([]float64, 2)
	return func(x, y float64) (float64, float64) {
		n.Drift(mu, []float64{x, y}, scratch)
		return mu[0], mu[1]
	}, nil
}
