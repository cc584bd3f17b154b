// Templates
//
// A clip is modelled as a background and templates sₖ that move without changing, at positions pₖ in every frame. Find fits them in turn (Jojic and Frey 2001),
// so that
//
//	Σ over frames of |x - background - Σₖ sₖ(· - pₖ)|²
//
// becomes small. In a spectrum a shift is a factor, so one correlation finds the best position. Pictures wrap around. Positions are x and y in pixels,
// interpolated between pixels by a parabola.

package sprites

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Find learns a background and the templates of n sprites from the given frames. If ctx is done, it returns the result so far.
func Find(ctx context.Context, c *video.Clip, frames []int, n int, rng *rand.Rand) *Set {
	m := New(c)
	frames = searched(c, frames)
	m.Background = m.Spectra(c.Median(frames))
	var best *Set
	least := math.Inf(1)
	for range searchGuesses {
		guess := m.copy()
		if left := guess.learn(ctx, c, frames, n, rng); left < least {
			best, least = guess, left
		}
	}
	if common := best.commonTemplate(); common != nil { // case sprites.shared: several sprites with one template; separate templates fit saturation and may explain share.small more
		copies, moves := m.copy(), m.Residual(c, frames).Energy(m)
		if copies.learnShared(ctx, c, frames, n, common) < least+numeric.SmallShare*moves {
			return copies
		}
	}
	return best
}

// searched returns the frames from which templates are learnt.
func searched(c *video.Clip, frames []int) []int {
	return numeric.Spread(frames, max(numeric.LongFilm, min(searchFrames, searchPixels/(c.Height*c.Width))))
}

// learn locates the sprites one by one, then all together, and returns the residual energy.
func (m *Set) learn(ctx context.Context, c *video.Clip, frames []int, n int, rng *rand.Rand) (left float64) {
	f := m.Residual(c, frames)
	m.findInTurn(ctx, f, n, rng)
	return m.refine(ctx, f, jointRounds)
}

// findInTurn locates n sprites one by one, each in the residual of the previous ones.
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

// refine improves all sprites and the background together, and returns the residual energy.
func (m *Set) refine(ctx context.Context, f *Residual, rounds int) (left float64) {
	for range numeric.Rounds(ctx, rounds) {
		m.round(f, true)
		m.updateBackground(f)
	}
	return f.Energy(m)
}

// round locates every sprite again in the residual of the others, and updates its template if learn is true.
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

// firstTemplate returns the core of a random frame's residual, or a Gaussian at low SNR.
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
