package population

import (
	"math/rand/v2"

	"driftscope/online/motion"
	"driftscope/online/motion/motiontest"
)

// classOf is the class of each kind.
var classOf = [motiontest.Kinds]motion.Class{motion.Stuck, motion.Free, motion.Confined, motion.Directed, motion.Anomalous, motion.Anomalous}

// classColumns are the columns of the table of class.
var classColumns = []column{law, {"noise known", func(c *Cell) string {
	if c.Known {
		return "yes"
	}
	return "no"
}}, right, figure("instead", func(c *Cell) *float64 { return c.Wrongly }), {"   told as", func(c *Cell) string { return c.Instead }}}

// class measures how often the kind of motion is right, and the most frequent wrong report.
func class(b *bench) (out []Cell, err error) {
	const tracks = 10
	for _, known := range []bool{false, true} {
		for _, r := range []float64{0.1, 1} {
			for _, frames := range []int{20, 50, 100, 200} {
				for kind := range motiontest.Kinds {
					out = append(out, Cell{Study: "class", Of: "class", Law: kind.String(), Tracks: tracks, Frames: frames, R: r, Known: known, Runs: b.runs})
				}
			}
		}
	}
	out = b.small(out)
	for i := range out {
		if err := b.class(&out[i], motiontest.Kind(i)%motiontest.Kinds, 1<<20+uint64(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// class measures one cell, for tracks of a kind.
func (b *bench) class(c *Cell, kind motiontest.Kind, seed uint64) error {
	const frame = 0.1 // s, as in motiontest's kinds
	noise := c.R * frame
	seen := make([][motion.Classes]float64, c.Runs)
	err := b.each(seed, c.Runs, func(run int, rng *rand.Rand) {
		var judge motion.Judge
		for range c.Tracks {
			track := motiontest.Simulate(rng, kind.Law(frame, noise), motiontest.Film{Places: c.Frames, Step: frame})
			places := make([]motion.Place, c.Frames)
			for i := range places {
				places[i] = motion.Place{X: track.X[i], Y: track.Y[i], T: track.T[i]}
				if c.Known {
					places[i].Var = noise
				}
			}
			v, _ := judge.Track(places, motion.Options{})
			seen[run][v.Class]++
		}
	})
	var all [motion.Classes]float64
	for _, one := range seen {
		for of, n := range one {
			all[of] += n / float64(c.Runs*c.Tracks)
		}
	}
	c.confuse(&all, classOf[kind])
	return err
}

// confuse fills in the reported classes for tracks of one class.
func (c *Cell) confuse(shares *[motion.Classes]float64, truth motion.Class) {
	c.Right = new(shares[truth])
	most := 0.0
	for of, s := range shares {
		if motion.Class(of) != truth && s > most {
			most, c.Instead, c.Wrongly = s, motion.Class(of).String(), new(s)
		}
	}
}
