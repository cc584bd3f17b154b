package online

import "driftscope/internal/latent"

// Fit learns the drift of a recording from nothing and gives it as one network: the perceptron that imitates the posterior mean over
// the drifts of doc.go (7) to (12). Of c it uses Dim, MaxGap and Seed. Dimensions not found active have drift 0, as all have before
// 100 transitions. The same latents and seed give the same network. Time and memory grow in proportion to the latents: 1000 of them
// take about a second.
//
// It returns ErrLatent or ErrTimeOrder, with the frame, for a latent that Update would refuse.
func Fit(latents []latent.Latent, c Config) (*Network, error) {
	p, err := teach(latents, c)
	if err != nil {
		return nil, err
	}
	n, _ := p.student(asTrack(latents, c.Dim), nil, c.Seed)
	return n, nil
}

// asTrack is where latents were, each a run of its own.
func asTrack(latents []latent.Latent, dim int) *track {
	t := newTrack(dim, len(latents))
	for i := range latents {
		t.add(latents[i].Mean, 0)
	}
	return t
}

// teach finds σ² and the noise without a drift and learns a drift by them, then both once more about that drift.
func teach(latents []latent.Latent, c Config) (*posterior, error) {
	c = Config{Dim: c.Dim, MaxGap: c.MaxGap}
	var p *posterior
	for range 2 {
		r, err := watch(latents, c)
		if err != nil {
			return nil, err
		}
		if p, err = r.learn(); err != nil {
			return nil, err
		}
		c.Prior = p.tangent()
	}
	return p, nil
}
