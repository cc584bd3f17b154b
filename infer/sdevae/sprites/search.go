package sprites

import (
	"context"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"math"
	"math/rand/v2"
	"slices"
)

// findMovers learns the shapes of n movers from the given frames; next to nothing of them once ctx is done.
func Find(ctx context.Context, c *video.Clip, frames []int, n int, rng *rand.Rand) *Set {
	m := New(c)
	frames = numeric.Spread(frames, max(leastFrames, min(searchFrames, searchPixels/(c.Height*c.Width))))
	m.Background = m.Spectra(c.Median(frames))
	var best *Set
	least := math.Inf(1)
	for range searchGuesses {
		guess := m.copy()
		if left := guess.learn(ctx, c, frames, n, rng); left < least {
			best, least = guess, left
		}
	}
	if twin := best.commonTemplate(); twin != nil {
		copies, moves := m.copy(), m.Residual(c, frames).Energy(m)
		if copies.learnShared(ctx, c, frames, n, twin) < least+maxOwnShare*moves {
			return copies
		}
	}
	return best
}

// learn finds the movers one after another, then all together. It gives the energy left.
func (m *Set) learn(ctx context.Context, c *video.Clip, frames []int, n int, rng *rand.Rand) (left float64) {
	f := m.Residual(c, frames)
	m.findInTurn(ctx, f, n, rng)
	return m.refine(ctx, f, jointRounds)
}

// meet finds n movers one after another, each in what those before leave.
func (m *Set) findInTurn(ctx context.Context, f *Residual, n int, rng *rand.Rand) {
	rounds := aloneRounds
	if m.LowSNR > 0 {
		rounds = lowSNRRounds
	}
	for k := range n {
		m.Templates, f.place = append(m.Templates, m.firstTemplate(f, rng)), append(f.place, make([][2]float64, len(f.left)))
		for round := range numeric.Rounds(ctx, rounds) {
			m.locate(f, k)
			edge := templateEdge
			if round < rounds/2 {
				edge = coreEdge
			}
			m.updateTemplate(f, k, edge)
		}
		m.locate(f, k)
		m.add(f, k, -1)
	}
}

// refine finds all movers together, and what is still, from where they are. It gives the energy left.
func (m *Set) refine(ctx context.Context, f *Residual, rounds int) (left float64) {
	for range numeric.Rounds(ctx, rounds) {
		m.round(f, true)
		m.updateBackground(f)
	}
	return f.Energy(m)
}

// round finds every mover anew in what the others leave, and its shape where that is learnt.
func (m *Set) round(f *Residual, learn bool) {
	for k := range m.Templates {
		m.add(f, k, 1)
		m.locate(f, k)
		if learn {
			m.updateTemplate(f, k, templateEdge)
		}
		m.add(f, k, -1)
	}
}

// guess is one frame's core, or a faint mover's blob.
func (m *Set) firstTemplate(f *Residual, rng *rand.Rand) [][]complex128 {
	if m.LowSNR > 0 {
		return m.Gaussian(m.LowSNR)
	}
	s := make([][]complex128, m.channels)
	for ch, one := range f.left[rng.IntN(len(f.left))] {
		s[ch] = slices.Clone(one)
	}
	m.trim(s, coreEdge)
	return s
}
