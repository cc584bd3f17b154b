package population

import "math"

// axes are those of the picture.
const axes = 2

// sums are those of a track's steps over both axes.
type sums struct {
	squares float64 // Σ Δ²
	steps   float64
	crossed float64 // Σ Δₙ Δₙ₊₁
	pairs   float64
	seconds float64 // Σ Δt
}

// Law is what the steps of one track tell. The zero value has seen nothing.
type Law struct {
	sums   sums
	path   float64 // px, the common motion taken off
	dx, dy float64 // Σ Δ
	from   struct {
		x, y, t float64
		known   bool
	}
	step struct { // the last one, where the detection before it was the last but one
		x, y, weight float64
		known        bool
	}
	recent struct{ x, y, seconds float64 } // Σ Δ and Σ Δt, with forgetting
}

// Place is where an object was detected.
type Place struct {
	X, Y, T float64 // px, s
	Weight  float64 // of the step that leads here, 0 to 1
}

// Diffusion is a coefficient of diffusion with its 95 % interval, px²/s. It is not a number before there are two steps.
type Diffusion struct {
	D, Low, High float64
	Noise        float64 // sd of a place, px, an axis; blur taken off
}

// Step is what an object did from one detection to the next, the common motion taken off.
type Step struct{ X, Y, DT float64 } // px, s

// Add takes in a place at a time, seconds, and gives the step that leads to it; false where none does. Of the step the common velocity is taken off, px/s; it
// counts by its weight, the probability that it is this object's.
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

// Cut has the next place begin anew: no step leads to it.
func (l *Law) Cut() { l.from.known, l.step.known = false, false }

// Path is how far the object went, px.
func (l *Law) Path() float64 { return l.path }

// Steps is how many the law rests on.
func (l *Law) Steps() uint64 { return uint64(l.sums.steps) }

// Drift is the mean velocity, px/s.
func (l *Law) Drift() (x, y float64) {
	if l.sums.seconds == 0 {
		return 0, 0
	}
	return l.dx / l.sums.seconds, l.dy / l.sums.seconds
}

// D is the mean square of the steps as diffusion, px²/s, before the noise can be told from them; NaN without a step.
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

// Diffusion is the law's, for frames exposed for some seconds. Where the object runs, its mean velocity is taken off.
func (l *Law) Diffusion(exposure float64, runs bool) Diffusion {
	s := l.sums
	if runs && s.steps > 1 {
		s = l.still()
	}
	return s.diffusion(exposure)
}

// still are the sums less what the mean velocity makes of them; the mean itself takes one step of N.
func (l *Law) still() sums {
	s := l.sums
	square := (l.dx*l.dx + l.dy*l.dy) / s.steps
	s.squares = max(s.squares-square, 0) * s.steps / (s.steps - 1)
	s.crossed -= square * s.pairs / s.steps
	return s
}

// estimate is D, the variance of a place with the blur in it, and the mean time of a step.
func (s *sums) estimate() (d, noise, dt float64) {
	dt = s.seconds / s.steps
	noise = -s.crossed / s.pairs / axes
	return (s.squares/s.steps/axes/2 - noise) / dt, noise, dt
}

// diffusion is D with the interval of the covariances, the variance at D itself.
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

// sd is the standard deviation of D by N steps along both axes.
func (s *sums) sd(d, noise, dt float64) float64 {
	// D² (6 + 4ε + 2ε²), ε = noise/DΔt, written so that D may be zero
	d, e := max(d, 0), max(noise, 0)/dt
	n := s.steps
	return math.Sqrt(((6*d*d+4*d*e+2*e*e)/n + 4*(d+e)*(d+e)/(n*n)) / axes)
}
