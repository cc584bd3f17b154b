package offline

import (
	"fmt"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/regression"
)

// Config holds the settings of an analysis. Zero values mean the defaults named here.
type Config struct {
	Dim     int            // d, 1 to 64; no default
	Seed    uint64         // seed of the drift's network
	Prior   *drift.Network // known drift; nil: zero drift
	MaxGap  time.Duration  // longest gap within an increment; 0: no limit
	Refresh uint64         // number of latents between two decisions on the moving dimensions; 0: 10
}

// check returns an error for an invalid setting.
func (c *Config) check() error {
	switch {
	case c.Dim < 1 || c.Dim > drift.MaxDim:
		return fmt.Errorf("offline: dimension %d, expected 1 to %d: give the dimension of the encoder's latents", c.Dim, drift.MaxDim)
	case c.MaxGap < 0:
		return fmt.Errorf("offline: max gap %v, expected a positive duration: leave it out for no limit", c.MaxGap)
	case c.Prior == nil:
		return nil
	case c.Prior.Dim != c.Dim:
		return fmt.Errorf("offline: the drift network has dimension %d, expected the latents' dimension %d: take both from one model", c.Prior.Dim, c.Dim)
	}
	if err := c.Prior.Validate(); err != nil {
		return fmt.Errorf("offline: %w", err)
	}
	return nil
}

// recording holds a list of latents and the Kalman banks' results on it.
type recording struct {
	latents []latent.Latent
	later   []int     // latents that form a transition with the preceding latent
	dt      []float64 // time step of each transition, s
	found   []diffusion.Estimate
	sde     latent.SDE
}

// read runs the Kalman banks over the latents, relative to the drift c.Prior, like an estimator without refinement.
func read(latents []latent.Latent, c Config) (*recording, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Refresh == 0 {
		c.Refresh = 10
	}
	clock, banks := diffusion.Clock{MaxGap: c.MaxGap}, diffusion.NewBanks(c.Dim, 1, 0)
	tangent, field := drift.NewTangent(c.Dim), drift.NewField(c.Prior, drift.NoCorrection(c.Dim))
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
		if err := diffusion.Check(z, c.Dim); err != nil {
			return nil, err
		}
		dt, err := clock.Advance(z)
		if err != nil {
			return nil, err
		}
		if dt > 0 {
			r.later, r.dt = append(r.later, i), append(r.dt, dt)
			tangent.Follow(field, banks.Filtered())
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

// learn returns the posterior of the drift in the active dimensions.
func (r *recording) learn() (*regression.Posterior, error) {
	w := regression.NewWhitener(r.found, r.sde.Activity, nil)
	p := regression.NewPosterior(w, len(r.found), nil)
	if len(w.Active()) == 0 {
		return p, nil
	}
	return p, p.Learn(w, r.track())
}

// track returns the latents that form transitions.
func (r *recording) track() *diffusion.Track {
	t, at := diffusion.NewTrack(len(r.found), len(r.latents)), 0
	for _, run := range r.runs() {
		t.Add(r.latents[run.from].Mean, 0)
		for k := run.from + 1; k < run.to; k++ {
			t.Add(r.latents[k].Mean, r.dt[at])
			at++
		}
	}
	return t
}

// run is a range [from, to) of latents without a cut.
type run struct{ from, to int }

// runs lists the runs of more than one latent.
func (r *recording) runs() []run {
	var runs []run
	for _, k := range r.later {
		if last := len(runs) - 1; last >= 0 && runs[last].to == k {
			runs[last].to++
		} else {
			runs = append(runs, run{k - 1, k + 1})
		}
	}
	return runs
}
