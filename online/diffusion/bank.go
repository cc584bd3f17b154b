// Diffusion
//
// The code uses the symbols of the equations: v = σ², psi = ψ, z and p a filter's mean and variance, a = A, l = L, s = ΠS, n and n2 = n and n₂, dt0 = Δt₀.
//
// Naive quadratic variation mean(D²)/Δt is too large by 2R/Δt: localisation noise looks like motion. Two estimators avoid this bias. D is e of (2) in
// online/drift, and D₊ is the next D. The covariance-based estimator (Vestergaard, Blainey and Flyvbjerg 2014) is
//
//	v = (mean D² + 2 mean DD₊)/mean Δt,  ε = -2 mean DD₊/(vΔt)                               (4)
//	var v = v²[(6 + 4ε + 2ε²)/n + 4(1+ε)²/n²]
//
// It needs no model of the noise, not even R ≥ 0: motion blur makes DD₊ positive. The Kalman bank is efficient at every r.
// In units of R, for 121 log-spaced ψ from 1e-6 to 1e4 and ψ = 0, starting each trajectory at z = m, p = 1:
//
//	P = F²p + ψΔt/Δt₀;  S = P + 1;  e = m - ẑ;  z = ẑ + (P/S)e;  p = P/S                     (5)
//	A = A + e²/S;  L = L + ln S;  n = n + 1;  n₂ = n₂ + 1;  every 32 first γ³²A, γ³²L, γ³²n, γ⁶⁴n₂
//	ln-likelihood(v, ψ) = -(n/n₂)½[n ln R + A/R + L],  R = vΔt₀/ψ;  at its maximum R = A/n
//
// The forecast ẑ = c + μ(c)Δt + F(z - c), F = 1 + Δt ∂μᵢ/∂zᵢ(c), linearises the drift about c, the filtered latent of the most likely ψ. A bank without drift
// mistakes mean reversion for noise (v is 0.73 instead of 1 at r = 16, κ = 4/s, Δt = 0.01 s), and a whirl for diffusion. So every slice of refinement returns
// banks that have followed the whole memory with the slice's own drift (again.go). Without such banks, σ² of a whirl was 13 times too large once its drift
// was learnt. With them, v is too small by the number of fitted fields over the number of transitions. Δt₀ is the first time step. γ forgets 32 transitions
// at a time, so one logarithm serves all of them. Cubics interpolate ln A and L between the grid's points, because 1e5 transitions resolve ψ better than the
// grid.
//
// The interval of v contains the values whose log-likelihood, maximised over ψ (and R), lies within 1.92 of its maximum. It includes 0 if ψ = 0 lies within
// 1.92 too. The alternative is an integral over ψ with priors flat in ln v and ln ψ. On 300 simulated runs each, the profile interval covers 0.93 to 0.97 at
// every n from 30 to 30000 and r from 0.02 to 16, with and without forgetting. The integral covers 0.88 to 0.98; it is worst at r = 0.1, where the prior
// dominates. So only the profile is computed and published. If the bank finds no noise at all (ψ > 1e3) and DD₊ is positive by three standard errors, (4) is
// used.

package diffusion

import (
	"math"

	"driftscope/online/drift"
)

// The bank's grid: ψ = 0 and gridSize log-spaced ψ from gridLow to gridHigh. A 49-point grid ruins the intervals (coverage 0.69).
const (
	gridSize = 121
	gridLow  = 1e-6
	gridHigh = 1e4
)

// halfChi95 is half the 95 % point of χ² with one degree of freedom, the drop of the profile log-likelihood at the interval's ends. Quantile95 is the square
// root of the 95 % point.
const (
	halfChi95  = 1.920729
	Quantile95 = 1.959964
)

// Estimate holds one latent dimension's σ² and noise. Intervals are 95 %.
type Estimate struct {
	V, Low, High float64 // σ² and its profile interval, latent²/s; Low is 0 if the data are compatible with rest
	FilterNoise  float64 // R minus the part that blur removes, latent², at least 0: the noise of a filter
	Noise        float64 // R itself
	Ratio        float64 // likelihood ratio of σ² > 0 against σ² = 0: 2 Δ ln likelihood
}

// newGrid returns the bank's ψ = σ²Δt₀/R in ascending order. The first is 0.
func newGrid() []float64 {
	psi := make([]float64, 1+gridSize)
	span := math.Log(gridHigh / gridLow)
	for k := range gridSize {
		psi[1+k] = gridLow * math.Exp(span*float64(k)/(gridSize-1))
	}
	return psi
}

// After each block of blockSize transitions, the bank takes logarithms and forgets. A logarithm costs as much as three filter steps. A block ends early if
// time steps are so unequal that the product of S for the largest ψ would soon overflow.
const (
	blockSize   = 32
	mostProduct = 1e150
)

// bank holds one latent dimension's Kalman bank, (5), and the sums of the covariance-based estimator, (4). Every filter of the bank runs with R = 1, so one
// pass serves every R.
type bank struct {
	psi         []float64 // shared and immutable, except the entries with R < 0
	lnPsi       []float64 // 0 for ψ = 0
	nonNegative int       // number of entries with R ≥ 0; blur.go handles the others, with R < 0
	exposure    float64   // exposure time, s
	z, p        []float64 // filtered mean, latent; its variance, in units of R
	a           []float64 // A = Σ e²/S
	l, s        []float64 // L = Σ ln S up to the last block, and Π S in the current block; logS combines both
	inBlock     int       // transitions in the current block, at most blockSize
	n, n2       float64   // sums of the transitions' weights and of their squares, which are equal if nothing is forgotten
	seconds     float64   // Σ of the weighted time steps
	dt0         float64   // the first time step, s
	forget      float64   // γ
	best        int       // index of the ψ whose filter represents the dimension, renewed by profile.estimate
	previous    float64   // the last measurement, latent
	cve         increments
}

// increments holds the sums of the covariance-based estimator, over measured increments minus the drift's share.
type increments struct {
	square, lag   float64 // Σ D², Σ D D₊
	squares, lags float64 // number of terms in each sum
	last          float64 // the last D
	linked        bool    // last is adjacent to the next D
}

// newBank returns an empty bank over the grid psi.
func newBank(psi []float64, forget float64) *bank {
	k := len(psi)
	b := &bank{psi: psi, lnPsi: make([]float64, k), nonNegative: k, forget: forget, best: k - 1,
		z: make([]float64, k), p: make([]float64, k), a: make([]float64, k), l: make([]float64, k), s: make([]float64, k)}
	for i := range b.s {
		b.s[i] = 1
	}
	for i, v := range psi[1:] {
		b.lnPsi[1+i] = math.Log(v)
	}
	return b
}

// start begins a trajectory at measurement m, and keeps the sums of earlier trajectories.
func (b *bank) start(m float64) {
	for k := range b.z {
		b.z[k], b.p[k] = m, 1
	}
	for k := range b.p[b.nonNegative:] {
		b.p[b.nonNegative+k] = -1
	}
	b.previous, b.cve.linked = m, false
}

// step learns from measurement m, dt seconds after the last, under a linear drift.
func (b *bank) step(m, dt float64, line drift.Line) {
	if b.dt0 == 0 {
		b.dt0 = dt
		b.setBlurGrid()
	}
	if b.inBlock == blockSize || b.s[b.nonNegative-1] > mostProduct {
		b.endBlock()
	}
	f := line.Decay(dt)
	shift := line.Mu*dt + (1-f)*line.Centre
	b.filter(m, f, shift, dt/b.dt0)
	b.filterBlurred(m, f, shift, dt)
	b.inBlock++
	b.n++
	b.n2++
	b.seconds += dt
	b.cve.add(m - b.previous - (line.Mu+line.Slope*(b.previous-line.Centre))*dt)
	b.previous = m
}

// filter advances the filters of R ≥ 0 to measurement m. Forecasts are f·z + shift, and their variance grows by ψ·stretch. Because R is 1, the fraction 1/S
// of an innovation remains, and p is 1 - 1/S.
func (b *bank) filter(m, f, shift, stretch float64) {
	psi, square, beyond := b.psi[:b.nonNegative], f*f, m-shift
	z, p, a, all := b.z[:len(psi)], b.p[:len(psi)], b.a[:len(psi)], b.s[:len(psi)]
	for k, psi := range psi {
		s := square*p[k] + psi*stretch + 1
		precision := 1 / s
		e := beyond - f*z[k]
		left := e * precision
		z[k] = m - left
		p[k] = 1 - precision
		a[k] += e * left
		all[k] *= s
	}
}

// endBlock takes the logarithms of a block's S and multiplies all sums by γ for each of its transitions.
func (b *bank) endBlock() {
	keep := math.Pow(b.forget, float64(b.inBlock))
	for k := range b.l {
		b.l[k] = keep * b.logS(k)
		b.s[k] = 1
		b.a[k] *= keep
	}
	b.inBlock = 0
	b.n *= keep
	b.n2 *= keep * keep
	b.seconds *= keep
	b.cve.scale(keep)
}

// logS returns L = Σ ln S of filter k, up to the last transition.
func (b *bank) logS(k int) float64 { return b.l[k] + math.Log(b.s[k]) }

// add adds increment d to the sums.
func (c *increments) add(d float64) {
	c.square, c.squares = c.square+d*d, c.squares+1
	if c.linked {
		c.lag, c.lags = c.lag+d*c.last, c.lags+1
	}
	c.last, c.linked = d, true
}

// scale multiplies the sums by keep.
func (c *increments) scale(keep float64) {
	c.square *= keep
	c.squares *= keep
	c.lag *= keep
	c.lags *= keep
}

// covarianceBased returns the covariance-based σ² with its normal interval. The bank cannot represent positively correlated increments (motion blur, R <
// σ²Δt/6), so this estimator serves for them. In all other cases ok is false.
func (b *bank) covarianceBased() (d Estimate, ok bool) {
	c := &b.cve
	if c.lags < 2 || c.square == 0 {
		return Estimate{}, false
	}
	square, lag := c.square/c.squares, c.lag/c.lags
	count := c.lags * b.n / b.n2 // effective number of increments, because forgetting weights them unequally
	if lag < 3*square/math.Sqrt(count) {
		return Estimate{}, false
	}
	moved := square + 2*lag // σ²Δt
	e := -2 * lag / moved
	v := moved * b.n / b.seconds
	sd := v * math.Sqrt((6+4*e+2*e*e)/count+4*(1+e)*(1+e)/(count*count))
	return Estimate{V: v, Low: max(0, v-Quantile95*sd), High: v + Quantile95*sd}, true
}
