package locate

import (
	"math"
	"slices"

	"driftscope/internal/order"
)

// The noise is estimated from pixels high-passed by the mask (1 -2 1)' (1 -2 1), which sees neither a slope nor, but for a little, a spot
// (Immerkær 1996). Pixels are sorted into bins by their local mean, and a line through the bins' variances gives read and gain.
const (
	noisePixels = 10000  // that are looked at, about
	noiseBins   = 12     // of local means, of equal counts
	maskNorm    = 6      // sd of the high-passed noise over that of the noise
	mad         = 0.6745 // a normal's median absolute deviation, in sds
	leastNoise  = 1e-12  // variance, of pictures without any noise
)

// Noise is that of a camera: the variance of a pixel of some mean is Read + Gain · mean.
type Noise struct {
	Read, Gain float64
}

// At is the variance at a mean.
func (n Noise) At(mean float64) float64 { return max(n.Read+n.Gain*mean, n.Floor()) }

// Floor is the least variance that is believed.
func (n Noise) Floor() float64 { return max(leastNoise, 1e-3*math.Abs(n.Read)) }

// noiseMeter estimates the noise of a camera from single pictures.
type noiseMeter struct {
	h, w          int
	pixels, other []noisePixel
	sizes         []float32
}

type noisePixel struct{ mean, high float32 }

func newNoiseMeter(h, w int) *noiseMeter { return &noiseMeter{h: h, w: w} }

// of is the noise of a picture.
func (m *noiseMeter) of(picture []float32) Noise {
	stride := max(1, int(math.Sqrt(float64(m.h*m.w)/noisePixels)))
	m.pixels = m.pixels[:0]
	for y := 1; y+1 < m.h; y += stride {
		up, here, down := picture[(y-1)*m.w:y*m.w], picture[y*m.w:(y+1)*m.w], picture[(y+1)*m.w:(y+2)*m.w]
		for x := 1; x+1 < m.w; x += stride {
			corners := up[x-1] + up[x+1] + down[x-1] + down[x+1]
			sides := up[x] + down[x] + here[x-1] + here[x+1]
			high := corners - 2*sides + 4*here[x]
			m.pixels = append(m.pixels, noisePixel{(corners + sides + here[x]) / 9, max(high, -high)})
		}
	}
	m.other = slices.Grow(m.other[:0], len(m.pixels))[:len(m.pixels)]
	return m.line(sortByMean(m.pixels, m.other), m.step())
}

// step is how far apart the picture's levels are: the least difference that the mask sees.
func (m *noiseMeter) step() float64 {
	least := math.Inf(1)
	for _, p := range m.pixels {
		if v := float64(p.high); v > 0 && v < least {
			least = v
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// scatterOf is the sd of numbers of which v are the sizes, by their median; by their mean where more than half are the same, as in pictures of few levels.
// It reorders v.
func scatterOf(v []float32) float64 {
	if m := order.Median(v); m > 0 {
		return float64(m) / mad
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	return sum / float64(len(v)) * math.Sqrt(math.Pi/2)
}

// line is the least-squares line of bins' variances over their means, each weighed by the inverse square of its variance, since a variance of so many
// pixels is known to a share of itself. A gain below zero is none. Levels are a step apart, 0 where they are any.
func (m *noiseMeter) line(pixels []noisePixel, step float64) Noise {
	var sw, sx, sy, sxx, sxy float64
	least := max(leastNoise, step*step/12) // that of rounding
	for k := range noiseBins {
		from, to := span(k, noiseBins, len(pixels))
		bin := pixels[from:to]
		if len(bin) < 20 {
			continue
		}
		m.sizes = m.sizes[:0]
		mean := 0.0
		for _, p := range bin {
			m.sizes = append(m.sizes, p.high)
			mean += float64(p.mean) / float64(len(bin))
		}
		sd := scatterOf(m.sizes) / maskNorm
		v := max(sd*sd, least)
		w := 1 / (v * v)
		sw, sx, sy, sxx, sxy = sw+w, sx+w*mean, sy+w*v, sxx+w*mean*mean, sxy+w*mean*v
	}
	if sw == 0 {
		return Noise{Read: leastNoise}
	}
	d := sw*sxx - sx*sx
	gain := 0.0
	if d > 1e-9*sw*sxx {
		gain = max(0, (sw*sxy-sx*sy)/d)
	}
	return Noise{Read: (sy - gain*sx) / sw, Gain: gain}
}
