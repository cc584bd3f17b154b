package sprites

import (
	"context"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"math"
	"math/rand/v2"
	"slices"
)

// mostApart is the factor by which trajectories' median pictures may vary more than what moves in each makes them.
const MaxOffsets = 5.0

// leveled is a copy of the clip in which the median pictures of all trajectories are the same, their mean, where they are not alike: films of one
// specimen may each be brighter, or have a grey window of their own, and that is no motion. What a single thing adds to a film's median, where it
// lingers, is left in, so it is looked for first, in the given frames. A clip of one trajectory, or with a short one, is returned as it is.
func WithoutOffsets(c *video.Clip, ctx context.Context, frames []int, seed uint64) *video.Clip {
	films := c.Films()
	own, apart := c.Medians(films)
	if !(apart > MaxOffsets) {
		return c
	}
	if m := Find(ctx, c, frames, 1, rand.New(rand.NewPCG(seed, math.MaxUint64))); m.Area() <= MaxArea {
		places, _ := m.Track(c, c.Frames())
		if own, apart = m.Remove(c, places).Medians(films); !(apart > MaxOffsets) {
			return c
		}
	}
	level := *c
	level.Pixels = slices.Clone(c.Pixels)
	common := numeric.MeanRow(slices.Concat(own...), len(own), c.Size())
	for film, frames := range films {
		for _, f := range frames {
			for i, v := range own[film] {
				level.Frame(f)[i] += common[i] - v
			}
		}
	}
	return &level
}
