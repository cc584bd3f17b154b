package motion

import "math"

// chain computes the likelihood of Brownian steps with noise, in D Δt: a step of dt has variance 2dt/Δt + e + e', two successive steps have covariance
// -e. e = ρw - R, R = exposure/3Δt, is the noise of a place minus the blur (Berglund, Physical Review E 82, 011917, 2010). It is exact, O(n), for any
// times and variances. Without diffusion the steps are only noise, ρ = 1.
type chain struct {
	quad, logDet float64
	a, bx, by    float64 // sums for a velocity: Σ d²/v, Σ dx d/v, Σ dy d/v with d = dt/Δt
}

// run returns false if the noise is too small for such motion.
func (c *chain) run(s *series, diffuses bool, rho, blur float64) bool {
	*c = chain{}
	var ex, ey, ed, v float64
	product := 1.
	before := rho*s.weigh[0] - blur
	for i := 1; i < len(s.x); i++ {
		e := rho*s.weigh[i] - blur
		own := e + before
		d := s.dt[i] / s.step
		if diffuses {
			own += 2 * d
		}
		k := 0.
		if i > 1 {
			k = -before / v
		}
		ex, ey, ed = s.x[i]-s.x[i-1]-k*ex, s.y[i]-s.y[i-1]-k*ey, d-k*ed
		v = own + k*before
		if !(v > 0) {
			return false
		}
		c.quad += (ex*ex + ey*ey) / v
		c.a += ed * ed / v
		c.bx += ex * ed / v
		c.by += ey * ed / v
		product *= v
		if i&3 == 0 { // four factors neither overflow nor underflow a float
			c.logDet += math.Log(product)
			product = 1
		}
		before = e
	}
	c.logDet += math.Log(product)
	return true
}

// moved returns the chain with a velocity integrated over N(0, τ²) along each axis, in √D/Δt.
func (c *chain) moved(tau2 float64) (quad, logDet float64) {
	return c.quad - (c.bx*c.bx+c.by*c.by)/(c.a+1/tau2), c.logDet + math.Log(1+c.a*tau2)
}

// trapped returns the restricted likelihood of a trap of stiffness k, 1/Δt, around any centre, in D Δt: a Kalman filter of an Ornstein-Uhlenbeck path
// that starts from its stationary law of variance 1/k. Filtering a row of ones gives the centre; its flat prior leaves the density of the steps.
func trapped(s *series, k, rho, exposure float64) (quad, logDet float64) {
	// the variance that the mean over an exposure removes; k exposure/3 of 1/k for a slow trap
	blur := 0.
	if x := k * exposure; x > 0 {
		blur = (1 - 2*(x-1+math.Exp(-x))/(x*x)) / k
	}
	var ax, ay, a1, a, bx, by float64
	p := 1 / k
	product := 1.
	regular := math.Exp(-k)
	for i := range s.x {
		if i > 0 {
			keep := regular
			if math.Abs(s.dt[i]-s.step) > 1e-9*s.step { // more than rounding
				keep = math.Exp(-k * s.dt[i] / s.step)
			}
			ax, ay, a1 = keep*ax, keep*ay, keep*a1
			p = keep*keep*p + (1-keep*keep)/k
		}
		v := p + rho*s.weigh[i] - blur
		if !(v > 0) {
			return math.NaN(), math.NaN()
		}
		ex, ey, e1 := s.x[i]-ax, s.y[i]-ay, 1-a1
		quad += (ex*ex + ey*ey) / v
		a += e1 * e1 / v
		bx += ex * e1 / v
		by += ey * e1 / v
		gain := p / v
		ax, ay, a1 = ax+gain*ex, ay+gain*ey, a1+gain*e1
		p *= 1 - gain
		product *= v
		if i&3 == 3 {
			logDet += math.Log(product)
			product = 1
		}
	}
	return quad - (bx*bx+by*by)/a, logDet + math.Log(product) + math.Log(a)
}
