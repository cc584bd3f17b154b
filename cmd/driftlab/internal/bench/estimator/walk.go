package estimator

import (
	"fmt"
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
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
		return Walk{}, fmt.Errorf("walk: %w: no frames: give a path", diffusion.ErrLatent)
	}
	var all []*diffusion.Series
	transitions := 0
	for coordinate := range path[0].Mean {
		s, err := diffusion.NewSeries(path, coordinate)
		if err != nil {
			return Walk{}, fmt.Errorf("walk: %w", err)
		}
		all, transitions = append(all, s), transitions+s.Steps
	}
	if transitions == 0 {
		return Walk{}, fmt.Errorf("walk: %w: no two frames of one trajectory: give a longer path", diffusion.ErrLatent)
	}
	f := diffusion.Free(all...)
	return Walk{math.Sqrt(f.V), math.Sqrt(f.Low), math.Sqrt(f.High), math.Sqrt(f.Noise), transitions}, nil
}
