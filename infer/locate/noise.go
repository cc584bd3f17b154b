package locate

import (
	"math"
	"slices"

	"driftscope/infer/locate/kernel"
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
	lanes         kernel.Lanes
	pixels, other []kernel.Rough
	sizes         []float32
}

// of is the noise of a picture.
func (m *noiseMeter) of(picture kernel.Picture) Noise {
	stride := max(1, int(math.Sqrt(float64(picture.Width*picture.Height)/noisePixels)))
	m.pixels = m.lanes.Roughen(m.pixels[:0], picture, stride)
	m.other = slices.Grow(m.other[:0], len(m.pixels))[:len(m.pixels)]
	m.intoBins(0, len(m.pixels))
	return m.line(m.step())
}

// step is how far apart the picture's levels are: the least difference that the mask sees, 0 where it sees none.
func (m *noiseMeter) step() float64 {
	least := uint32(math.MaxUint32)
	for _, p := range m.pixels {
		least = min(least, math.Float32bits(p.High)-1) // of 0 the largest
	}
	return float64(math.Float32frombits(least + 1))
}

// scatterOf is the sd of numbers of which v are the sizes, by their median; by their mean where more than half are the same, as in pictures of few levels.
// It reorders v.
func scatterOf(lanes kernel.Lanes, v []float32) float64 {
	if m := lanes.Nth(v, len(v)/2); m > 0 {
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
func (m *noiseMeter) line(step float64) Noise {
	var sw, sx, sy, sxx, sxy float64
	least := max(leastNoise, step*step/12) // that of rounding
	for k := range noiseBins {
		from, to := span(k, noiseBins, len(m.pixels))
		bin := m.pixels[from:to]
		if len(bin) < 20 {
			continue
		}
		m.sizes = m.sizes[:0]
		mean := 0.0
		for _, p := range bin {
			m.sizes = append(m.sizes, p.High)
			mean += float64(p.Mean)
		}
		mean /= float64(len(bin))
		sd := scatterOf(m.lanes, m.sizes) / maskNorm
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
