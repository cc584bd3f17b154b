// Limits
//
// The estimate needs forces that change little during a frame: if 2|f'|Δt exceeds 0.3, or at a hard contact, the force appears smoothed over the length of a
// step. A force that depends on direction, on a third object or on speed is out of scope. The model assumes that the thermal motions of neighbours are
// independent (no flow couples them). It ignores the forces of undetected objects.

package interactions

import "math"

// normal95 is the 97.5 % point of a normal law.
const normal95 = 1.96

// Curve is the force between two objects by their distance. A positive force drives them apart.
type Curve struct {
	R         []float64 // distance, px
	F         []float64 // velocity of one object due to another, px/s
	SE        []float64 // standard error of F, px/s
	Low, High []float64 // 95 % interval of F, px/s
	Pairs     []float64 // number of steps that began near this distance from another object; 0 if only the prior determines F
	G         []float64 // pair distribution function: pairs relative to random positions; NaN if Config.Closed is set
	Mean      []float64 // F averaged over all priors and no force, px/s: the best single estimate, shrunk towards zero
	D         float64   // coefficient of diffusion, px²/s; F/D is the force over kT, 1/px; NaN before the first steps
	Noise     float64   // localisation variance including the blur, px²
	Evidence  float64   // ln p(steps | a pair force)/p(steps | none)
	Steps     float64   // number of steps used
}

// Reset empties the lists of a curve for reuse.
func (c *Curve) Reset() {
	for _, l := range []*[]float64{&c.R, &c.F, &c.SE, &c.Low, &c.High, &c.Pairs, &c.G, &c.Mean} {
		*l = (*l)[:0]
	}
}

// Force returns F over kT at a knot with its interval, 1/px.
func (c *Curve) Force(knot int) (f, low, high float64) {
	return c.F[knot] / c.D, c.Low[knot] / c.D, c.High[knot] / c.D
}

// Curve writes the force learnt so far into dst.
func (e *Estimator) Curve(dst *Curve) {
	dst.Reset()
	dst.D, dst.Noise, dst.Steps, dst.Evidence = e.law.d(), e.law.noise(), e.sums.shown, 0
	e.work.odds, e.work.curve, e.work.mean = 0, values{}, values{}
	if e.sums.shown > 0 {
		e.work.weigh(&e.sums, e.priors, e.law.d()/e.config.Reach)
		dst.Evidence = e.work.odds
	}
	width := e.config.Reach / Knots
	for k := range Knots {
		r := float64(k) * width
		f, se := e.work.curve[k], math.Sqrt(e.work.variance[k])
		if e.sums.shown == 0 {
			se = math.Inf(1)
		}
		area := 2 * math.Pi * r * width // integral of 2πr over a hat
		if k == 0 {
			area = math.Pi * width * width / 3
		}
		g := math.NaN()
		if !e.config.Closed && e.sums.ideal > 0 {
			g = e.sums.near[k] / (e.sums.ideal * area)
		}
		dst.R, dst.F, dst.SE = append(dst.R, r), append(dst.F, f), append(dst.SE, se)
		dst.Low, dst.High = append(dst.Low, f-normal95*se), append(dst.High, f+normal95*se)
		dst.Pairs, dst.G, dst.Mean = append(dst.Pairs, e.sums.near[k]), append(dst.G, g), append(dst.Mean, e.work.mean[k])
	}
}
