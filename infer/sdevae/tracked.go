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

// tracked holds the located objects of a clip before the training, as latents of variance 1: x and y of one sprite after another, then the
// latents of a dynamic background or of a single sprite's changes; or, instead of sprites, the latents of a low-rank picture.
type tracked struct {
	sprites    *sprites.Set
	deforming  *sprites.Deforming // the single sprite, where its light changes; else nil
	scores     []float64          // scores of its modes, frames × modes: the first are latents, the others belong to a frame
	looks      *sprites.Looks     // of the single sprite in the training frames, once synthetic frames are drawn; otherwise nil
	lowRank    *video.LowRank     // instead of sprites, if the picture changes as a whole under noise
	background *dynamicBackground // behind a single sprite; nil if the background is a still picture
	left       float64            // energy of a held-out frame that is not explained
	explained  float64            // share of the motion in held-out frames
	places     []float64          // frames × 2 a sprite, px
	mean, sd   []float64          // of places, px, and of the background's latents
	z          []float32          // frames × latents
}

// standardise sets z from latents, frames × d. It is false if one of them is constant.
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

// pad adds constant latents, up to d in all.
func (t *tracked) pad(d int) {
	live := len(t.mean)
	z := make([]float32, len(t.z)/live*d)
	for k := range len(t.z) / live {
		copy(z[k*d:], t.z[k*live:(k+1)*live])
	}
	t.z, t.mean, t.sd = z, append(t.mean, make([]float64, d-live)...), append(t.sd, make([]float64, d-live)...)
}

// mutedScale is the factor on a padding latent's first weights. The latent varies by less than any motion, but not by zero, so that no
// division by zero occurs.
const mutedScale = 1e-7

// mutePadding sets the weights of padding latents so that they read almost nothing of a frame and draw nothing, until training changes them.
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

// independent reports whether each sprite moves on its own: its places persist from frame to frame, and its steps differ from another's.
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
		if stat.Variance(step, nil) > 1 { // half of it, or more, does not persist
			return false
		}
		for other := range i - i%2 {
			if math.Abs(stat.Correlation(step, mat.Col(nil, other, steps), nil)) > numeric.Majority { // they are parts of one object
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

// draw draws pictures of latents (n × CHW), each with its frame's appearance beyond the latents.
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

// keepLooks stores the residuals of a single rigid sprite over a still picture, so that synthetic frames show them.
func (t *tracked) keepLooks(c *video.Clip, frames []int) {
	// case sprites.looks: the residual of a single rigid sprite moves with it in synthetic frames
	if t.count() == 1 && t.deforming == nil && t.background == nil && t.sprites.LowSNR == 0 {
		t.looks = t.sprites.Looks(c, frames, t.places)
	}
}

// appearance returns the frames' scores with the first of each in place of its own.
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
