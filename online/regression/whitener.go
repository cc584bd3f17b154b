// Noise
//
// The noise in m(t) changes the start of a step and, with the opposite sign, its length, so it looks like a spring: L_μ would be 9 instead of 0.4 at r = 0.5.
// So the steps first pass a Kalman filter without drift, with σ = 1 and one R, the mean over dimensions:
//
//	P = p + Δt;  S = P + R;  e = m - z;  z ← z + (P/S)e;  p ← RP/S                            (11)
//
// The forecast z is independent of later noise, and the innovations e are independent of each other. To first order in the drift, the forecast responds to a
// field Ψ by h ← (1 - P/S)h + ΔtΨ(z), and the likelihood equals the likelihood of a regression of e on h with variance S. If h₁ is h for Ψ = 1, this is (8)
// with
//
//	Ψ̄ = h/h₁, the average of Ψ over the latest z;  Δx = e h₁/S;  Δt = h₁²/S                   (12)
//
// Without noise these are Ψ(m), m(t+1) - m(t) and Δt.
//
// If a drift μ⁰ is known, its part of the innovations, h⁰ ← (1 - P/S)h⁰ + Δt μ⁰(z), is subtracted, and the posterior learns the remaining drift.

package regression

import (
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

// Whitener turns latents into Steps of the active dimensions: in units of their √v, filtered, and minus the effect of a known drift.
type Whitener struct {
	active []int
	root   []float64      // √v of each active dimension
	noise  float64        // R, in these units; one gain serves all dimensions
	known  *drift.Network // known drift; nil without one
}

// NewWhitener returns a Whitener for the active dimensions. R is the mean of their noises.
func NewWhitener(found []diffusion.Estimate, activity []latent.Activity, known *drift.Network) *Whitener {
	w := &Whitener{known: known}
	for i, a := range activity {
		if a == latent.Active {
			w.active, w.root = append(w.active, i), append(w.root, math.Sqrt(found[i].V))
			w.noise += found[i].FilterNoise / found[i].V
		}
	}
	w.noise /= max(1, float64(len(w.active)))
	return w
}

// Active lends the dimensions that move.
func (w *Whitener) Active() []int { return w.active }

// Steps returns the steps of a track.
func (w *Whitener) Steps(t *diffusion.Track) *Steps {
	d := len(w.active)
	s := &Steps{dim: d}
	f := &stepFilter{z: make([]float64, d), known: make([]float64, d), noise: w.noise}
	m, mu, z, known := make([]float64, d), make([]float64, d), make([]float64, t.Dim()), make([]float64, t.Dim())
	var scratch drift.Scratch
	for k, dt := range t.DT() {
		row := t.Row(k)
		for i, at := range w.active {
			m[i] = row[at] / w.root[i]
		}
		if dt == 0 {
			f.start(m)
			continue
		}
		if w.known != nil {
			copy(z, t.Row(k-1))
			for i, at := range w.active {
				z[at] = f.z[i] * w.root[i]
			}
			w.known.Drift(known, z, &scratch)
			for i, at := range w.active {
				mu[i] = known[at] / w.root[i]
			}
		}
		f.step(s, m, mu, dt)
	}
	return s
}

// stepFilter is the Kalman filter (11) of a path with σ = 1 without drift, measured with noise. It also tracks the response of the forecast to a constant
// drift and to the known drift.
type stepFilter struct {
	z        []float64 // filtered
	p        float64   // its variance
	noise    float64   // R
	response float64   // ∂(forecast)/∂μ
	retained float64   // fraction of response that remains after the last measurement
	known    []float64 // the part of the forecast's error that the known drift explains
}

func (f *stepFilter) start(m []float64) {
	copy(f.z, m)
	clear(f.known)
	f.p, f.response, f.retained = f.noise, 0, 0
}

// step adds the measurement m, dt after the last one, and appends a step to s. mu is the known drift.
func (f *stepFilter) step(s *Steps, m, mu []float64, dt float64) {
	f.response = f.retained*f.response + dt
	predicted := f.p + dt
	variance := predicted + f.noise
	gain := predicted / variance
	s.x = append(s.x, f.z...)
	for i, v := range m {
		f.known[i] = f.retained*f.known[i] + dt*mu[i]
		e := v - f.z[i]
		s.dx = append(s.dx, (e-f.known[i])*f.response/variance)
		f.z[i] += gain * e
	}
	s.dt = append(s.dt, f.response*f.response/variance)
	s.share = append(s.share, dt/f.response)
	f.p, f.retained = gain*f.noise, 1-gain
}
