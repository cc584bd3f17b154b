// Noise
//
// Positions are located with noise, m = x + √R w. The noise at the beginning of a step changes Ψ and, with opposite sign, the step, so it looks like a force:
// at σ² = DΔt, the regression of steps on the preceding positions was wrong by four standard errors and gave twice the force. So steps pass a Kalman filter,
// as in online/regression. All objects share D and R, from the covariances of steps Δ along an axis,
//
//	E Δ² = 2DΔt + 2R,  E ΔΔ' = -R                                                                   (2)
//
// R is the caller's localisation variance plus a common excess. Motion during the exposure reduces R, down to -1/6 of 2DΔt. With the known force g, the mean
// of f half a second ago,
//
//	P = p + 2DΔt;  S = P + R;  e = m - z - gΔt;  z ← z + gΔt + (P/S)e;  p ← RP/S                     (3)
//
// e is white and independent of earlier data. It responds to each hat by h, and to the known force by h_g, which is added again:
//
//	h ← (1-P/S)h + ΔtΨ,  h̄ ← (1-P/S)h̄ + Δt(Ψ + Ψ')/2,  e + h_g = h̄c + √S w                         (4)
//
// Ψ is at the beginning of the step, Ψ' at its end, both at filtered positions. h̄ is right to second order in Δt, but Ψ' contains the noise of the step. h
// does not, so h is the instrument. With h in both places, a contact of 18 px/s with a width of 2 px was 4.5 px/s too weak at Δt = 20 ms; with h̄ it was 0.2
// px/s too weak. An object with larger innovations, for example with another D, counts less: S is scaled by their running mean square.
//
//	M = Σ hh'/S,  A = Σ hh̄'/S,  b = Σ h(e + h_g)/S;   b ~ N(Ac, M)                                   (5)
//
// The sums run over steps and both axes, with forgetting. Each step is weighted by the probability that it belongs to the object. With h̄ = h these are X'X
// and X'y. M is scaled by the mean square of the innovations over S, in case (2) does not hold for all objects.

package interactions

import "math"

// warm is the number of steps after which the law of steps is accurate to a tenth and the force is learnt.
const warm = 200

// law determines the diffusion of all objects and the excess of the localisation variance over the caller's variance, by sums over steps Δ, (2).
type law struct {
	squares, steps, seconds float64 // Σ Δ² over both axes, Σ 1, Σ Δt
	crossed, pairs          float64 // Σ Δₙ Δₙ₊₁ over both axes, Σ 1
	variances               float64 // Σ of the caller's variances at the middle positions of the pairs
}

// fade multiplies all sums by a factor.
func (l *law) fade(by float64) {
	for _, v := range []*float64{&l.squares, &l.steps, &l.seconds, &l.crossed, &l.pairs, &l.variances} {
		*v *= by
	}
}

// add adds the step to a position and its product with the previous step.
func (l *law) add(m *mover, p place) {
	dx, dy := p.x-m.mx-p.shiftX, p.y-m.my-p.shiftY
	if m.barred {
		m.stepped, m.mx, m.my = false, p.x, p.y
		return
	}
	l.squares += p.weight * (dx*dx + dy*dy)
	l.steps += p.weight
	l.seconds += p.weight * p.dt
	if m.stepped {
		l.crossed += p.weight * (dx*m.step.x + dy*m.step.y)
		l.pairs += p.weight
		l.variances += p.weight * p.variance
	}
	m.step.x, m.step.y, m.stepped = dx, dy, true
	m.mx, m.my = p.x, p.y
}

// ready reports whether there are enough steps.
func (l *law) ready() bool { return l.pairs >= warm }

// noise returns the localisation variance including the blur, px². It may be negative.
func (l *law) noise() float64 {
	if l.pairs == 0 {
		return 0
	}
	return -l.crossed / l.pairs / 2
}

// d returns the coefficient of diffusion, px²/s.
func (l *law) d() float64 {
	if l.seconds == 0 {
		return math.NaN()
	}
	square := l.squares / l.steps / 2
	return max(square-2*l.noise(), leastMotion*square) / (2 * l.seconds / l.steps)
}

// leastMotion is the smallest fraction of a step's mean square that counts as motion. With less, the memory of the filters would exceed any film.
const leastMotion = 1e-3

// square returns the variance of motion in dt s, px².
func (l *law) square(dt float64) float64 { return 2 * l.d() * dt }

// excess returns the variance that must be added to the caller's variance to explain the measured covariance of steps. Blur is at most 1/6 of a step's
// variance; the filter needs R above -1/4 of it (otherwise P of (3) has no solution).
func (l *law) excess() float64 {
	if l.pairs == 0 {
		return 0
	}
	return l.noise() - l.variances/l.pairs
}

// placed returns a variance plus the excess, after dt s.
func (l *law) placed(variance, dt float64) float64 {
	const blur = 1.0 / 6
	return max(variance+l.excess(), -blur*l.square(dt))
}
