package motion

import (
	"math"
	"sync"
)

// The grid of fractional Brownian motion with noise.
const (
	exponents  = 20   // α = 0.05, 0.15 … 1.95
	firstAlpha = 0.05 // beyond, steps are noise or a line
	stepAlpha  = 0.1  // about the half-width of the interval from 1000 places; parabolas in between
	ratios     = 12   // ρ = σ²/(K Δt^α) = 2^-6 … 2^5: below, the noise does not show; above, it hides the motion for 1000 places
	firstRatio = -6
	memory     = 32 // steps that a prediction looks back; each further step adds less than 0.01 nats
)

// predictors holds, for each α and ρ, the best linear predictions of a step from the up to memory steps before it.
type predictors struct {
	coefficients [exponents][ratios][memory * (memory + 1) / 2]float64 // order p at p(p-1)/2, nearest step first
	deviations   [exponents][ratios][memory + 1]float64                // 1/√ of the variance of a prediction, in K Δt^α
	logs         [exponents][ratios][memory + 1]float64                // ln of that variance
}

// exposures is the number of exposure levels with predictors.
const exposures = 5

var tables [exposures]struct {
	once sync.Once
	made *predictors
}

// tableOf returns the predictors of the nearest quarter of exposure.
func tableOf(share float64) (*predictors, float64) {
	i := int(math.Round(min(max(share, 0), 1) * (exposures - 1)))
	e := float64(i) / (exposures - 1)
	tables[i].once.Do(func() { tables[i].made = newPredictors(e) })
	return tables[i].made, e
}

// spread returns half the mean square of a displacement over k frames, per axis, in K Δt^α. Without exposure it is k^α. If frames are exposed for a part
// e of their interval, it is the mean of |k + u|^α minus the mean of |u|^α over two such frames,
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

// durbin runs the recursion of Levinson and Durbin.
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
	exposure float64 // in frame intervals
	dx, dy   []float64
	plane    plane                      // α by ρ: ln of the likelihood with K integrated
	known    [exponents][ratios]bool    // quad and logDet are computed
	quad     [exponents][ratios]float64 // Σ (prediction error)² / variance over both axes, in K Δt^α
	logDet   [exponents][ratios]float64
	alpha    [exponents]float64 // ln of the density of α, ρ integrated
	local    conditional
}

// prepare takes a track with frames exposed for exposure seconds.
func (f *fractional) prepare(s *series, exposure float64) {
	f.table, f.exposure = tableOf(exposure / s.step)
	f.dx, f.dy = f.dx[:0], f.dy[:0]
	for i := 1; i < len(s.x); i++ {
		f.dx, f.dy = append(f.dx, s.x[i]-s.x[i-1]), append(f.dy, s.y[i]-s.y[i-1])
	}
	f.known = [exponents][ratios]bool{}
	f.local.reset()
}

// fit evaluates the grid near its top, with a law of the scale. It keeps the likelihoods until the next prepare.
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

// likelihood computes the likelihood of the steps given α and ρ, from their prediction errors: exact up to memory steps.
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

// missed returns the last step minus its prediction from the steps before, nearest coefficient first.
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
