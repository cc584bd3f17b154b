// Package switchingtest simulates tracks of objects that switch between states of diffusion, for tests and measurements.
package switchingtest

import (
	"math"
	"math/rand/v2"
)

// Chain simulates an object that switches between states, each with its D.
type Chain struct {
	D       []float64 // of each state, px²/s
	Rate    float64   // rate of leaving a state, to each other state equally often, 1/s
	Noise   float64   // sd of a place along an axis, px
	Frame   float64   // frame interval, s
	Exposed float64   // share of the interval over which a place is averaged, at its end
	Parts   int       // substeps per frame for motion and switches
}

// Track holds the localisations of one object, and the true states.
type Track struct {
	X, Y  []float64 // px, one per frame
	State []int     // per step, starting with the second frame: the state of longest stay
}

// Run simulates a track of n frames from a random state.
func (c *Chain) Run(rng *rand.Rand, n int) Track {
	var t Track
	state, x, y := rng.IntN(len(c.D)), 0.0, 0.0
	dt := c.Frame / float64(c.Parts)
	exposed := max(1, int(c.Exposed*float64(c.Parts)))
	for frame := range n {
		mx, my, in := 0.0, 0.0, make([]int, len(c.D))
		for part := range c.Parts {
			if len(c.D) > 1 && rng.Float64() < c.Rate*dt {
				state = (state + 1 + rng.IntN(len(c.D)-1)) % len(c.D)
			}
			in[state]++
			sd := math.Sqrt(2 * c.D[state] * dt)
			x, y = x+sd*rng.NormFloat64(), y+sd*rng.NormFloat64()
			if part >= c.Parts-exposed {
				mx, my = mx+x/float64(exposed), my+y/float64(exposed)
			}
		}
		if frame > 0 {
			longest := 0
			for i, parts := range in {
				if parts > in[longest] {
					longest = i
				}
			}
			t.State = append(t.State, longest)
		}
		t.X, t.Y = append(t.X, mx+c.Noise*rng.NormFloat64()), append(t.Y, my+c.Noise*rng.NormFloat64())
	}
	return t
}
