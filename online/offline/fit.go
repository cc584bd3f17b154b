// Fit
//
// σ², the noise and the drift depend on each other, so Fit finds them twice. First it finds σ² and the noise without a drift, and learns a drift with them.
// Then it repeats both relative to the affine part of this drift.

package offline

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/regression"
)

// Fit learns the drift of a recording and returns it as one network: the perceptron that imitates the posterior mean over the drifts of online/regression. It
// uses Dim, MaxGap and Seed of c. Inactive and undecided dimensions have drift 0, and so do all dimensions before 100 transitions. The same latents and seed
// give the same network. Time and memory grow in proportion to the latents: 1000 take about a second.
//
// It returns ErrLatent or ErrTimeOrder, with the frame, for a latent that an estimator would refuse.
func Fit(latents []latent.Latent, c Config) (*drift.Network, error) {
	p, err := learn(latents, c)
	if err != nil {
		return nil, err
	}
	n, _ := p.Network(asTrack(latents, c.Dim), nil, c.Seed)
	return n, nil
}

// asTrack returns a track of the latents, each with its own trajectory.
func asTrack(latents []latent.Latent, dim int) *diffusion.Track {
	t := diffusion.NewTrack(dim, len(latents))
	for i := range latents {
		t.Add(latents[i].Mean, 0)
	}
	return t
}

// learn finds σ² and the noise without a drift, learns a drift with them, and then repeats both relative to this drift.
func learn(latents []latent.Latent, c Config) (*regression.Posterior, error) {
	c = Config{Dim: c.Dim, MaxGap: c.MaxGap}
	var p *regression.Posterior
	for range 2 {
		r, err := read(latents, c)
		if err != nil {
			return nil, err
		}
		if p, err = r.learn(); err != nil {
			return nil, err
		}
		c.Prior = p.AffineNetwork()
	}
	return p, nil
}

// Measure finds a recording's diffusion, its noise and the moving dimensions, like an estimator without refinement, relative to the drift c.Prior. It uses
// Dim, Prior, MaxGap and Refresh of c. It returns the figures after the last latent.
//
// It returns ErrLatent or ErrTimeOrder, with the frame, for a latent that an estimator would refuse.
func Measure(latents []latent.Latent, c Config) (*latent.SDE, error) {
	r, err := read(latents, c)
	if err != nil {
		return nil, err
	}
	return &r.sde, nil
}
