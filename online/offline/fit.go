// Fit
//
// σ², the noise and the drift depend on each other. So Fit finds them twice: σ² and the noise without a drift, a drift from them, then both
// again about that drift's affine part.

package offline

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/regression"
)

// Fit learns the drift of a recording and returns it as one network: the perceptron that imitates the posterior mean over
// the drifts of online/regression. Of c it uses Dim, MaxGap and Seed. Inactive or undecided dimensions have drift 0, as do all before
// 100 transitions. The same latents and seed give the same network. Time and memory grow in proportion to the latents: 1000 take about a
// second.
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

// asTrack returns a track of the latents, each as a trajectory of its own.
func asTrack(latents []latent.Latent, dim int) *diffusion.Track {
	t := diffusion.NewTrack(dim, len(latents))
	for i := range latents {
		t.Add(latents[i].Mean, 0)
	}
	return t
}

// learn finds σ² and the noise without a drift, learns a drift from them, then finds both again about that drift.
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

// Measure finds a recording's diffusion, its noise and the moving dimensions, as an estimator without refinement: about c.Prior's drift,
// or none. Of c it uses Dim, Prior, MaxGap and Refresh. The figures are the ones after the last latent.
//
// It returns ErrLatent or ErrTimeOrder, with the frame, for a latent that an estimator would refuse.
func Measure(latents []latent.Latent, c Config) (*latent.SDE, error) {
	r, err := read(latents, c)
	if err != nil {
		return nil, err
	}
	return &r.sde, nil
}
