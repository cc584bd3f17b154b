package regression

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/onlinetest"
)

// stepsOf returns the film's transitions, given the true σ and noise.
func stepsOf(s onlinetest.Scene, seen []latent.Latent, r float64) *Steps {
	d := len(s.From)
	known := &Whitener{root: onlinetest.Repeat(1, d), noise: r * onlinetest.Step}
	t := diffusion.NewTrack(d, len(seen))
	for k := range seen {
		dt := onlinetest.Step
		if k == 0 || seen[k].Trajectory != seen[k-1].Trajectory {
			dt = 0
		}
		t.Add(seen[k].Mean, dt)
	}
	for i := range d {
		known.active = append(known.active, i)
	}
	return known.Steps(t)
}

// learntFrom returns the posterior of steps in the units of the latents.
func learntFrom(s *Steps) (*Posterior, error) {
	p := &Posterior{dim: s.dim, root: onlinetest.Repeat(1, s.dim)}
	for i := range s.dim {
		p.active = append(p.active, i)
	}
	return p, p.learn(s)
}
