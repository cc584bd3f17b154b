package sprites

import (
	"context"
	"driftscope/infer/sdevae/video"
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
	lowSNRPixels    = 1000 << 12 // pixels of frames that are taken together
	lowSNRRounds    = 8
	firstStep       = 3.0  // px between frames, to begin with,
	minStep         = 0.5  // and at least
	MaxLowSNRArea   = 0.25 // share of the picture that a shape may cover: what covers more is no thing, but the picture as it changes
	minSignificance = 6.0  // sds of the noise's own scatter above which a pixel is some of a shape
)

// faintWidths are of the first guesses, px.
var gaussianWidths = []float64{2, 4, 8}

// faintFrames is how many frames are taken together.
func lowSNRFrames(c *video.Clip) int { return max(leastFrames, lowSNRPixels/(c.Height*c.Width)) }

// findFaintMovers learns the shapes of n faint movers from the given frames.
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

// spread is the share of the picture that the largest of the shapes covers.
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

// blob is a round spot in all channels.
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

// noisy says of each pixel of a shape (CHW) whether it may be noise, which most of the picture is: Σ v²/sd² of its channels is within
// faintAbove sds of a χ² of as many degrees.
func insignificant(shape []float32, area int) []bool {
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
		out[i] = v < channels+minSignificance*math.Sqrt(2*channels)
	}
	return out
}

// findFaint puts mover k where all frames together have it.
func (m *Set) locateLowSNR(f *Residual, k int) {
	says := m.likelihoods(f, k)
	c := &motionPrior{plane: m.plane, step: m.stepSize(f, k), sum: m.sum, scratch: make([]float32, m.plane.H*m.plane.W)}
	before := make([][]float64, len(says)) // what the frames before say
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
		after = c.predict(here, f.intervals[i]) // to the frame before
	}
}

// likelihoods are what each frame says of where mover k is, at most 1.
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

// stepOf is the root mean square of a step along an axis by where mover k is so far.
func (m *Set) stepSize(f *Residual, k int) float64 {
	var square, time float64
	for i, since := range f.intervals {
		if since > 0 {
			now, before := f.place[k][i], f.place[k][i-1]
			x, y := math.Remainder(now[0]-before[0], float64(m.plane.W)), math.Remainder(now[1]-before[1], float64(m.plane.H))
			square, time = square+x*x+y*y, time+since
		}
	}
	if square == 0 { // nowhere yet
		return firstStep
	}
	return max(math.Sqrt(square/time/2), minStep)
}
