package states

import (
	"math"
	"math/rand/v2"
)

// Film describes the recording of objects.
type Film struct {
	DT       float64 // frame interval, s
	Exposure float64 // s, at most DT
	Noise    float64 // localisation variance along an axis, px²
}

// Draw simulates a track of an object with diffusion d, px²/s, over the given number of frames. Positions are means over the exposure. The end and the mean
// of the path within an exposure have the joint law Var W(e) = e, Var W̄ = e/3, Cov = e/2.
func (f *Film) Draw(rng *rand.Rand, d float64, frames int) Segment {
	s := Segment{Weight: 1}
	var at, last [axes]float64
	root := math.Sqrt(2 * d)
	for n := range frames {
		var seen [axes]float64
		for k := range axes {
			end := math.Sqrt(f.Exposure) * rng.NormFloat64()
			mean := end/2 + math.Sqrt(f.Exposure/12)*rng.NormFloat64()
			seen[k] = at[k] + root*mean + math.Sqrt(f.Noise)*rng.NormFloat64()
			at[k] += root * (end + math.Sqrt(f.DT-f.Exposure)*rng.NormFloat64())
		}
		if n > 0 {
			s.Steps = append(s.Steps, Step{seen[0] - last[0], seen[1] - last[1], f.DT})
		}
		last = seen
	}
	return s
}
