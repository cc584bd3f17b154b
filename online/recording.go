package online

import "driftscope/internal/latent"

// recording is a list of latents as the Kalman bank saw it.
type recording struct {
	latents []latent.Latent
	second  []int     // the latents that made a transition with the one before
	dt      []float64 // over these time steps, s
	found   []diffusion
	sde     latent.SDE
}

// watch runs the Kalman bank over the latents, about the drift of c.Prior.
func watch(latents []latent.Latent, c Config) (*recording, error) {
	e, err := New(c)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	r := &recording{latents: latents, found: e.found}
	for i := range latents {
		z := &latents[i]
		if err := e.check(z); err != nil {
			return nil, err
		}
		dt, err := e.advance(z)
		if err != nil {
			return nil, err
		}
		if dt > 0 {
			r.second, r.dt = append(r.second, i), append(r.dt, dt)
		}
		e.fold(z.Mean, dt)
		if uint64(i)%e.config.Refresh == 0 {
			e.refresh()
		}
	}
	e.refresh()
	r.sde = e.sde
	return r, nil
}

// learn is the posterior of the drift in the active dimensions.
func (r *recording) learn() (*posterior, error) {
	return newPosterior(newLens(r.found, r.sde.Activity, nil), r.track())
}

// track are the latents that make transitions.
func (r *recording) track() *track {
	t, at := newTrack(len(r.found), len(r.latents)), 0
	for _, run := range r.runs() {
		t.add(r.latents[run.from].Mean, 0)
		for k := run.from + 1; k < run.to; k++ {
			t.add(r.latents[k].Mean, r.dt[at])
			at++
		}
	}
	return t
}
