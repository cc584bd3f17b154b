package locate

import (
	"math"
	"slices"

	"driftscope/infer/locate/kernel"
)

// The noise is estimated after a high-pass by the mask (1 -2 1)' (1 -2 1), which removes slopes and almost all of a spot (Immerkær 1996). Pixels are sorted
// into bins by their local mean. A line through the bins' variances gives Read and Gain.
const (
	noisePixels = 10000  // approximate number of pixels in the sample
	noiseBins   = 12     // bins of local means, with equal counts
	maskNorm    = 6      // ratio of the sds of the high-passed and the original noise
	mad         = 0.6745 // median absolute deviation of a normal law, in sds
	leastNoise  = 1e-12  // variance assumed for pictures without noise
)

// Noise is the noise of a camera: a pixel with a given mean has the variance Read + Gain · mean.
type Noise struct {
	Read, Gain float64
}

// At returns the variance of a pixel with the given mean.
func (n Noise) At(mean float64) float64 { return max(n.Read+n.Gain*mean, n.Floor()) }

// Floor returns the smallest credible variance.
func (n Noise) Floor() float64 { return max(leastNoise, 1e-3*math.Abs(n.Read)) }

// noiseMeter estimates the noise of a camera from single pictures.
type noiseMeter struct {
	lanes         kernel.Lanes
	pixels, other []kernel.Rough
	sizes         []float32
}

// of returns the noise of a picture.
func (m *noiseMeter) of(picture kernel.Picture) Noise {
	stride := max(1, int(math.Sqrt(float64(picture.Width*picture.Height)/noisePixels)))
	m.pixels = m.lanes.Roughen(m.pixels[:0], picture, stride)
	m.other = slices.Grow(m.other[:0], len(m.pixels))[:len(m.pixels)]
	m.intoBins(0, len(m.pixels))
	return m.line(m.step())
}

// step returns the spacing of the picture's grey levels, taken as the smallest non-zero value after the mask, or 0 if all are 0.
func (m *noiseMeter) step() float64 {
	least := uint32(math.MaxUint32)
	for _, p := range m.pixels {
		least = min(least, math.Float32bits(p.High)-1) // 0 wraps round to the largest
	}
	return float64(math.Float32frombits(least + 1))
}

// scatterOf estimates the sd of numbers from the median of their absolute values v. If the median is 0, as in pictures with few levels, it uses the mean. It
// reorders v.
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

// line fits a line to the bins' variances as a function of their means, by least squares. Each weight is the inverse square of the variance, because the error
// of a variance is proportional to it. A negative gain becomes 0. step is the spacing of the grey levels, 0 if they are continuous.
func (m *noiseMeter) line(step float64) Noise {
	var sw, sx, sy, sxx, sxy float64
	least := max(leastNoise, step*step/12) // the variance of rounding
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
