// Motion blur
//
// If a measurement is the mean of z over an exposure E, with noise of variance R, the increments of a free walk have
//
//	var D = vΔt - vE/3 + 2R,  cov(D, D₊) = vE/6 - R                                            (23)
//
// These are the increments of instantaneous measurements with noise of variance R' = R - vE/6, at any time steps (Berglund 2010, whose R is E/6Δt). So (5)
// holds with R' in place of R. Because R' may be negative, the bank has 40 more filters, ψ = vΔt₀/|R'| from 1e4 down to 6Δt₀/E, with R' = -1:
//
//	S = P - 1;  z = m + e/S;  p = -P/S = -1 - 1/S                                              (24)
//
// With an exposure, (4) is not used. Estimate.Noise is R. Estimate.FilterNoise is R', or 0 if R' is negative. A spring of κ changes (23) by κE.

package diffusion

import (
	"math"
	"slices"
)

const (
	blurs     = 40     // filters of R < 0
	blurNoise = 1. / 6 // in units of σ²E
	leastTime = 0.75   // shortest time between two measurements, in exposures
)

// setExposure sets the exposure, s, of an empty bank: a measurement is the mean of z over it. Blur acts like noise of variance -σ²E/6, so b gets filters of R
// < 0, (23) and (24).
func (b *bank) setExposure(exposure float64) {
	if exposure == 0 {
		return
	}
	b.exposure, b.psi = exposure, slices.Clone(b.psi)
	for _, list := range []*[]float64{&b.psi, &b.lnPsi, &b.z, &b.p, &b.a, &b.l, &b.s} {
		*list = append(*list, make([]float64, blurs)...)
	}
	for k := range b.s[b.nonNegative:] {
		b.s[b.nonNegative+k] = 1
	}
}

// setBlurGrid sets ψ = σ²Δt₀/|R| for R < 0, from the grid's largest down to the value of pure blur, once Δt₀ is known.
func (b *bank) setBlurGrid() {
	span := math.Log(blurNoise * b.exposure / b.dt0 * gridHigh)
	for k := range b.psi[b.nonNegative:] {
		ln := math.Log(gridHigh) - span*float64(1+k)/blurs
		b.lnPsi[b.nonNegative+k], b.psi[b.nonNegative+k] = ln, math.Exp(ln)
	}
}

// filterBlurred advances the filters of R < 0 to measurement m, dt after the last. It keeps their S positive for clocks that jitter below
// the exposure, and for a drift that diverges.
func (b *bank) filterBlurred(m, f, shift, dt float64) {
	square, stretch := min(f*f, 1), max(dt, leastTime*b.exposure)/b.dt0
	for k := b.nonNegative; k < len(b.psi); k++ {
		s := square*b.p[k] + b.psi[k]*stretch - 1
		e := m - f*b.z[k] - shift
		left := -e / s
		b.z[k] = m - left
		b.p[k] = -1 - 1/s
		b.a[k] += e * e / s
		b.s[k] *= s
	}
}

// noises returns R' with a lower bound of 0, as a filter needs it, and R. variance is |R'| at the most likely ψ, b.best, and v is σ².
func (b *bank) noises(variance, v float64) (filtered, whole float64) {
	if b.best >= b.nonNegative {
		variance = -variance
	}
	return max(variance, 0), max(variance+blurNoise*v*b.exposure, 0)
}
