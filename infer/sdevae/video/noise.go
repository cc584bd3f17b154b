package video

import (
	"math"

	"driftscope/infer/sdevae/numeric"
)

// Differences returns the difference between the two frames of each pair, divided by √2. This is approximately the noise of one frame, because little moves
// between the frames.
func (c *Clip) Differences(pairs []Pair) []float32 {
	noise := make([]float32, 0, len(pairs)*c.Size())
	for _, p := range pairs {
		first, second := c.Frame(p.First), c.Frame(p.First+1)
		for i, v := range first {
			noise = append(noise, (second[i]-v)/math.Sqrt2)
		}
	}
	return noise
}

// Roll shifts a picture by x and y, and wraps around its edges.
func (c *Clip) Roll(dst, picture []float32, x, y int) {
	area := c.Height * c.Width
	for i := range dst {
		row, column := (i%area/c.Width+y)%c.Height, (i%c.Width+x)%c.Width
		dst[i] = picture[i/area*area+row*c.Width+column]
	}
}

// noisePairs is the number of pairs used to estimate the noise.
const noisePairs = 50

// Noise returns the part of Energy that is pixel noise, independent from frame to frame. It uses the median difference between consecutive frames, to which
// motion contributes little. The median assumes a normal distribution. If noise dominates, Noise instead returns all energy that does not persist, because the
// median is then too inexact.
func (c *Clip) Noise() float64 {
	energy, noise := c.Energy(), c.flicker()
	if noise > energy/2 {
		noise = energy - c.lasting()
	}
	return min(noise, energy)
}

// Moving returns the share of Energy that is motion, not noise.
func (c *Clip) Moving() float64 { return 1 - c.Noise()/c.Energy() }

// flicker returns the energy of the normal noise whose median frame-to-frame difference equals the clip's.
func (c *Clip) flicker() float64 {
	var differences []float64
	for _, p := range numeric.Spread(c.Pairs(c.MaxGap()), noisePairs) {
		second := c.Frame(p.First + 1)
		for i, v := range c.Frame(p.First) {
			differences = append(differences, math.Abs(float64(v-second[i])))
		}
	}
	if len(differences) == 0 {
		return 0
	}
	sd := numeric.NormalSD(differences, math.Sqrt2)
	return sd * sd * float64(c.Size())
}

// LastingNats returns the gain in log-likelihood from the persistent signal over the mean picture, nats per frame: |x - mean|² / 2σ², where σ² is the pixels'
// noise.
func (c *Clip) LastingNats() float64 {
	noise := c.flicker() / float64(c.Size())
	if noise == 0 {
		return math.Inf(1)
	}
	return c.lasting() / (2 * noise)
}

// lasting returns the covariance of consecutive frames, summed over pixels. White noise of any distribution adds nothing to it, so it is the motion except for
// what changes from frame to frame. The result is at least the standard error due to noise.
func (c *Clip) lasting() float64 {
	mean := numeric.MeanRow(c.Pixels, c.Len(), c.Size())
	variance, pairs := make([]float64, c.Size()), c.Pairs(c.MaxGap())
	n, sum, white := float64(len(pairs)), 0.0, 0.0
	for _, p := range pairs {
		second := c.Frame(p.First + 1)
		for i, v := range c.Frame(p.First) {
			a, b := float64(v-mean[i]), float64(second[i]-mean[i])
			sum += a*b/n + a*a/(n*n) // the second term corrects for the error of the mean
			variance[i] += a * a / n
		}
	}
	for _, v := range variance {
		white += v * v / n
	}
	return max(sum, math.Sqrt(white))
}

// Energy returns the energy to explain: the mean over frames of |x - mean picture|², summed over pixels.
func (c *Clip) Energy() float64 {
	mean := make([]float64, c.Size())
	for i := range c.Len() {
		for p, v := range c.Frame(i) {
			mean[p] += float64(v) / float64(c.Len())
		}
	}
	var sum float64
	for i := range c.Len() {
		for p, v := range c.Frame(i) {
			d := float64(v) - mean[p]
			sum += d * d
		}
	}
	return sum / float64(c.Len())
}
