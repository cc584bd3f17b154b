package online

import (
	"fmt"
	"time"

	"driftscope/internal/latent"
)

// Config is what a recording is read with. Zero values mean the defaults named here.
type OfflineConfig struct {
	Dim     int           // d, 1 to 64; no default
	Seed    uint64        // of the drift's network
	Prior   *Network      // the drift that is known; nil: none
	MaxGap  time.Duration // no increment is formed across a longer one; 0: no limit
	Refresh uint64        // latents between two decisions which dimensions move; 0: 10
}

// check refuses what cannot be read with.
func (c *OfflineConfig) check() error {
	switch {
	case c.Dim < 1 || c.Dim > maxDim:
		return fmt.Errorf("offline: dimension %d, expected 1 to %d: give the encoder's", c.Dim, maxDim)
	case c.MaxGap < 0:
		return fmt.Errorf("offline: max gap %v, expected a positive duration: leave it out for no limit", c.MaxGap)
	case c.Prior == nil:
		return nil
	case c.Prior.Dim != c.Dim:
		return fmt.Errorf("offline: drift network of dimension %d, latents of %d: take both from one model", c.Prior.Dim, c.Dim)
	}
	if err := c.Prior.Validate(); err != nil {
		return fmt.Errorf("offline: %w", err)
	}
	return nil
}

// recording is a list of latents as the Kalman banks saw it.
type recording struct {
	latents []latent.Latent
	second  []int     // the latents that made a transition with the one before
	dt      []float64 // over these time steps, s
	found   []diffusion
	sde     latent.SDE
}

// read runs the Kalman banks over the latents, about the drift of c.Prior, as an estimator does that learns no drift.
func read(latents []latent.Latent, c OfflineConfig) (*recording, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Refresh == 0 {
		c.Refresh = 10
	}
	clock, banks := Clock{MaxGap: c.MaxGap}, NewBanks(c.Dim, 1, 0)
	tangent, drift := NewTangent(c.Dim), NewField(c.Prior, NoCorrection(c.Dim))
	r := &recording{latents: latents, found: banks.Found}
	refresh := func() {
		if banks.Refresh() {
			r.sde.Revision++
			banks.Describe(&r.sde)
		}
	}
	banks.Describe(&r.sde)
	for i := range latents {
		z := &latents[i]
		if err := Check(z, c.Dim); err != nil {
			return nil, err
		}
		dt, err := clock.Advance(z)
		if err != nil {
			return nil, err
		}
		if dt > 0 {
			r.second, r.dt = append(r.second, i), append(r.dt, dt)
			tangent.Follow(drift, banks.Filtered())
			banks.Step(z.Mean, dt, tangent)
		} else {
			banks.Start(z.Mean)
			tangent.Renew()
		}
		if uint64(i)%c.Refresh == 0 {
			refresh()
		}
	}
	refresh()
	return r, nil
}

// learn is the posterior of the drift in the active dimensions.
func (r *recording) learn() (*Posterior, error) {
	w := NewWhitener(r.found, r.sde.Activity, nil)
	p := NewPosterior(w, len(r.found), nil)
	if len(w.Active()) == 0 {
		return p, nil
	}
	return p, p.Learn(w, r.track())
}

// track are the latents that make transitions.
func (r *recording) track() *Track {
	t, at := NewTrack(len(r.found), len(r.latents)), 0
	for _, run := range r.runs() {
		t.Add(r.latents[run.from].Mean, 0)
		for k := run.from + 1; k < run.to; k++ {
			t.Add(r.latents[k].Mean, r.dt[at])
			at++
		}
	}
	return t
}

// run is latents from up to, not including, to without a cut between.
type run struct{ from, to int }

// runs lists those of more than one latent.
func (r *recording) runs() []run {
	var runs []run
	for _, k := range r.second {
		if last := len(runs) - 1; last >= 0 && runs[last].to == k {
			runs[last].to++
		} else {
			runs = append(runs, run{k - 1, k + 1})
		}
	}
	return runs
}
