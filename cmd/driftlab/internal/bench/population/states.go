package population

import (
	"math"
	"math/rand/v2"

	"driftscope/online/states"
)

// slowShare is the fraction of the tracks in the slow one of two states.
const slowShare = 0.6

// twoStates has D of two states a factor of ten apart, and the fraction of the slow one.
func twoStates(b *bench) (out []Cell, err error) {
	const ratio = 10
	b.cells("states", func(c Cell) {
		if err != nil {
			return
		}
		c.States, c.Ratio = 2, ratio
		film := c.filmOf()
		found := [3][]states.Interval{}
		for k := range found {
			found[k] = make([]states.Interval, b.runs)
		}
		err = b.each(1<<16+uint64(len(out)), b.runs, func(run int, rng *rand.Rand) {
			tracks := drawn(rng, &film, &c, []float64{slowShare, 1 - slowShare})
			if l, ok := states.Infer(tracks, states.Options{Exposure: film.Exposure, States: 2}); ok {
				found[0][run], found[1][run], found[2][run] = l.States[0].D, l.States[1].D, l.States[0].Fraction
			}
		})
		for k, of := range []string{"d_slow", "d_fast", "fraction"} {
			one := c
			one.Of = of
			one.judge(found[k], []float64{slow, slow * ratio, slowShare}[k])
			out = append(out, one)
		}
	})
	return out, err
}

// drawn returns tracks of a population of states by their shares; the D of successive states differ by a ratio.
func drawn(rng *rand.Rand, film *states.Film, c *Cell, shares []float64) (tracks []states.Segment) {
	for range c.Tracks {
		u, k := rng.Float64(), 0
		for u >= shares[k] && k < len(shares)-1 {
			u -= shares[k]
			k++
		}
		tracks = append(tracks, film.Draw(rng, slow*math.Pow(c.Ratio, float64(k)), c.Frames))
	}
	return tracks
}

// counted measures how often the evidence finds the right number of states, in 300 tracks of 20 frames.
func counted(b *bench) (out []Cell, err error) {
	const tracks, frames = 300, 20
	if tracks*frames > b.most {
		return nil, nil
	}
	for _, ratio := range []float64{4, 10} {
		for _, count := range []int{1, 2, 3} {
			for _, r := range []float64{0, 1} {
				c := Cell{Study: "count", Of: "states", Tracks: tracks, Frames: frames, R: r, Ratio: ratio, States: count, Runs: b.runs}
				film, right := c.filmOf(), make([]bool, b.runs)
				shares := make([]float64, count)
				for k := range shares {
					shares[k] = 1 / float64(count)
				}
				err = b.each(1<<17+uint64(len(out)), b.runs, func(run int, rng *rand.Rand) {
					l, ok := states.Infer(drawn(rng, &film, &c, shares), states.Options{})
					right[run] = ok && len(l.States) == count
				})
				if err != nil {
					return nil, err
				}
				c.Right = share(right)
				out = append(out, c)
			}
		}
	}
	return out, nil
}
