package online

import (
	"fmt"
	"math"

	"driftscope/internal/latent"
)

// Walk is a free motion with one σ along all coordinates, and σ's 95 % interval.
type Walk struct {
	Sigma, SigmaLow, SigmaHigh float64 // latent/s^½; SigmaLow is 0 where rest is not excluded
	Noise                      float64 // √R, sd of the measurement, latent
	Transitions                int     // one a coordinate
}

// FreeWalk fits a Walk to a path of d coordinates, each a path of its own under one law: what a few frames can tell, with d times their
// transitions. The likelihood is the Kalman bank's without a drift, doc.go (5). It returns ErrLatent or ErrTimeOrder.
func FreeWalk(path []latent.Latent) (Walk, error) {
	if len(path) == 0 {
		return Walk{}, fmt.Errorf("walk: %w: no frames: give a path", ErrLatent)
	}
	b := newBank(psiGrid(), 1)
	for coordinate := range path[0].Mean {
		p, err := NewSeries(path, coordinate)
		if err != nil {
			return Walk{}, fmt.Errorf("walk: %w", err)
		}
		for i, m := range p.M {
			if p.DT[i] == 0 {
				b.start(m)
			} else {
				b.step(m, p.DT[i], Line{})
			}
		}
	}
	if b.n == 0 {
		return Walk{}, fmt.Errorf("walk: %w: no two frames of one trajectory: give a longer path", ErrLatent)
	}
	f := new(profile).figures(b)
	return Walk{math.Sqrt(f.v), math.Sqrt(f.low), math.Sqrt(f.high), math.Sqrt(f.spot), int(b.n)}, nil
}
