package sdevae

import (
	"driftscope/infer/sdevae/appearance"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sprites"
	"driftscope/infer/sdevae/video"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// trail is where a clip's movers are, as latents of variance 1: x and y of one after another, and behind them what is beside the movers. Or
// it is how a scenery changes.
type tracked struct {
	sprites    *sprites.Set
	lowRank    *appearance.LowRank // in place of movers, where the picture changes as a whole under noise
	background *dynamicBackground  // what a single mover moves over; nil where that is a still picture
	left       float64             // energy of a frame that is not explained, in frames that nothing was learnt from
	explained  float64             // and the share of what moves that is
	places     []float64           // frames × 2 a mover, px
	mean, sd   []float64           // of places, px, and what is beside
	z          []float32           // frames × latents
}

// standardise sets z from latents, frames × d. It is false where one of them rests.
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

// spare adds latents that rest, up to d of them in all.
func (t *tracked) pad(d int) {
	live := len(t.mean)
	z := make([]float32, len(t.z)/live*d)
	for k := range len(t.z) / live {
		copy(z[k*d:], t.z[k*live:(k+1)*live])
	}
	t.z, t.mean, t.sd = z, append(t.mean, make([]float64, d-live)...), append(t.sd, make([]float64, d-live)...)
}

// quiet is what is left of a resting latent's first weights: it moves by less than what counts as motion anywhere, and is no constant, by
// which somebody might divide.
const mutedScale = 1e-7

// silence has the encoder see next to nothing by latents that rest, and the decoder draw nothing of them, until it learns otherwise.
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

// goes says that each thing goes its own way: its places last from frame to frame, and its steps are not another's.
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
		if stat.Variance(step, nil) > 1 { // half of it, or more, does not last
			return false
		}
		for other := range i - i%2 {
			if math.Abs(stat.Correlation(step, mat.Col(nil, other, steps), nil)) > maxCommonMotion {
				return false
			}
		}
	}
	return true
}

// posteriors are the trail's at the given frames; nothing is known of latents that rest.
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

// draw draws n pictures of latents, as Model.Decode does.
func (t *tracked) draw(pictures, z []float32, n int) error {
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
	t.sprites.Draw(pictures, places, n)
	return nil
}

// things is how many are followed.
func (t *tracked) count() int {
	if t.sprites == nil {
		return 0
	}
	return len(t.sprites.Templates)
}

// close frees what draws; t may be nil.
func (t *tracked) close() {
	if t != nil && t.background != nil {
		t.background.model.Close()
	}
}
