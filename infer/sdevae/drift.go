package sdevae

import (
	"time"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/flow/latent"
	"driftscope/online/drift"
	"driftscope/online/offline"
)

// DriftOf returns the drift network in a card, or nil if there is none.
func DriftOf(c *card.Card) *drift.Network {
	if c.Drift == nil {
		return nil
	}
	return &drift.Network{Dim: c.Latent, Hidden: c.Drift.Hidden, Centre: c.Drift.Centre, Scale: c.Drift.Scale, Weights: c.Drift.Weights}
}

// fitDrift learns the drift of the exported latents from scratch. The drift network of the training is not used, because its latents changed while it learnt.
func (e *Export) fitDrift(clip *video.Clip, seed uint64) (*drift.Network, error) {
	d := e.Card.Latent
	path := make([]latent.Latent, clip.Len())
	for k := range path {
		path[k] = latent.Latent{Seq: uint64(k), Time: time.Unix(0, int64(clip.Times[k]*1e9)), Trajectory: clip.Trajectory[k],
			Mean: numeric.Float64s(e.Z[k*d : (k+1)*d]), SD: numeric.Float64s(e.SD[k*d : (k+1)*d])}
	}
	return offline.Fit(path, offline.Config{Dim: d, Seed: seed, MaxGap: time.Duration(clip.MaxGap() * 1e9)})
}
