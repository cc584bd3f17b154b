package sdevae

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
)

// A picture that changes as a whole may hold more light than a thing that moves over it, and then a search takes the picture for the thing.
// But a thing is at many places, and a picture that changes is few pictures mixed: the first principal ones hold most of it.
const (
	mostCovered   = 0.5  // share of the picture that a shape may cover: what covers more is the picture as it changes
	overPrincipal = 2    // principal pictures that frames are searched without,
	overRounds    = 2    // at first those of the frames, then those of the frames without what was found
	leastOver     = 0.03 // share of what moves that a thing must explain there
)

// traceOver is trace of one thing over a picture that changes as a whole.
func (j *job) traceOver(ctx context.Context, seed uint64) *trail {
	t := findOver(ctx, j.clip, framesOf(j.train), rand.New(rand.NewPCG(seed, math.MaxUint64)))
	if t == nil || t.movers.spread() > mostCovered {
		return nil
	}
	t.left = t.movers.leaves(j.clip, framesOf(j.held), t.places)
	if t.explained = j.share(t.left); !(t.explained >= leastOver) {
		return nil
	}
	return t.lasting(j.clip)
}

// findOver is where one mover is in all frames, learnt from the given ones without their principal pictures; nil where there are none.
func findOver(ctx context.Context, c *Clip, frames []int, rng *rand.Rand) *trail {
	t := new(trail)
	some, bare := spread(frames, moverFrames), c
	for range overRounds {
		rest := c.beyond(bare, some)
		if rest == nil {
			return nil
		}
		t.movers = findMovers(ctx, rest, frames, 1, rng)
		t.places, _ = t.movers.track(rest, rest.frames())
		bare = t.movers.without(c, t.places)
		if ctx.Err() != nil {
			return nil
		}
	}
	t.movers.still = t.movers.spectra(bare.median(some))
	return t
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

// beyond is the clip less what the principal pictures of some frames of bare draw of bare; nil where there are none.
func (c *Clip) beyond(bare *Clip, some []int) *Clip {
	mean, principal := bare.principal(some)
	if principal == nil {
		return nil
	}
	rest, about := *c, vector(make([]float32, c.Size()))
	rest.Pixels = make([]float32, len(c.Pixels))
	for f := range c.Len() {
		left := vector(rest.Frame(f))
		blas32.Copy(vector(c.Frame(f)), left)
		blas32.Axpy(-1, mean, left)
		blas32.Copy(vector(bare.Frame(f)), about)
		blas32.Axpy(-1, mean, about)
		for _, p := range principal {
			blas32.Axpy(-blas32.Dot(about, p)/blas32.Dot(p, p), p, left)
		}
	}
	return &rest
}

// principal are some frames' mean and first principal pictures, at right angles to each other; none where nothing changes.
func (c *Clip) principal(some []int) (mean blas32.Vector, pictures []blas32.Vector) {
	few := &Clip{Channels: c.Channels, Height: c.Height, Width: c.Width, Pixels: c.pick(some), Times: make([]float64, len(some)), Trajectory: make([]uint64, len(some))}
	mean = vector(average(few.Pixels, few.Len(), few.Size()))
	scores, _ := few.components(overPrincipal)
	if scores == nil {
		return mean, nil
	}
	for k := range overPrincipal {
		p := vector(make([]float32, few.Size()))
		for f := range few.Len() { // scores have the mean 0
			blas32.Axpy(float32(scores.At(f, k)), vector(few.Frame(f)), p)
		}
		if blas32.Dot(p, p) > 0 {
			pictures = append(pictures, p)
		}
	}
	return mean, pictures
}

func vector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Data: x, Inc: 1} }
