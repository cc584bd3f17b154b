// Noise
//
// The noise in m(t) enters the start of a step and, with the opposite sign, its length, and looks like a spring: L_μ of 9 instead of
// 0.4 at r = 0.5. So the steps go through a Kalman filter first, of σ = 1 and one R, the mean of the dimensions', without drift:
//
//	P = p + Δt;  S = P + R;  e = m - z;  z ← z + (P/S)e;  p ← RP/S                            (11)
//
// The forecast z knows nothing of the noise to come, and the innovations e do not depend on each other. To first order in the drift the
// forecast responds to a field Ψ by h ← (1 - P/S)h + ΔtΨ(z), and the likelihood equals the regression's of e on h with variance S.
// With h₁ for h of Ψ = 1, that is (8) of
//
//	Ψ̄ = h/h₁, the average of Ψ over the latest z;  Δx = e h₁/S;  Δt = h₁²/S                   (12)
//
// which without noise is Ψ(m), m(t+1) - m(t) and Δt itself.
//
// If a drift μ⁰ is known, its part in the innovations, h⁰ ← (1 - P/S)h⁰ + Δt μ⁰(z), is subtracted, and the posterior learns the drift beyond it.

package regression

import (
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

// Whitener makes Steps of the latents of the active dimensions: in units of their √v, through a filter, less the effect of a known drift.
type Whitener struct {
	active []int
	root   []float64      // √v of each
	noise  float64        // R, in these units; one gain serves all dimensions
	known  *drift.Network // nil for none
}

// NewWhitener takes the moving dimensions. It uses the mean of their noises.
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

// Steps filters a track.
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

// stepFilter follows a path of σ = 1 without drift, measured with noise, and how its forecast answers to a constant one, (11), and to
// the drift that is known.
type stepFilter struct {
	z        []float64 // filtered
	p        float64   // its variance
	noise    float64   // R
	response float64   // ∂(forecast)/∂μ, and its part
	retained float64   // this part outlasts the last measurement
	known    []float64 // part of the forecast's error that the known drift explains
}

func (f *stepFilter) start(m []float64) {
	copy(f.z, m)
	clear(f.known)
	f.p, f.response, f.retained = f.noise, 0, 0
}

// step adds measurement m, dt after the last one, where the known drift is mu, and appends to s.
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
