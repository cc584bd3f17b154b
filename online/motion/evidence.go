package motion

import "math"

// Grids of the priors; all are log-uniform. ρ = σ²/(D Δt) has the same density in every class, over 2^-6 to 2^9. Below, the noise does not show; above,
// 1000 places say nothing about the motion.
const (
	noises     = 16
	firstNoise = -6
	stiffs     = 20 // κΔt = 2^-7, 2^-6.5 … 2^2.5: from a trap slower than the tracks are long to one too fast for a frame
	firstStiff = -7.
	stepStiff  = 0.5
	peclets    = 10 // τ²/(1+ρ) = 4^-5 … 4^4: from a velocity that the longest track just shows to sixteen times a step
	firstSpeed = -5
)

// trust is the standard deviation of ln(true variance / given variance) of a localisation: the variances from locators are right within a fifth to a third.
const trust = 0.25

// prior integrates the scale λ of a class, the unit variance of its covariances.
type prior struct {
	n     float64 // steps
	noise float64 // given variance, px²; 0 if none is given
}

// integrate returns the logarithm of the likelihood of n steps along both axes, (2πλ)^-n |C|^-1 exp(-quad/2λ), with λ integrated over dλ/λ, up to a
// constant that all classes share. If the noise is known, σ² = ρλ has a log-normal law around it. In ln λ the likelihood is nearly normal, with mean
// ln(quad/2n) and variance 1/n, and the product of both has a closed form.
func (p prior) integrate(quad, logDet, rho float64) float64 {
	if math.IsNaN(quad) || quad <= 0 {
		return never
	}
	log := jeffreys(quad, logDet, int(p.n))
	if p.noise > 0 {
		apart := math.Log(quad / (2 * p.n) * rho / p.noise)
		variance := 1/p.n + trust*trust
		log -= apart*apart/(2*variance) + math.Log(variance)/2
	}
	return log
}

// scale returns the posterior of ln λ at given parameters.
func (p prior) scale(quad, rho float64) (mean, variance float64) {
	mean, variance = math.Log(quad/(2*p.n)), 1/p.n
	if p.noise > 0 {
		precision := p.n + 1/(trust*trust)
		mean = (mean*p.n + math.Log(p.noise/rho)/(trust*trust)) / precision
		variance = 1 / precision
	}
	return mean, variance
}

func noiseAt(i int) float64 { return math.Exp2(float64(firstNoise + i)) }
func stiffAt(i int) float64 { return math.Exp2(firstStiff + stepStiff*float64(i)) }
func speedAt(i int) float64 { return math.Exp2(2 * float64(firstSpeed+i)) }

// laws holds the evidences of the classes and their parts.
type laws struct {
	prior    prior
	exposure float64 // in Δt
	blur     float64 // of free motion, in D Δt
	chains   [noises]chain
	free     [noises]float64
	moved    plane // τ by ρ
	trap     plane // κ by ρ
	quads    [stiffs][noises]float64
	motion   fractional
	log      [Classes]float64
}

// weigh computes all evidences of a series.
func (l *laws) weigh(s *series, exposure float64) {
	l.prior = prior{float64(s.steps()), s.noise}
	l.exposure = min(exposure/s.step, 1)
	l.blur = l.exposure / 3
	var c chain
	l.log[Stuck] = never
	if c.run(s, false, 1, 0) {
		l.log[Stuck] = l.prior.integrate(c.quad, c.logDet, 1)
	}
	l.weighFree(s)
	l.weighTrap(s)
	l.weighFractional(s, exposure)
}

func (l *laws) weighFree(s *series) {
	l.moved.reset(peclets, noises)
	for i := range noises {
		c := &l.chains[i]
		rho := noiseAt(i)
		l.free[i] = never
		if !c.run(s, true, rho, l.blur) {
			continue
		}
		l.free[i] = l.prior.integrate(c.quad, c.logDet, rho)
		for j := range peclets {
			quad, logDet := c.moved(speedAt(j) * (1 + rho))
			l.moved.density[j*noises+i] = l.prior.integrate(quad, logDet, rho)
		}
	}
	log, _, _ := integral(l.free[:])
	l.log[Free] = log - math.Log(noises)
	l.log[Directed] = l.moved.total()
}

func (l *laws) weighTrap(s *series) {
	l.trap.reset(stiffs, noises)
	l.trap.climb(8*noises+6, func(k, r int) float64 { // start at κΔt = 2^-3, ρ = 1
		rho := noiseAt(r)
		quad, logDet := trapped(s, stiffAt(k), rho, l.exposure)
		l.quads[k][r] = quad
		return l.prior.integrate(quad, logDet, rho)
	})
	l.log[Confined] = l.trap.total()
}

func (l *laws) weighFractional(s *series, exposure float64) {
	l.motion.prepare(s, exposure)
	l.motion.fit(s, l.prior.integrate)
	log, _, _ := integral(l.motion.alpha[:])
	// alpha uses the density of ρ over its own grid
	l.log[Anomalous] = log - math.Log(exponents) + math.Log(float64(ratios)/noises)
}

// total returns the logarithm of the mean over the grid.
func (p *plane) total() float64 {
	p.margins = p.margins[:0]
	for r := range p.rows {
		v, _, _ := integral(p.row(r))
		p.margins = append(p.margins, v)
	}
	log, _, _ := integral(p.margins)
	return log - math.Log(float64(p.rows*p.columns))
}
