package sdevae

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// mostApart is the factor by which trajectories' median pictures may vary more than what moves in each makes them.
const mostApart = 5.0

// leveled is a copy of the clip in which the median pictures of all trajectories are the same, their mean, where they are not alike: films of one
// specimen may each be brighter, or have a grey window of their own, and that is no motion. What a single thing adds to a film's median, where it
// lingers, is left in, so it is looked for first, in the given frames. A clip of one trajectory, or with a short one, is returned as it is.
func (c *Clip) leveled(ctx context.Context, frames []int, seed uint64) *Clip {
	films := c.films()
	own, apart := c.medians(films)
	if !(apart > mostApart) {
		return c
	}
	if m := findMovers(ctx, c, frames, 1, rand.New(rand.NewPCG(seed, math.MaxUint64))); m.spread() <= mostCovered {
		places, _ := m.track(c, c.frames())
		if own, apart = m.without(c, places).medians(films); !(apart > mostApart) {
			return c
		}
	}
	level := *c
	level.Pixels = slices.Clone(c.Pixels)
	common := average(slices.Concat(own...), len(own), c.Size())
	for film, frames := range films {
		for _, f := range frames {
			for i, v := range own[film] {
				level.Frame(f)[i] += common[i] - v
			}
		}
	}
	return &level
}
