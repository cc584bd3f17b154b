package online

import (
	"fmt"

	"driftscope/internal/latent"
)

// Fit learns the drift of a recording from nothing, as an Estimator with c does while it streams, and gives it as one network.
// c.Prior and c.Deterministic are set by Fit. The same latents and seed give the same network.
func Fit(latents []latent.Latent, c Config) (*Network, error) {
	c.Prior, c.Deterministic = nil, true
	e, err := New(c)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	var estimate latent.Estimate
	for i := range latents {
		if err := e.Update(&estimate, &latents[i]); err != nil {
			return nil, fmt.Errorf("frame %d: %w", latents[i].Seq, err)
		}
	}
	return e.field.network(), nil
}

// network is the published drift of a field without a prior as one network: the share goes into the output layer and the skip.
func (f *field) network() *Network {
	n := f.learnt.Clone()
	linear := n.Weights[len(n.Weights)-n.Dim*(n.Hidden[len(n.Hidden)-1]+1+n.Dim):]
	for i := range linear {
		linear[i] *= f.share
	}
	return n
}
