package diffusion

import (
	"fmt"
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/online/drift"
)

// Walk is a free motion with one σ along all coordinates, and σ's 95 % interval.
type Walk struct {
	Sigma, SigmaLow, SigmaHigh float64 // latent/s^½; SigmaLow is 0 unless rest is excluded
	Noise                      float64 // √R, sd of the measurement, latent
	Transitions                int     // one a coordinate
}

// FreeWalk fits a Walk to a path of d coordinates, each a path of its own under one law. A few frames thus give d times their transitions.
// The likelihood is the Kalman bank's without a drift, (5). It returns ErrLatent or ErrTimeOrder.
func FreeWalk(path []latent.Latent) (Walk, error) {
	if len(path) == 0 {
		return Walk{}, fmt.Errorf("walk: %w: no frames: give a path", ErrLatent)
	}
	var all []*Series
	transitions := 0
	for coordinate := range path[0].Mean {
		s, err := NewSeries(path, coordinate)
		if err != nil {
			return Walk{}, fmt.Errorf("walk: %w", err)
		}
		all, transitions = append(all, s), transitions+s.Steps
	}
	if transitions == 0 {
		return Walk{}, fmt.Errorf("walk: %w: no two frames of one trajectory: give a longer path", ErrLatent)
	}
	f := Free(all...)
	return Walk{math.Sqrt(f.V), math.Sqrt(f.Low), math.Sqrt(f.High), math.Sqrt(f.Noise), transitions}, nil
}

// Free estimates one σ² that all series share, without a drift. It needs at least one step.
func Free(series ...*Series) Estimate {
	b := newBank(newGrid(), 1)
	for _, s := range series {
		for i, m := range s.M {
			if s.DT[i] == 0 {
				b.start(m)
			} else {
				b.step(m, s.DT[i], drift.Line{})
			}
		}
	}
	return new(profile).estimate(b)
}
