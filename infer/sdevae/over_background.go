package sdevae

import (
	"context"
	"math/rand/v2"
)

// A picture that changes as a whole may hold more light than a thing that moves over it, and then a search takes the picture for the thing.
// But a thing is at many places, and a picture that changes is few pictures mixed: the first principal ones hold most of it.
const (
	mostCovered = 0.5 // share of the picture that a shape may cover: what covers more is the picture as it changes
	overRounds  = 2   // of principal pictures: those of the frames, then those of the frames without the sprite
)

// findOver locates one sprite in all frames, x and y of each, learnt from the given ones without their principal pictures; nil where there are none.
func findOver(ctx context.Context, c *Clip, frames []int, rng *rand.Rand) (m *movers, places []float64) {
	some, bare := spread(frames, moverFrames), c
	for range overRounds {
		rest := c.beyond(bare, some)
		if rest == nil {
			return nil, nil
		}
		m = findMovers(ctx, rest, frames, 1, rng)
		places, _ = m.track(rest, rest.frames())
		bare = m.without(c, places)
		if ctx.Err() != nil {
			return nil, nil
		}
	}
	m.still = m.spectra(bare.median(some))
	return m, places
}

// leaves is the mean energy left of the given frames by a single mover; places are of all frames.
func (m *movers) leaves(c *Clip, frames []int, places []float64) float64 {
	var at []float64
	for _, f := range frames {
		at = append(at, places[2*f:2*f+2]...)
	}
	drawn := make([]float32, len(frames)*c.Size())
	m.draw(drawn, at, len(frames))
	return squaredError(c.pick(frames), drawn) / float64(len(frames))
}
