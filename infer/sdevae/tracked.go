package sdevae

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sprites"
	"driftscope/infer/sdevae/video"
)

// tracked holds the objects of a clip that were located before the training, as latents of variance 1. First come x and y of each sprite, then the latents of a
// dynamic background or of a single sprite's changes. A low-rank picture has its latents instead of sprites.
type tracked struct {
	sprites    *sprites.Set
	deforming  *sprites.Deforming // the single sprite if its light changes, otherwise nil
	scores     []float64          // scores of its modes, frames × modes: the first ones are latents, the others are fixed per frame
	looks      *sprites.Looks     // looks of the single sprite in the training frames, while synthetic frames are rendered; otherwise nil
	lowRank    *video.LowRank     // instead of sprites, if the picture changes as a whole under noise
	background *dynamicBackground // behind a single sprite; nil if the background is a still picture
	left       float64            // unexplained energy per held-out frame
	explained  float64            // explained share of the motion in held-out frames
	places     []float64          // frames × 2 per sprite, px
	mean, sd   []float64          // mean and sd of the positions, px, and of the further latents
	z          []float32          // frames × latents
}

// standardise sets z from latents, frames × d. It returns false if a latent is constant.
func (t *tracked) standardise(latents []float64, d int) bool {
	t.z, t.mean, t.sd = make([]float32, len(latents)), make([]float64, d), make([]float64, d)
	axis := make([]float64, len(latents)/d)
	for i := range d {
		for k := range axis {
			axis[k] = latents[k*d+i]
		}
		t.mean[i], t.sd[i] = stat.MeanStdDev(axis, nil)
		if !(t.sd[i] > 0) {
			return false
		}
		for k, v := range axis {
			t.z[k*d+i] = float32((v - t.mean[i]) / t.sd[i])
		}
	}
	return true
}

// pad adds constant latents, up to a total of d.
func (t *tracked) pad(d int) {
	live := len(t.mean)
	z := make([]float32, len(t.z)/live*d)
	for k := range len(t.z) / live {
		copy(z[k*d:], t.z[k*live:(k+1)*live])
	}
	t.z, t.mean, t.sd = z, append(t.mean, make([]float64, d-live)...), append(t.sd, make([]float64, d-live)...)
}

// mutedScale is the factor on a padding latent's initial weights. The latent then varies less than any motion, but not by exactly zero, which would cause a
// division by zero.
const mutedScale = 1e-7

// mutePadding sets the weights of padding latents so that they depend on a frame by almost nothing and do not affect the reconstruction, until training changes
// them.
func (t *tracked) mutePadding(m *network.Model) {
	seed := len(m.SeedB)
	for i, sd := range t.sd {
		if sd > 0 {
			continue
		}
		clear(m.SeedW[i*seed : (i+1)*seed])
		m.MeanB[i] = 0
		for k := i; k < len(m.MeanW); k += m.Dim {
			m.MeanW[k] *= mutedScale
		}
	}
}

// independent reports whether each sprite moves on its own. Its positions must persist from frame to frame, and its steps must not correlate with another
// sprite's steps.
func (t *tracked) independent(pairs []video.Pair) bool {
	d := 2 * len(t.sprites.Templates)
	steps := mat.NewDense(len(pairs), d, nil)
	for k, p := range pairs {
		for i := range d {
			steps.Set(k, i, float64(t.z[(p.First+1)*d+i]-t.z[p.First*d+i]))
		}
	}
	for i := range d {
		step := mat.Col(nil, i, steps)
		if stat.Variance(step, nil) > 1 { // at least half of the motion does not persist
			return false
		}
		for other := range i - i%2 {
			if math.Abs(stat.Correlation(step, mat.Col(nil, other, steps), nil)) > numeric.Majority { // the two are parts of one object
				return false
			}
		}
	}
	return true
}

// posteriors returns the posteriors of the located latents at the given frames. Padding latents have a standard deviation of 1.
func (t *tracked) posteriors(frames []int, form network.Posterior) *network.Posteriors {
	d := len(t.mean)
	p := network.NewPosteriors(len(frames), d, form)
	for k, f := range frames {
		copy(p.Mean[k*d:(k+1)*d], t.z[f*d:])
	}
	for i := range p.LogDiag {
		if t.sd[i%d] > 0 {
			p.LogDiag[i] = float32(math.Log(firstWidth))
		}
	}
	return p
}

// draw renders pictures from latents (n × CHW), each with its frame's appearance beyond the latents.
func (t *tracked) draw(pictures, z []float32, frames []int) error {
	n := len(frames)
	if t.lowRank != nil {
		t.lowRank.Draw(pictures, z, n)
		return nil
	}
	d, moving := len(t.mean), 2*len(t.sprites.Templates)
	var places, others []float64
	for i, v := range z[:n*d] {
		value := t.mean[i%d] + t.sd[i%d]*float64(v)
		if i%d < moving {
			places = append(places, value)
		} else {
			others = append(others, value)
		}
	}
	if t.background != nil {
		return t.background.drawOccluded(pictures, places, numeric.Float32s(others), n)
	}
	if t.deforming != nil {
		t.deforming.Draw(pictures, places, t.appearance(frames, others), n)
		return nil
	}
	if t.looks != nil {
		t.looks.Draw(pictures, places, frames)
		return nil
	}
	t.sprites.Draw(pictures, places, n)
	return nil
}

// keepLooks stores the residuals of a single rigid sprite over a still picture, so that synthetic frames contain them.
func (t *tracked) keepLooks(c *video.Clip, frames []int) {
	// case sprites.looks: the residual of a single rigid sprite moves with it in synthetic frames
	if t.count() == 1 && t.deforming == nil && t.background == nil && t.sprites.LowSNR == 0 {
		t.looks = t.sprites.Looks(c, frames, t.places)
	}
}

// appearance returns the frames' scores, with the first scores of each frame replaced by the given ones.
func (t *tracked) appearance(frames []int, first []float64) (scores []float64) {
	modes, latents := t.deforming.Modes(), len(first)/len(frames)
	for k, f := range frames {
		own := t.scores[f*modes : (f+1)*modes]
		shown := min(latents, modes)
		scores = append(append(scores, first[k*latents:k*latents+shown]...), own[shown:]...)
	}
	return scores
}

// count returns the number of sprites.
func (t *tracked) count() int {
	if t.sprites == nil {
		return 0
	}
	return len(t.sprites.Templates)
}

// close frees the model of the background; t may be nil.
func (t *tracked) close() {
	if t != nil && t.background != nil {
		t.background.model.Close()
	}
}
