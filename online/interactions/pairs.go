// Which steps
//
// An object near the edge has unseen neighbours, unless nothing is beyond the edge. A detection that may show two objects has no position. Steps of two
// objects that end too close to each other are missing; the remaining steps lead apart, which looks like a repulsion of 23 px/s at D = 5 px²/s. So a step is
// not used if it begins closer to another object than the resolution plus three standard deviations of their relative step, wherever it ends. This selection
// uses the filtered position, which depends on no later frame. If linking always takes the nearest position, two crossing objects seem to bounce. Between
// free objects this gave a repulsion of 1.7 px/s at 0.8 px, within the guard, and none beyond the guard. Distances within the guard have no pairs, and the
// curve marks them as unknown.

package interactions

import "math"

// meet computes the hats of every object of the frame and marks the steps that are not used for learning.
func (e *Estimator) meet(f *Frame) {
	e.cells.Clear()
	for i, s := range e.now {
		e.cells.Add(int32(i), e.movers[s].zx, e.movers[s].zy)
		e.movers[s].barred = e.atEdge(&e.movers[s])
	}
	e.met = e.met[:0]
	near := e.nearest()
	for i, s := range e.now {
		m := &e.movers[s]
		e.cells.Near(m.zx, m.zy, e.config.Reach, func(j int32) {
			if int(j) > i {
				e.pair(m, &e.movers[e.now[j]], near)
			}
		})
	}
	if !e.law.ready() {
		return
	}
	for i := range e.met {
		p := &e.met[i]
		both := 0.0
		for _, m := range [2]*mover{p.a, p.b} {
			if !m.barred && !m.doubt {
				both++
			}
		}
		e.sums.counted(int(p.knot), p.low*both, (1-p.low)*both)
	}
}

// meeting is a pair of objects in a frame. Their distance lies between knot and knot+1; low is the weight of knot.
type meeting struct {
	a, b *mover
	knot int32
	low  float64
}

// nearest returns the least distance used for learning, px.
func (e *Estimator) nearest() float64 {
	if e.config.Resolution == 0 || e.law.steps == 0 {
		return e.config.Resolution
	}
	step := e.law.squares / e.law.steps / 2 // along an axis
	return e.config.Resolution + guard*math.Sqrt(2*step)
}

// atEdge reports whether an object may have neighbours beyond the picture.
func (e *Estimator) atEdge(m *mover) bool {
	c := &e.config
	return !c.Closed && (m.zx < c.Reach || m.zy < c.Reach || m.zx > c.Width-c.Reach || m.zy > c.Height-c.Reach)
}

// pair adds the hats of two objects for each other, along the line between them, (1).
func (e *Estimator) pair(a, b *mover, near float64) {
	dx, dy := a.zx-b.zx, a.zy-b.zy
	square := dx*dx + dy*dy
	if square >= e.config.Reach*e.config.Reach || square == 0 {
		return
	}
	r := math.Sqrt(square)
	if r < near {
		a.barred, b.barred = true, true
	}
	at := r / e.config.Reach * Knots
	k := min(int(at), Knots-1)
	low := 1 - (at - float64(k))
	dx, dy = dx/r, dy/r
	for i, h := range heights(k, at-float64(k)) {
		if knot := k - 1 + i; knot >= 0 && knot < Knots {
			a.later.add(knot, h*dx, h*dy)
			b.later.add(knot, -h*dx, -h*dy)
		}
	}
	e.met = append(e.met, meeting{a, b, int32(k), low})
}

// heights returns the weights of knots k-1 to k+2 in the force at the fraction t between knots k and k+1. It uses cubic convolution (Keys, IEEE Transactions
// on Acoustics, Speech, and Signal Processing 29, 1153, 1981), whose coefficients are the force's values at the knots. Linear interpolation would have an
// error of a twelfth of the curvature, more than the standard error at a steep contact. Below the second knot it is linear, because there is no knot below
// zero.
func heights(k int, t float64) [4]float64 {
	if k == 0 {
		return [4]float64{0, 1 - t, t, 0}
	}
	return [4]float64{((2-t)*t - 1) * t / 2, ((3*t-5)*t*t + 2) / 2, ((4-3*t)*t + 1) * t / 2, (t - 1) * t * t / 2}
}
