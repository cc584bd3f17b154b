package diffusion

import (
	"fmt"
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/online/drift"
)

// Series is one coordinate of a path.
type Series struct {
	M       []float64 // measurements
	DT      []float64 // time since the previous measurement, s; 0 at the beginning of a trajectory
	Seconds float64   // Σ DT
	Steps   int       // number of nonzero DT
}

// NewSeries returns one coordinate of a path. Its errors wrap ErrLatent or ErrTimeOrder and name the frame.
func NewSeries(path []latent.Latent, coordinate int) (*Series, error) {
	s := &Series{}
	for i := range path {
		z := &path[i]
		if coordinate < 0 || coordinate >= len(z.Mean) || !(math.Abs(z.Mean[coordinate]) <= MaxLatent) {
			return nil, fmt.Errorf("frame %d: %w: expected a number within ±%g as coordinate %d: check the picture", z.Seq, ErrLatent, MaxLatent, coordinate)
		}
		dt := 0.0
		if i > 0 && z.Trajectory == path[i-1].Trajectory {
			if dt = z.Time.Sub(path[i-1].Time).Seconds(); dt <= 0 {
				return nil, fmt.Errorf("frame %d: %w: taken %v before the previous frame: check the source's clock", z.Seq, ErrTimeOrder, path[i-1].Time.Sub(z.Time))
			}
			s.Steps++
		}
		s.M, s.DT, s.Seconds = append(s.M, z.Mean[coordinate]), append(s.DT, dt), s.Seconds+dt
	}
	return s, nil
}

// Free estimates a common σ² of all series, without a drift. It needs at least one step.
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
