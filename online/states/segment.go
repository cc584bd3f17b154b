// Steps
//
// The steps of an object in a state are Gaussian. With the variance uₙ of position n, which is noise σ² wₙ minus the blur by the exposure e,
//
//	E Δₙ²     = 2DΔt + uₙ₋₁ + uₙ,  uₙ = σ² wₙ - De/3
//	E Δₙ Δₙ₊₁ = -uₙ
//
// (Berglund, Physical Review E 82, 011917, 2010; Vestergaard, Blainey and Flyvbjerg, Physical Review E 89, 022726, 2014). This covariance is tridiagonal. Its
// factors give the exact likelihood of a track in one pass, with gaps and positions of unequal noise. One step in ten thousand may be stray: it ends anywhere
// within the length of the longest step, and the covariance restarts after it.

package states

import "math"

// axes is the number of axes of the picture.
const axes = 2

// Step is the displacement of an object from one detection to the next.
type Step struct {
	X, Y float64 // px
	DT   float64 // s
}

// Segment is a run of consecutive steps of one object. It is immutable once created.
type Segment struct {
	Steps []Step
	// Scale holds the variance of each position along an axis as a multiple of the noise, one more value than steps. nil means that all are 1.
	Scale  []float64
	Weight float64 // weight of its likelihood, 0 to 1
}

// law holds the parameters of a state for the likelihood of steps.
type law struct {
	d        float64 // px²/s
	noise    float64 // localisation variance at scale 1 along an axis, px²
	exposure float64 // s
	stray    float64 // ln of the density of a stray step, 1/px²
}

// slope is a derivative by ln D, and by the noise.
type slope struct{ d, noise float64 }

// place returns the variance u of a position with the given scale, px². Its two neighbouring steps have the covariance -u.
func (l *law) place(scale float64) float64 { return l.noise*scale - l.d*l.exposure/3 }

// scale returns the scale of position n.
func (s *Segment) scale(n int) float64 {
	if s.Scale == nil {
		return 1
	}
	return s.Scale[n]
}

// floor keeps variances above zero for a state without motion and noise, px².
const floor = 1e-12

// One step in ten thousand may be stray: it ends anywhere, for example after a wrong link, and adds no information. A regular step exceeds √20 standard
// deviations only once in 22,000 steps, so only longer steps are tested. If one in a thousand may be stray, too many regular steps count as stray: then the
// intervals contain D in only 94.1 % of populations.
const (
	strays  = 1e-4
	farther = 20.0
)

// isStray reports whether a step is more likely stray than regular, from its square over the variance q of an axis.
func (l *law) isStray(square, q float64) bool {
	return square > farther && -logTwoPi-math.Log(q)-square/2 < l.stray
}

// logLikelihood returns the log likelihood of the steps along both axes, by the factors of the tridiagonal covariance.
func (s *Segment) logLikelihood(l law) float64 {
	var q, y0, y1, b float64 // variance of the last innovation, its two components, its covariance with the next step
	squares, product, logs, strayed := 0.0, 1.0, 0.0, 0
	u := l.place(s.scale(0))
	for n := range s.Steps {
		step := &s.Steps[n]
		next := l.place(s.scale(n + 1))
		c := 0.0
		if n > 0 {
			c = b / q
		}
		q = max(2*l.d*step.DT+u+next-b*c, floor)
		y0, y1 = step.X-c*y0, step.Y-c*y1
		square := (y0*y0 + y1*y1) / q
		if l.isStray(square, q) {
			y0, y1, b, u = 0, 0, 0, next
			strayed++
			continue
		}
		squares += square
		if product *= q; product < 1e-100 || product > 1e100 {
			product, logs = 1, logs+math.Log(product)
		}
		b, u = -next, next
	}
	logs += math.Log(product)
	return s.total(&l, squares, logs, strayed)
}

// total assembles the log likelihood from its parts; stray steps use their own density instead of the Gaussian.
func (s *Segment) total(l *law, squares, logs float64, strayed int) float64 {
	v := -0.5 * (axes*(logs+float64(len(s.Steps)-strayed)*logTwoPi) + squares)
	if strayed > 0 {
		v += float64(strayed) * l.stray
	}
	return v
}

const logTwoPi = 1.8378770664093453

// slopes returns logLikelihood with its derivatives.
func (s *Segment) slopes(l law) (value float64, at slope) {
	var q, y0, y1, b float64
	var dq, dy0, dy1, db slope // derivatives by ln D (d) and by the noise
	squares, product, logs, strayed := 0.0, 1.0, 0.0, 0
	blur := l.d * l.exposure / 3
	w := s.scale(0)
	u, du := l.place(w), slope{-blur, w}
	for n := range s.Steps {
		step := &s.Steps[n]
		w = s.scale(n + 1)
		next, dnext := l.place(w), slope{-blur, w}
		c := 0.0
		var dc slope
		if n > 0 {
			c = b / q
			dc = slope{(db.d - c*dq.d) / q, (db.noise - c*dq.noise) / q}
		}
		walk := 2 * l.d * step.DT
		dq = slope{walk + du.d + dnext.d - db.d*c - b*dc.d, du.noise + dnext.noise - db.noise*c - b*dc.noise}
		q = max(walk+u+next-b*c, floor)
		dy0, dy1 = slope{-dc.d*y0 - c*dy0.d, -dc.noise*y0 - c*dy0.noise}, slope{-dc.d*y1 - c*dy1.d, -dc.noise*y1 - c*dy1.noise}
		y0, y1 = step.X-c*y0, step.Y-c*y1
		inverse := 1 / q
		square := (y0*y0 + y1*y1) * inverse
		if l.isStray(square, q) {
			y0, y1, b, u = 0, 0, 0, next
			dy0, dy1, db, du = slope{}, slope{}, slope{}, dnext
			strayed++
			continue
		}
		squares += square
		at.d -= 0.5 * ((axes-square)*dq.d + 2*(y0*dy0.d+y1*dy1.d)) * inverse
		at.noise -= 0.5 * ((axes-square)*dq.noise + 2*(y0*dy0.noise+y1*dy1.noise)) * inverse
		if product *= q; product < 1e-100 || product > 1e100 {
			product, logs = 1, logs+math.Log(product)
		}
		b, db, u, du = -next, slope{-dnext.d, -dnext.noise}, next, dnext
	}
	logs += math.Log(product)
	return s.total(&l, squares, logs, strayed), at
}
