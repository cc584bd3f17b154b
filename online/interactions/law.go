package interactions

import "math"

// warm is how many steps there are before the law of steps is good to a tenth, and the first force is learnt.
const warm = 200

// law is the diffusion of all objects, and what their places' variance is beside what the caller says: sums over steps Δ, doc.go (2).
type law struct {
	squares, steps, seconds float64 // Σ Δ² over both axes, Σ 1, Σ Δt
	crossed, pairs          float64 // Σ Δₙ Δₙ₊₁ over both axes, Σ 1
	variances               float64 // Σ of the variance that the caller gave, over the pairs' middle places
}

// fade forgets.
func (l *law) fade(by float64) {
	for _, v := range []*float64{&l.squares, &l.steps, &l.seconds, &l.crossed, &l.pairs, &l.variances} {
		*v *= by
	}
}

// add takes in the step that leads to a place, and the one before.
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

// ready says whether there are enough steps.
func (l *law) ready() bool { return l.pairs >= warm }

// noise is the variance of a place with the blur in it, which may be below zero; px².
func (l *law) noise() float64 {
	if l.pairs == 0 {
		return 0
	}
	return -l.crossed / l.pairs / 2
}

// d is the coefficient of diffusion, px²/s.
func (l *law) d() float64 {
	if l.seconds == 0 {
		return math.NaN()
	}
	square := l.squares / l.steps / 2
	return max(square-2*l.noise(), leastMotion*square) / (2 * l.seconds / l.steps)
}

// leastMotion is the least share of a step's square that is motion: with less, filters would have a memory beyond any film's.
const leastMotion = 1e-3

// square is the variance of motion in dt s, px².
func (l *law) square(dt float64) float64 { return 2 * l.d() * dt }

// excess is what is to be added to a given variance so that steps have the covariance that they have. Motion blurs a place by 1/6 of a step's variance at
// most; the filter needs more than -1/4 (P of (3) has no solution beyond).
func (l *law) excess() float64 {
	if l.pairs == 0 {
		return 0
	}
	return l.noise() - l.variances/l.pairs
}

// placed is a variance with the excess in it, after dt s.
func (l *law) placed(variance, dt float64) float64 {
	const blur = 1.0 / 6
	return max(variance+l.excess(), -blur*l.square(dt))
}
