package sdevae

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// trail is where a clip's movers are, as latents of variance 1: x and y of one after another, and behind them what is beside the movers. Or
// it is how a scenery changes.
type trail struct {
	movers    *movers
	scenery   *scenery  // in place of movers, where the picture changes as a whole under noise
	beside    *beside   // what a single mover moves over; nil where that is a still picture
	left      float64   // energy of a frame that is not explained, in frames that nothing was learnt from
	explained float64   // and the share of what moves that is
	places    []float64 // frames × 2 a mover, px
	mean, sd  []float64 // of places, px, and what is beside
	z         []float32 // frames × latents
}

// standardise sets z from latents, frames × d. It is false where one of them rests.
func (t *trail) standardise(latents []float64, d int) bool {
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
func (t *trail) spare(d int) {
	live := len(t.mean)
	z := make([]float32, len(t.z)/live*d)
	for k := range len(t.z) / live {
		copy(z[k*d:], t.z[k*live:(k+1)*live])
	}
	t.z, t.mean, t.sd = z, append(t.mean, make([]float64, d-live)...), append(t.sd, make([]float64, d-live)...)
}

// quiet is what is left of a resting latent's first weights: it moves by less than what counts as motion anywhere, and is no constant, by
// which somebody might divide.
const quiet = 1e-7

// silence has the encoder see next to nothing by latents that rest, and the decoder draw nothing of them, until it learns otherwise.
func (t *trail) silence(m *Model) {
	seed := len(m.SeedB)
	for i, sd := range t.sd {
		if sd > 0 {
			continue
		}
		clear(m.SeedW[i*seed : (i+1)*seed])
		m.MeanB[i] = 0
		for k := i; k < len(m.MeanW); k += m.Dim {
			m.MeanW[k] *= quiet
		}
	}
}

// goes says that each thing goes its own way: its places last from frame to frame, and its steps are not another's.
func (t *trail) goes(pairs []Pair) bool {
	d := 2 * len(t.movers.shapes)
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
			if math.Abs(stat.Correlation(step, mat.Col(nil, other, steps), nil)) > mostTogether {
				return false
			}
		}
	}
	return true
}

// posteriors are the trail's at the given frames; nothing is known of latents that rest.
func (t *trail) posteriors(frames []int, form Posterior) *Posteriors {
	d := len(t.mean)
	p := newPosteriors(len(frames), d, form)
	for k, f := range frames {
		copy(p.Mean[k*d:(k+1)*d], t.z[f*d:])
	}
	for i := range p.LogDiag {
		if t.sd[i%d] > 0 {
			p.LogDiag[i] = float32(math.Log(trailWidth))
		}
	}
	return p
}

// draw draws n pictures of latents, as Model.Decode does.
func (t *trail) draw(pictures, z []float32, n int) error {
	if t.scenery != nil {
		t.scenery.draw(pictures, z, n)
		return nil
	}
	d, moving := len(t.mean), 2*len(t.movers.shapes)
	var places, others []float64
	for i, v := range z[:n*d] {
		value := t.mean[i%d] + t.sd[i%d]*float64(v)
		if i%d < moving {
			places = append(places, value)
		} else {
			others = append(others, value)
		}
	}
	if t.beside != nil {
		return t.beside.drawWith(pictures, places, narrow(others), n)
	}
	t.movers.draw(pictures, places, n)
	return nil
}

// things is how many are followed.
func (t *trail) things() int {
	if t.movers == nil {
		return 0
	}
	return len(t.movers.shapes)
}

// close frees what draws; t may be nil.
func (t *trail) close() {
	if t != nil && t.beside != nil {
		t.beside.model.Close()
	}
}
