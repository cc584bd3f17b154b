package verdict

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// leftDoubted is the largest acceptable share of the persistent energy that the reconstructions lack. A quarter of the energy is half of the amplitude: a
// reconstruction that lacks half of a signal does not follow it, and with a standard error of this size a test has no power. If a share of at least nine tenths
// is missing and a share below a half is excluded, the model reconstructs nothing.
const leftDoubted float64 = 0.25 // tuned verdict.left: share of the persistent energy that reconstructions may miss: half of the amplitude

// evidence judges the share of the persistent signal in held-out pictures that the reconstructions lack. It uses the covariance of consecutive frames, to which
// white noise of any distribution adds nothing:
//
//	left = Σ (x₀ - y₀)(x₁ - y₁) / Σ (x₀ - m)(x₁ - m)
//
// over held-out pairs and pixels, where x is a frame, y its reconstruction and m the mean picture of all n other frames. Both sums are corrected for the noise
// of a mean of n frames, Σ (x₁ - x₀)²/2n. nothing reports that the reconstructions are no better than m.
func (c *Case) evidence() (f Finding, nothing bool) {
	lasts, left, chance := c.lasting()
	if !(floats.Sum(lasts) > distuv.UnitNormal.Quantile(1-Doubted)*chance) {
		return Finding{Doubt, "the test frames have too little persistent signal to distinguish it from noise", c.try("give a longer film, or crop closer to the moving object", "give a longer film")}, false
	}
	s := shareOf(left, lasts, blocksOf(firsts(c.Held), false))
	amount := percent(min(1, 1-s.Value), s.Error) // chance may make it exceed 1
	switch {
	case s.Value >= agreement && s.Low > numeric.Majority:
		return Finding{Bad, "the reconstructions explain " + amount + " of the persistent signal in test frames: the model tracks nothing",
			c.try("crop closer to the moving object, give a longer clip, a smaller tau or another seed", "follow the objects without a model, or give a longer film")}, true
	case !(s.Error < leftDoubted):
		return Finding{Doubt, "the test frames do not show how much of the persistent signal the reconstructions explain: " + amount, c.try("give a longer film, and leave --keep-light out", "give a longer film")}, false
	case s.Value > leftDoubted:
		return Finding{Doubt, "the reconstructions explain only " + amount + " of the persistent signal in test frames", c.try("try more latents, or crop closer to the object", "try more latents")}, false
	}
	return Finding{Level: Good, Reason: "the reconstructions explain " + amount + " of the persistent signal in test frames"}, false
}

// lasting returns two products for each held-out pair, summed over pixels: lasts of the two frames' deviations from the mean picture, left of their deviations
// from the reconstructions. chance is the standard deviation of the sum of lasts for pure white noise: √(pairs Σ v²), where v is a pixel's variance.
func (c *Case) lasting() (lasts, left []float64, chance float64) {
	clip := c.Clip
	frames := video.FramesOf(c.Held)
	others := without(clip.Len(), frames)
	mean := meanOf(clip, others)
	rows, size := video.RowsOf(frames, c.Held), clip.Size()
	variance := make([]float64, size)
	for k, p := range c.Held {
		x0, x1 := clip.Frame(p.First), clip.Frame(p.First+1)
		y0, y1 := c.Drawn[rows[k][0]*size:][:size], c.Drawn[rows[k][1]*size:][:size]
		var there, off, noise float64
		for i, m := range mean {
			there += float64(x0[i]-m) * float64(x1[i]-m)
			off += float64(x0[i]-y0[i]) * float64(x1[i]-y1[i])
			v := square(float64(x1[i]-x0[i])) / 2
			noise += v
			variance[i] += v / float64(len(c.Held))
		}
		noise /= float64(len(others))
		lasts, left = append(lasts, there-noise), append(left, off-noise)
	}
	return lasts, left, math.Sqrt(float64(len(c.Held)) * floats.Dot(variance, variance))
}

// meanOf returns the mean picture of some frames.
func meanOf(clip *video.Clip, frames []int) []float32 {
	sum := make([]float64, clip.Size())
	for _, f := range frames {
		for i, v := range clip.Frame(f) {
			sum[i] += float64(v) / float64(len(frames))
		}
	}
	return numeric.Float32s(sum)
}
