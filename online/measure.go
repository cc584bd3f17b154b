package online

import "driftscope/internal/latent"

// Measure finds a recording's diffusion, its noise and the dimensions that move, as an Estimator does that learns no drift: about c.Prior's,
// or none. Of c it uses Dim, Prior, MaxGap, Refresh and Forget. The figures are those after the last latent.
//
// It returns ErrLatent or ErrTimeOrder, with the frame, for a latent that Update would refuse.
func Measure(latents []latent.Latent, c Config) (*latent.SDE, error) {
	r, err := watch(latents, Config{Dim: c.Dim, Prior: c.Prior, MaxGap: c.MaxGap, Refresh: c.Refresh, Forget: c.Forget, Replay: leastReplay})
	if err != nil {
		return nil, err
	}
	return &r.sde, nil
}
