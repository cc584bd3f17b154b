package motion

import (
	"math"
	"sync"
)

// The grid of fractional Brownian motion with noise.
const (
	exponents  = 20   // α = 0.05, 0.15 … 1.95
	firstAlpha = 0.05 // beyond, steps are noise or a line
	stepAlpha  = 0.1  // about the interval's half-width of 1000 places; between, parabolas
	ratios     = 12   // ρ = σ²/(K Δt^α) = 2^-6 … 2^5: below, the noise does not show; above, it hides the motion for 1000 places
	firstRatio = -6
	memory     = 32 // steps a prediction looks back; those further are worth less than 0.01 nats each
)

// predictors has, for each α and ρ, the best linear predictions of a step by the up to memory steps before it.
type predictors struct {
	coefficients [exponents][ratios][memory * (memory + 1) / 2]float64 // order p at p(p-1)/2, nearest step first
	deviations   [exponents][ratios][memory + 1]float64                // 1/√ of a prediction's variance, in K Δt^α
	logs         [exponents][ratios][memory + 1]float64                // ln of that variance
}

// exposures are the parts of a frame's time that predictors are made for.
const exposures = 5

var tables [exposures]struct {
	once sync.Once
	made *predictors
}

// tableOf is the predictors of the nearest quarter of exposure.
func tableOf(share float64) (*predictors, float64) {
	i := int(math.Round(min(max(share, 0), 1) * (exposures - 1)))
	e := float64(i) / (exposures - 1)
	tables[i].once.Do(func() { tables[i].made = newPredictors(e) })
	return tables[i].made, e
}

// spread is half the mean square of a displacement over k frames, an axis, in K Δt^α: k^α, and where frames are exposed for a part e of the time between them,
// the mean of |k + u|^α less that of |u|^α over two such frames,
//
//	[(k+e)^(α+2) + (k-e)^(α+2) - 2k^(α+2)] / (e²(α+1)(α+2)) - 2e^α/((α+1)(α+2))
//
// which is k - e/3 at α = 1 (Berglund, Physical Review E 82, 011917, 2010).
func spread(k, alpha, e float64) float64 {
	if k == 0 {
		return 0
	}
	if e == 0 {
		return math.Pow(k, alpha)
	}
	a := alpha + 2
	c := (alpha + 1) * a
	return (math.Pow(k+e, a)+math.Pow(k-e, a)-2*math.Pow(k, a))/(e*e*c) - 2*math.Pow(e, alpha)/c
}

func newPredictors(e float64) *predictors {
	t := new(predictors)
	var g [memory + 2]float64
	var cov [memory + 1]float64
	for a := range exponents {
		for k := range g {
			g[k] = spread(float64(k), alphaAt(a), e)
		}
		for r := range ratios {
			rho := ratioAt(r)
			cov[0], cov[1] = 2*g[1]+2*rho, g[2]-2*g[1]-rho
			for k := 2; k <= memory; k++ {
				cov[k] = g[k+1] + g[k-1] - 2*g[k]
			}
			t.durbin(a, r, &cov)
		}
	}
	return t
}

func alphaAt(a int) float64 { return firstAlpha + stepAlpha*float64(a) }
func ratioAt(r int) float64 { return math.Exp2(float64(firstRatio + r)) }

// durbin is the recursion of Levinson and Durbin.
func (t *predictors) durbin(a, r int, cov *[memory + 1]float64) {
	c := &t.coefficients[a][r]
	v := cov[0]
	t.keep(a, r, 0, v)
	for p := 1; p <= memory; p++ {
		now, before := c[p*(p-1)/2:p*(p+1)/2], c[(p-1)*(p-2)/2:p*(p-1)/2]
		k := cov[p]
		for j := range p - 1 {
			k -= before[j] * cov[p-1-j]
		}
		k /= v
		now[p-1] = k
		for j := range p - 1 {
			now[j] = before[j] - k*before[p-2-j]
		}
		v *= 1 - k*k
		t.keep(a, r, p, v)
	}
}

func (t *predictors) keep(a, r, order int, variance float64) {
	t.deviations[a][r][order] = 1 / math.Sqrt(variance)
	t.logs[a][r][order] = math.Log(variance)
}

// fractional is the posterior of fractional Brownian motion with noise.
type fractional struct {
	table    *predictors
	exposure float64 // of a frame's time
	dx, dy   []float64
	plane    plane                      // α by ρ: ln of the likelihood with K integrated
	known    [exponents][ratios]bool    // quad and logDet are made
	quad     [exponents][ratios]float64 // Σ (prediction's error)² / variance over both axes, in K Δt^α
	logDet   [exponents][ratios]float64
	alpha    [exponents]float64 // ln of the density of α, ρ integrated
	local    conditional
}

// prepare takes in a track, whose frames are exposed for some seconds.
func (f *fractional) prepare(s *series, exposure float64) {
	f.table, f.exposure = tableOf(exposure / s.step)
	f.dx, f.dy = f.dx[:0], f.dy[:0]
	for i := 1; i < len(s.x); i++ {
		f.dx, f.dy = append(f.dx, s.x[i]-s.x[i-1]), append(f.dy, s.y[i]-s.y[i-1])
	}
	f.known = [exponents][ratios]bool{}
	f.local.reset()
}

// fit visits the grid where it is not negligible, with a law of the scale. Likelihoods are kept until another track is prepared.
func (f *fractional) fit(s *series, scale func(quad, logDet, rho float64) float64) {
	f.plane.reset(exponents, ratios)
	f.plane.climb(9*ratios+5, func(a, r int) float64 { // from α = 0.95, ρ = 1/2
		if !f.known[a][r] {
			f.known[a][r] = true
			f.likelihood(s, a, r)
		}
		return scale(f.quad[a][r], f.logDet[a][r], ratioAt(r))
	})
	f.marginal()
}

// marginal integrates ρ, uniform in its logarithm over the grid.
func (f *fractional) marginal() {
	for a := range exponents {
		v, _, _ := integral(f.plane.row(a))
		f.alpha[a] = v - math.Log(ratios)
	}
}

// likelihood is that of the steps given α and ρ, by the errors of their predictions: exact to the memory.
func (f *fractional) likelihood(s *series, a, r int) {
	if s.gaps {
		f.local.fit(f, s, a, r)
		return
	}
	c, deviations := &f.table.coefficients[a][r], &f.table.deviations[a][r]
	logs := &f.table.logs[a][r]
	quad, logDet := 0., 0.
	n := len(f.dx)
	for i := range min(n, memory) {
		ex, ey := missed(f.dx[:i+1], f.dy[:i+1], c[i*(i-1)/2:i*(i+1)/2])
		d := deviations[i]
		quad += (ex*ex + ey*ey) * d * d
		logDet += logs[i]
	}
	if n > memory {
		last := c[memory*(memory-1)/2:]
		rest := 0.
		for i := memory; i < n; i++ {
			ex, ey := missed(f.dx[i-memory:i+1], f.dy[i-memory:i+1], last)
			rest += ex*ex + ey*ey
		}
		d := deviations[memory]
		quad += rest * d * d
		logDet += float64(n-memory) * logs[memory]
	}
	f.quad[a][r], f.logDet[a][r] = quad, logDet
}

// missed are the last steps less their predictions by those before, nearest coefficient first.
func missed(dx, dy, c []float64) (x, y float64) {
	n := len(c)
	dx, dy = dx[:n+1], dy[:n+1]
	x, y = dx[n], dy[n]
	for j, v := range c {
		x -= v * dx[n-1-j]
		y -= v * dy[n-1-j]
	}
	return x, y
}
