package sdevae

import (
	"context"
	"math"
	"slices"
)

// A faint mover stands out of no single frame's noise. But it takes small steps, so that the frames before and after say where to look: its
// place is a hidden Markov chain's, by forward and backward passes (Rabiner 1989),
//
//	p(place) ~ exp(Σ left · shape / noise)        a frame's own
//	place' = place + N(0, step² I)                from one frame to the next
//
// and it is put at the mean of what all frames say.
const (
	faintAll    = 1000 << 12 // pixels of frames that are taken together
	faintRounds = 8
	faintStep   = 3.0  // px between frames, to begin with,
	faintLeast  = 0.5  // and at least
	faintMost   = 0.25 // share of the picture that a shape may cover: what covers more is no thing, but the picture as it changes
	faintAbove  = 6.0  // sds of the noise's own scatter above which a pixel is some of a shape
)

// faintWidths are of the first guesses, px.
var faintWidths = []float64{2, 4, 8}

// faintFrames is how many frames are taken together.
func faintFrames(c *Clip) int { return max(leastFrames, faintAll/(c.Height*c.Width)) }

// findFaintMovers learns the shapes of n faint movers from the given frames.
func findFaintMovers(ctx context.Context, c *Clip, frames []int, n int) *movers {
	m := newMovers(c)
	frames = frames[:min(len(frames), faintFrames(c))]
	m.still = m.spectra(c.median(frames))
	var best *movers
	var at *film
	least := math.Inf(1)
	for _, width := range faintWidths {
		guess := m.anew()
		guess.faint = width
		f := guess.open(c, frames)
		guess.meet(ctx, f, n, nil)
		if left := guess.refine(ctx, f, 1); left < least {
			best, at, least = guess, f, left
		}
	}
	best.refine(ctx, at, faintRounds)
	return best
}

// spread is the share of the picture that the largest of the shapes covers.
func (m *movers) spread() (most float64) {
	for k := range m.shapes {
		covered := 0
		for _, some := range m.support(k) {
			if some {
				covered++
			}
		}
		most = max(most, float64(covered)/float64(m.plane.h*m.plane.w))
	}
	return most
}

// blob is a round spot in all channels.
func (m *movers) blob(width float64) [][]complex128 {
	spot := make([]float32, m.plane.h*m.plane.w)
	for i := range spot {
		x, y := math.Remainder(float64(i%m.plane.w), float64(m.plane.w)), math.Remainder(float64(i/m.plane.w), float64(m.plane.h))
		spot[i] = float32(math.Exp(-(x*x + y*y) / (2 * width * width)))
	}
	s := make([][]complex128, m.channels)
	for ch := range s {
		s[ch] = make([]complex128, m.plane.size())
		m.plane.forward(s[ch], spot)
	}
	return s
}

// noisy says of each pixel of a shape (CHW) whether it may be noise, which most of the picture is: Σ v²/sd² of its channels is within
// faintAbove sds of a χ² of as many degrees.
func noisy(shape []float32, area int) []bool {
	channels := float64(len(shape) / area)
	sum := make([]float64, area)
	for one := range slices.Chunk(shape, area) {
		sizes := make([]float64, area)
		for i, v := range one {
			sizes[i] = math.Abs(float64(v))
		}
		slices.Sort(sizes)
		sd := sizes[area/2] / 0.6745 // a normal's median absolute deviation
		for i, v := range one {
			sum[i] += float64(v) * float64(v) / (sd*sd + 1e-300)
		}
	}
	out := make([]bool, area)
	for i, v := range sum {
		out[i] = v < channels+faintAbove*math.Sqrt(2*channels)
	}
	return out
}

// findFaint puts mover k where all frames together have it.
func (m *movers) findFaint(f *film, k int) {
	says := m.likelihoods(f, k)
	c := &chain{plane: m.plane, step: m.stepOf(f, k), sum: m.sum, narrow: make([]float32, m.plane.h*m.plane.w)}
	before := make([][]float64, len(says)) // what the frames before say
	for i := range says {
		if i == 0 {
			before[i] = c.nothing()
		} else {
			before[i] = c.pass(both(before[i-1], says[i-1]), f.since[i])
		}
	}
	after := c.nothing()
	for i := len(says) - 1; i >= 0; i-- {
		here := both(after, says[i])
		f.place[k][i][0], f.place[k][i][1] = m.middle(both(here, before[i]))
		after = c.pass(here, f.since[i]) // to the frame before
	}
}

// likelihoods are what each frame says of where mover k is, at most 1.
func (m *movers) likelihoods(f *film, k int) [][]float64 {
	noise := f.energy(m) / float64(len(f.left)*m.channels*m.plane.h*m.plane.w)
	says := make([][]float64, len(f.left))
	for i, left := range f.left {
		clear(m.sum)
		for ch, s := range m.shapes[k] {
			m.correlate(left[ch], s)
		}
		one := make([]float64, m.plane.h*m.plane.w)
		m.plane.back(one, m.sum)
		most := slices.Max(one)
		for p, v := range one {
			one[p] = math.Exp((v - most) / noise)
		}
		says[i] = one
	}
	return says
}

// stepOf is the root mean square of a step along an axis by where mover k is so far.
func (m *movers) stepOf(f *film, k int) float64 {
	var square, time float64
	for i, since := range f.since {
		if since > 0 {
			now, before := f.place[k][i], f.place[k][i-1]
			x, y := math.Remainder(now[0]-before[0], float64(m.plane.w)), math.Remainder(now[1]-before[1], float64(m.plane.h))
			square, time = square+x*x+y*y, time+since
		}
	}
	if square == 0 { // nowhere yet
		return faintStep
	}
	return max(math.Sqrt(square/time/2), faintLeast)
}
