package population

import (
	"math"
	"math/rand/v2"

	"driftscope/online/interactions"
	"driftscope/online/onlinetest"
)

// The laws of the study.
const (
	free = "free"
	soft = "soft repulsion"
)

// pairsColumns are the columns of the table of pairs.
var pairsColumns = []column{law, figure("px/s", func(c *Cell) *float64 { return c.RMS }), inSE, coverage, told}

// pairs measures the error of the force between two objects, and whether a force is reported, for free and for repelling
// spheres.
func pairs(b *bench) (out []Cell, err error) {
	for _, law := range []string{free, soft} {
		for _, r := range []float64{0, 1} {
			c := Cell{Study: "pairs", Of: "force", Law: law, Tracks: 100, Frames: 150, R: r, Runs: b.runs}
			if law == soft {
				c.Tracks, c.Frames = 200, 300
			}
			out = append(out, c)
		}
	}
	out = b.small(out)
	for i := range out {
		if err := b.pairs(&out[i], 1<<22+uint64(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// forceFound is the result of a force curve, over its knots.
type forceFound struct {
	error2, z2 float64 // sums of squares, (px/s)², and in standard errors
	held, n    float64 // number of 95 % intervals that hold the truth, and of all
	told       bool
	err        error
}

// pairs measures one cell.
func (b *bench) pairs(c *Cell, seed uint64) error {
	found, told := make([]forceFound, c.Runs), make([]bool, c.Runs)
	err := b.each(seed, c.Runs, func(run int, rng *rand.Rand) {
		found[run] = pushed(c, rng.Uint64())
		told[run] = found[run].told
	})
	var s forceFound
	for i := range found {
		f := &found[i]
		if f.err != nil {
			return f.err
		}
		s.error2, s.z2, s.held, s.n = s.error2+f.error2, s.z2+f.z2, s.held+f.held, s.n+f.n
	}
	if c.Told = share(told); s.n > 0 {
		c.RMS, c.InSE, c.Coverage = new(math.Sqrt(s.error2/s.n)), new(math.Sqrt(s.z2/s.n)), new(s.held/s.n)
	}
	return err
}

// pushed draws a film of spheres, and finds their force.
func pushed(c *Cell, seed uint64) (f forceFound) {
	const (
		side, reach = 256.0, 20.0 // px
		d           = 5.0         // px²/s: the forces of pairstest belong to it
		settle      = 1.0         // s
	)
	film := &onlinetest.Pairs{Seed: seed, Objects: c.Tracks, Side: side, D: d, Noise: math.Sqrt(c.R * d * dt), Frame: dt, Parts: 1}
	if c.Law == soft {
		film.Parts, film.Force, film.Cutoff = 4, onlinetest.SoftForce, reach
	}
	e, err := interactions.New(interactions.Config{Width: side, Height: side, Reach: reach})
	if err != nil {
		return forceFound{err: err}
	}
	frame := interactions.Frame{Variance: make([]float64, c.Tracks), Weight: make([]float64, c.Tracks)}
	for i := range c.Tracks {
		frame.Variance[i], frame.Weight[i] = film.Noise*film.Noise, 1
	}
	film.Run(c.Frames, settle, func(s *onlinetest.PairsShot) {
		frame.T, frame.ID, frame.X, frame.Y = s.T, s.ID, s.X, s.Y
		if err := e.Update(&frame); err != nil {
			f.err = err
		}
	})
	var curve interactions.Curve
	e.Curve(&curve)
	f.judge(&curve, film.Force)
	return f
}

// judge compares a curve with the true force, at knots that 50 pairs or more were near.
func (f *forceFound) judge(c *interactions.Curve, force func(r float64) float64) {
	const leastPairs = 50
	f.told = c.Evidence > math.Log(20)
	for k, r := range c.R {
		if c.Pairs[k] < leastPairs || k == 0 {
			continue
		}
		truth := 0.0
		if force != nil {
			truth = force(r)
		}
		off := c.F[k] - truth
		f.error2, f.z2, f.n = f.error2+off*off, f.z2+off*off/(c.SE[k]*c.SE[k]), f.n+1
		if c.Low[k] <= truth && truth <= c.High[k] {
			f.held++
		}
	}
}
