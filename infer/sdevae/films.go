package sdevae

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	leastFilm = 50  // frames that every trajectory must have for its median picture to be told from what moves in it
	mostApart = 5.0 // by which trajectories' median pictures may vary more than what moves in each makes them
)

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

// films are the frames of each trajectory; none where there is but one, or one is short.
func (c *Clip) films() (films [][]int) {
	for f, film := range c.Trajectory {
		if f == 0 || film != c.Trajectory[f-1] {
			films = append(films, nil)
		}
		films[len(films)-1] = append(films[len(films)-1], f)
	}
	if len(films) < 2 || slices.ContainsFunc(films, func(f []int) bool { return len(f) < leastFilm }) {
		return nil
	}
	return films
}

// medians are the films' median pictures, and the variance among them over what the two halves of each make of it, as of Fisher's analysis of
// variance: near 1 where films differ by what moves alone.
func (c *Clip) medians(films [][]int) (own [][]float32, apart float64) {
	var within float64
	for _, frames := range films {
		first, second := c.median(frames[:len(frames)/2]), c.median(frames[len(frames)/2:])
		own = append(own, c.median(frames))
		within += squaredError(first, second) / 4 / float64(len(films))
	}
	if len(own) == 0 {
		return nil, 0
	}
	common := average(slices.Concat(own...), len(own), c.Size())
	for _, picture := range own {
		apart += squaredError(picture, common) / float64(len(films)-1)
	}
	return own, apart / within
}

// median is that of each pixel over frames.
func (c *Clip) median(frames []int) []float32 {
	picture, values := make([]float32, c.Size()), make([]float32, len(frames))
	for i := range picture {
		for k, f := range frames {
			values[k] = c.Frame(f)[i]
		}
		slices.Sort(values)
		picture[i] = values[len(values)/2]
	}
	return picture
}
