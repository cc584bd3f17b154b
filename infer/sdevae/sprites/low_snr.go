package sprites

import (
	"context"
	"math"
	"slices"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// At low SNR a sprite is invisible in single frames. But it takes small steps, so neighbouring frames narrow the search. Its position is the state of a hidden
// Markov chain, estimated by forward and backward passes (Rabiner 1989):
//
//	p(place) ~ exp(Σ residual · template / noise)    of one frame
//	place' = place + N(0, step² I)                   from one frame to the next
//
// The estimate is the posterior mean.
const (
	lowSNRPixels = 1000 << 12 // total number of pixels in frames that are solved together
	lowSNRRounds = 8
	firstStep    = 3.0 // initial guess of the step between frames, px
)

const (
	minStep         float64 = 0.5 // tuned sprites.minStep: px per frame, at least: a more certain chain never leaves a wrong position
	minSignificance float64 = 6   // tuned sprites.significance: sd above the expected χ² from which a pixel belongs to a template: no pixel of a picture reaches it by chance
)

// gaussianWidths lists the widths of the initial templates, px.
var gaussianWidths = []float64{2, 4, 8}

// lowSNRFrames returns the number of frames that are solved together.
func lowSNRFrames(c *video.Clip) int {
	return max(numeric.LongFilm, lowSNRPixels/(c.Height*c.Width))
}

// FindLowSNR learns the templates of n sprites that are invisible in single frames.
func FindLowSNR(ctx context.Context, c *video.Clip, frames []int, n int) *Set {
	m := New(c)
	frames = frames[:min(len(frames), lowSNRFrames(c))]
	m.Background = m.Spectra(c.Median(frames))
	var best *Set
	var at *Residual
	least := math.Inf(1)
	for _, width := range gaussianWidths {
		guess := m.copy()
		guess.LowSNR = width
		f := guess.Residual(c, frames)
		guess.findInTurn(ctx, f, n, nil)
		if left := guess.refine(ctx, f, 1); left < least {
			best, at, least = guess, f, left
		}
	}
	best.refine(ctx, at, lowSNRRounds)
	return best
}

// Area returns the share of the picture that the largest template covers.
func (m *Set) Area() (most float64) {
	for k := range m.Templates {
		covered := 0
		for _, some := range m.support(k) {
			if some {
				covered++
			}
		}
		most = max(most, float64(covered)/float64(m.plane.H*m.plane.W))
	}
	return most
}

// Gaussian returns the spectra of a round spot in all channels, whose standard deviation is width px.
func (m *Set) Gaussian(width float64) [][]complex128 {
	spot := make([]float32, m.plane.H*m.plane.W)
	for i := range spot {
		x, y := math.Remainder(float64(i%m.plane.W), float64(m.plane.W)), math.Remainder(float64(i/m.plane.W), float64(m.plane.H))
		spot[i] = float32(math.Exp(-(x*x + y*y) / (2 * width * width)))
	}
	s := make([][]complex128, m.channels)
	for ch := range s {
		s[ch] = make([]complex128, m.plane.Size())
		m.plane.Forward(s[ch], spot)
	}
	return s
}

// insignificant reports for each pixel of a template (CHW) whether it may be noise, like most of the picture. It may be if Σ v²/sd² over its channels is less
// than minSignificance standard deviations above the mean of a χ² with one degree of freedom per channel.
func insignificant(shape []float32, area int) []bool {
	channels := float64(len(shape) / area)
	sum := make([]float64, area)
	for one := range slices.Chunk(shape, area) {
		sizes := make([]float64, area)
		for i, v := range one {
			sizes[i] = math.Abs(float64(v))
		}
		sd := numeric.NormalSD(sizes, 1)
		for i, v := range one {
			sum[i] += float64(v) * float64(v) / (sd*sd + 1e-300)
		}
	}
	out := make([]bool, area)
	for i, v := range sum {
		out[i] = v < channels+minSignificance*math.Sqrt(2*channels)
	}
	return out
}

// locateLowSNR estimates the positions of sprite k from all frames together.
func (m *Set) locateLowSNR(f *Residual, k int) {
	says := m.likelihoods(f, k)
	c := &motionPrior{plane: m.plane, step: m.stepSize(f, k), sum: m.sum, scratch: make([]float32, m.plane.H*m.plane.W)}
	before := make([][]float64, len(says)) // forward messages from earlier frames
	for i := range says {
		if i == 0 {
			before[i] = c.uniform()
		} else {
			before[i] = c.predict(combine(before[i-1], says[i-1]), f.intervals[i])
		}
	}
	after := c.uniform()
	for i := len(says) - 1; i >= 0; i-- {
		here := combine(after, says[i])
		f.place[k][i][0], f.place[k][i][1] = m.centre(combine(here, before[i]))
		after = c.predict(here, f.intervals[i]) // backward message to the previous frame
	}
}

// likelihoods returns the likelihoods of sprite k's position given each single frame, scaled to a maximum of 1.
func (m *Set) likelihoods(f *Residual, k int) [][]float64 {
	noise := f.Energy(m) / float64(len(f.left)*m.channels*m.plane.H*m.plane.W)
	says := make([][]float64, len(f.left))
	for i, left := range f.left {
		clear(m.sum)
		for ch, s := range m.Templates[k] {
			m.correlate(left[ch], s)
		}
		one := make([]float64, m.plane.H*m.plane.W)
		m.plane.Inverse(one, m.sum)
		most := slices.Max(one)
		for p, v := range one {
			one[p] = math.Exp((v - most) / noise)
		}
		says[i] = one
	}
	return says
}

// stepSize returns the root mean square of a step along an axis, from the current positions of sprite k.
func (m *Set) stepSize(f *Residual, k int) float64 {
	var square, time float64
	for i, since := range f.intervals {
		if since > 0 {
			now, before := f.place[k][i], f.place[k][i-1]
			x, y := math.Remainder(now[0]-before[0], float64(m.plane.W)), math.Remainder(now[1]-before[1], float64(m.plane.H))
			square, time = square+x*x+y*y, time+since
		}
	}
	if square == 0 { // no positions yet
		return firstStep
	}
	return max(math.Sqrt(square/time/2), minStep)
}
