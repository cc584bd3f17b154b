package sdevae

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// findMovers learns the shapes of n movers from the given frames; next to nothing of them once ctx is done.
func findMovers(ctx context.Context, c *Clip, frames []int, n int, rng *rand.Rand) *movers {
	m := newMovers(c)
	frames = spread(frames, max(leastFrames, min(moverFrames, moverPixels/(c.Height*c.Width))))
	m.still = m.spectra(c.median(frames))
	var best *movers
	least := math.Inf(1)
	for range moverGuesses {
		guess := m.anew()
		if left := guess.learn(ctx, c, frames, n, rng); left < least {
			best, least = guess, left
		}
	}
	if twin := best.twin(); twin != nil {
		copies, moves := m.anew(), m.open(c, frames).energy(m)
		if copies.learnCopies(ctx, c, frames, n, twin) < least+mostOwn*moves {
			return copies
		}
	}
	return best
}

// learn finds the movers one after another, then all together. It gives the energy left.
func (m *movers) learn(ctx context.Context, c *Clip, frames []int, n int, rng *rand.Rand) (left float64) {
	f := m.open(c, frames)
	m.meet(ctx, f, n, rng)
	return m.refine(ctx, f, moverRounds)
}

// meet finds n movers one after another, each in what those before leave.
func (m *movers) meet(ctx context.Context, f *film, n int, rng *rand.Rand) {
	rounds := moverAlone
	if m.faint > 0 {
		rounds = faintRounds
	}
	for k := range n {
		m.shapes, f.place = append(m.shapes, m.guess(f, rng)), append(f.place, make([][2]float64, len(f.left)))
		for round := range until(ctx, rounds) {
			m.find(f, k)
			edge := moverEdge
			if round < rounds/2 {
				edge = moverCore
			}
			m.reshape(f, k, edge)
		}
		m.find(f, k)
		m.add(f, k, -1)
	}
}

// refine finds all movers together, and what is still, from where they are. It gives the energy left.
func (m *movers) refine(ctx context.Context, f *film, rounds int) (left float64) {
	for range until(ctx, rounds) {
		m.round(f, true)
		m.settleStill(f)
	}
	return f.energy(m)
}

// round finds every mover anew in what the others leave, and its shape where that is learnt.
func (m *movers) round(f *film, learn bool) {
	for k := range m.shapes {
		m.add(f, k, 1)
		m.find(f, k)
		if learn {
			m.reshape(f, k, moverEdge)
		}
		m.add(f, k, -1)
	}
}

// guess is one frame's core, or a faint mover's blob.
func (m *movers) guess(f *film, rng *rand.Rand) [][]complex128 {
	if m.faint > 0 {
		return m.blob(m.faint)
	}
	s := make([][]complex128, m.channels)
	for ch, one := range f.left[rng.IntN(len(f.left))] {
		s[ch] = slices.Clone(one)
	}
	m.trim(s, moverCore)
	return s
}
