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
		p, err := newSeries(path, coordinate)
		if err != nil {
			return Walk{}, fmt.Errorf("walk: %w", err)
		}
		for i, m := range p.m {
			if p.dt[i] == 0 {
				b.start(m)
			} else {
				b.step(m, p.dt[i], 0, 0, 0)
			}
		}
	}
	if b.n == 0 {
		return Walk{}, fmt.Errorf("walk: %w: no two frames of one trajectory: give a longer path", ErrLatent)
	}
	f := new(profile).figures(b)
	return Walk{math.Sqrt(f.v), math.Sqrt(f.low), math.Sqrt(f.high), math.Sqrt(f.spot), int(b.n)}, nil
}

// series is one coordinate of a path.
type series struct {
	m       []float64 // measured
	dt      []float64 // s since the last; 0 where a trajectory begins
	seconds float64   // Σ dt
	steps   int       // how many are not 0
}

func newSeries(path []latent.Latent, coordinate int) (*series, error) {
	s := &series{}
	for i := range path {
		z := &path[i]
		if coordinate < 0 || coordinate >= len(z.Mean) || !(math.Abs(z.Mean[coordinate]) <= maxLatent) {
			return nil, fmt.Errorf("frame %d: %w: expected a number within ±%g as coordinate %d: check the picture", z.Seq, ErrLatent, maxLatent, coordinate)
		}
		dt := 0.0
		if i > 0 && z.Trajectory == path[i-1].Trajectory {
			if dt = z.Time.Sub(path[i-1].Time).Seconds(); dt <= 0 {
				return nil, fmt.Errorf("frame %d: %w: taken %v before the one before: check the source's clock", z.Seq, ErrTimeOrder, path[i-1].Time.Sub(z.Time))
			}
			s.steps++
		}
		s.m, s.dt, s.seconds = append(s.m, z.Mean[coordinate]), append(s.dt, dt), s.seconds+dt
	}
	return s, nil
}
