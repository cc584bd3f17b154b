package sprites

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

const (
	maxOffsets float64 = 5 // tuned sprites.offsets.ratio: ratio of the variance between the trajectories' median pictures to that within them, above which films are equalised
)

// WithoutOffsets returns a copy of the clip in which all trajectories have the same median picture, the mean of their medians. Films of one specimen may differ
// in brightness or grey window, and such a difference is not motion. A single object that lingers may appear in its film's median. So WithoutOffsets first
// locates it, in the given frames, and does not remove it from the film. It returns the clip itself if there is only one trajectory or a short one, or if the
// medians agree.
func WithoutOffsets(c *video.Clip, ctx context.Context, frames []int, seed uint64) *video.Clip {
	films := c.Films()
	own, apart := c.Medians(films)
	if !(apart > maxOffsets) { // case sprites.offsets: films of different brightness, equalised first
		return c
	}
	if m := Find(ctx, c, frames, 1, rand.New(rand.NewPCG(seed, math.MaxUint64))); m.Area() <= numeric.Majority {
		places, _ := m.Track(c, c.Frames())
		if own, apart = m.Remove(c, places).Medians(films); !(apart > maxOffsets) {
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
