// The steps of a track
//
// The steps Δ of a track along an axis are diffusion plus localisation noise (Vestergaard, Blainey and Flyvbjerg, Physical Review E 89, 022726, 2014):
//
//	E Δₙ²     = 2DΔt + 2(σ² - 2RDΔt)     Δt the time of a step, σ² the localisation variance, R = exposure/6Δt the blur by motion
//	E Δₙ Δₙ₊₁ = -(σ² - 2RDΔt)
//
// So D = (<Δ²>/2 + <ΔΔ'>)/Δt for any σ and R. For N steps, with ε = σ²/DΔt - 2R,
//
//	Var D = D² [(6 + 4ε + 2ε²)/N + 4(1+ε)²/N²]     along one axis

package population

import "math"

// axes is the number of axes of the picture.
const axes = 2

// sums are sums over a track's steps along both axes.
type sums struct {
	squares float64 // Σ Δ²
	steps   float64
	crossed float64 // Σ Δₙ Δₙ₊₁
	pairs   float64
	seconds float64 // Σ Δt
}

// Law estimates the motion of one track. The zero value has no steps.
type Law struct {
	sums   sums
	path   float64 // px, without the common motion
	dx, dy float64 // Σ Δ
	from   struct {
		x, y, t float64
		known   bool
	}
	step struct { // the last step, known if the last position ended a step
		x, y, weight float64
		known        bool
	}
	recent struct{ x, y, seconds float64 } // Σ Δ and Σ Δt, with forgetting
}

// Place is the position of a detection of an object.
type Place struct {
	X, Y, T float64 // px, s
	Weight  float64 // probability that the step to this position belongs to the object, 0 to 1
}

// Diffusion is a coefficient of diffusion with its 95 % interval, px²/s. It is NaN before the second step.
type Diffusion struct {
	D, Low, High float64
	Noise        float64 // localisation sd per axis without the blur, px
}

// Step is the motion of an object from one detection to the next, without the common motion.
type Step struct{ X, Y, DT float64 } // px, s

// Add adds a position and returns the step to it, or false if there is none. It subtracts the common motion from the step. The step is weighted by p.Weight.
func (l *Law) Add(p Place, common *Common) (step Step, ok bool) {
	x, y, t, w := p.X, p.Y, p.T, p.Weight
	if l.from.known && t > l.from.t {
		dt := t - l.from.t
		dx, dy := x-l.from.x, y-l.from.y
		l.remember(dx, dy, dt)
		dx, dy = dx-common.X*dt, dy-common.Y*dt
		l.sums.squares += w * (dx*dx + dy*dy)
		l.sums.steps += w
		l.sums.seconds += w * dt
		l.path += math.Hypot(dx, dy)
		l.dx, l.dy = l.dx+w*dx, l.dy+w*dy
		if l.step.known {
			both := w * l.step.weight
			l.sums.crossed += both * (dx*l.step.x + dy*l.step.y)
			l.sums.pairs += both
		}
		l.step.x, l.step.y, l.step.weight, l.step.known = dx, dy, w, true
		step, ok = Step{dx, dy, dt}, true
	}
	l.from.x, l.from.y, l.from.t, l.from.known = x, y, t, true
	return step, ok
}

// remember adds a step to the recent ones.
func (l *Law) remember(dx, dy, dt float64) {
	const keep = 1 - 1/commonMemory
	r := &l.recent
	r.x, r.y, r.seconds = keep*r.x+dx, keep*r.y+dy, keep*r.seconds+dt
}

// Cut omits the step to the next position.
func (l *Law) Cut() { l.from.known, l.step.known = false, false }

// Path returns the length of the object's path, px.
func (l *Law) Path() float64 { return l.path }

// Steps returns the sum of the weights of the steps, rounded.
func (l *Law) Steps() uint64 { return uint64(math.Round(l.sums.steps)) }

// Drift returns the mean velocity, px/s.
func (l *Law) Drift() (x, y float64) {
	if l.sums.seconds == 0 {
		return 0, 0
	}
	return l.dx / l.sums.seconds, l.dy / l.sums.seconds
}

// D returns the diffusion of the track, px²/s, or NaN without a step. After a single step it includes the noise.
func (l *Law) D() float64 {
	if l.sums.steps == 0 {
		return math.NaN()
	}
	if l.sums.pairs == 0 {
		return l.sums.squares / (2 * axes * l.sums.seconds)
	}
	d, _, _ := l.sums.estimate()
	return max(d, 0)
}

// Diffusion returns the diffusion of the track. exposure is the exposure time of a frame, s. If runs is true, the mean velocity is subtracted.
func (l *Law) Diffusion(exposure float64, runs bool) Diffusion {
	s := l.sums
	if runs && s.steps > 1 {
		s = l.still()
	}
	return s.diffusion(exposure)
}

// still returns the sums without the contribution of the mean velocity. Estimating the mean costs one of N steps.
func (l *Law) still() sums {
	s := l.sums
	square := (l.dx*l.dx + l.dy*l.dy) / s.steps
	s.squares = max(s.squares-square, 0) * s.steps / (s.steps - 1)
	s.crossed -= square * s.pairs / s.steps
	return s
}

// estimate returns D, the localisation variance including the blur, and the mean time of a step.
func (s *sums) estimate() (d, noise, dt float64) {
	dt = s.seconds / s.steps
	noise = -s.crossed / s.pairs / axes
	return (s.squares/s.steps/axes/2 - noise) / dt, noise, dt
}

// diffusion returns D with its interval by the covariances. The variance is computed at the estimate of D.
func (s *sums) diffusion(exposure float64) Diffusion {
	if s.pairs < 1 {
		return Diffusion{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	d, noise, dt := s.estimate()
	sd := s.sd(d, noise, dt)
	blur := min(exposure/6, dt/6) // R Δt
	return Diffusion{d, max(d-normal95*sd, 0), max(d+normal95*sd, 0), math.Sqrt(max(noise+2*max(d, 0)*blur, 0))}
}

// normal95 is the 97.5 % point of a normal law.
const normal95 = 1.96

// sd returns the standard deviation of D for N steps along both axes.
func (s *sums) sd(d, noise, dt float64) float64 {
	// D² (6 + 4ε + 2ε²), ε = noise/DΔt, in a form in which D may be zero
	d, e := max(d, 0), max(noise, 0)/dt
	n := s.steps
	return math.Sqrt(((6*d*d+4*d*e+2*e*e)/n + 4*(d+e)*(d+e)/(n*n)) / axes)
}
