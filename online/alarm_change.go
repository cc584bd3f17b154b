package online

import (
	"math"

	"driftscope/internal/latent"
)

// What a changed law is taken to be, doc.go (16).
var (
	diffusionChanges = [...]float64{4, 0.25}                       // factors of σ²
	driftChanges     = [...]float64{-1, -0.5, -0.25, 0.25, 0.5, 1} // shifts of the drift, in √(σ²/Δt)
)

const (
	mostTelling  = 20   // likelihood ratio that one frame can have: no one frame decides
	mostEvidence = 1e10 // at which evidence stops growing
	knownWell    = 256  // a shift of m is looked for once m²·transitions, which say how well the drift is known, exceed this
	proven       = 12   // ln-likelihood over no drift by which the drift found has earned to be the one that others must beat
	lasting      = 2048 // frames over which what a proven drift is worth adds up
	worthless    = 1    // nats in so many, below which it is as good as none and must prove itself anew
)

// changes weighs laws that are not the one found against it, by the innovations of each dimension's own filters. Evidence is that of
// Shiryaev and Roberts, in frames: while the law holds, its mean grows by at most one a frame.
type changes struct {
	rivals    []rivals
	diffusion []float64 // of each of diffusionChanges, a dimension
	drift     []float64 // of each of driftChanges, a dimension
	vanished  float64   // of no drift at all
	merit     float64   // ln-likelihood of the drift found over none; once that was proven, what it is on average if the drift found is right
}

// rivals are one dimension's Kalman filters: of the law found, and of those with its σ² changed. e and s are their last innovations and
// the variances of those; shift and answer what a constant drift of 1, and the drift found, were worth in the first one.
type rivals struct {
	z, p, e, s    [1 + len(diffusionChanges)]float64
	shift, answer float64 // s, latent
	kept          float64 // 1 - the last gain: what is left of either after a measurement
}

func newChanges(dim int) *changes {
	return &changes{
		rivals:    make([]rivals, dim),
		diffusion: make([]float64, dim*len(diffusionChanges)), drift: make([]float64, dim*len(driftChanges)),
	}
}

// start begins a trajectory at m. What earlier ones have told stays told.
func (c *changes) start(m []float64, found []diffusion) {
	for i := range c.rivals {
		r := &c.rivals[i]
		*r = rivals{}
		for k := range r.z {
			r.z[k], r.p[k] = m[i], found[i].noise
		}
	}
}

// step folds in the measurement m, dt after the last, under the law found, whose drift is linear about centre.
func (c *changes) step(m []float64, dt float64, mu, jac, centre []float64, found []diffusion) {
	for i := range c.rivals {
		c.rivals[i].step(m[i], dt, mu[i], decay(jac[i*len(m)+i], dt), centre[i], found[i])
	}
}

func (r *rivals) step(m, dt, mu, decay, centre float64, d diffusion) {
	r.shift = decay*r.kept*r.shift + dt
	r.answer = decay*r.kept*r.answer + mu*dt
	for k := range r.z {
		v := d.v
		if k > 0 {
			v *= diffusionChanges[k-1]
		}
		ahead, p := centre+mu*dt+decay*(r.z[k]-centre), decay*decay*r.p[k]+v*dt
		gain := 0.0
		if r.s[k] = p + d.noise; r.s[k] > 0 {
			gain = p / r.s[k]
		}
		r.e[k] = m - ahead
		r.z[k], r.p[k] = ahead+gain*r.e[k], gain*d.noise
		if k == 0 {
			r.kept = 1 - gain
		}
	}
}

// weigh renews the evidence by the last step. n transitions of seconds in all are what the law was found in. Until the drift found has
// proven itself, a shift must be likelier than no drift as well.
func (c *changes) weigh(found []diffusion, activity []latent.Activity, n, seconds float64) {
	step := math.Sqrt(n / seconds) // Δt^-½
	none := 0.0                    // ln-likelihood ratio of no drift against the one found
	worth := 0.0                   // that of the one found against none, on average where it is right
	for i := range c.rivals {
		r, d := &c.rivals[i], found[i]
		factors, shifts := c.diffusion[i*len(diffusionChanges):][:len(diffusionChanges)], c.drift[i*len(driftChanges):][:len(driftChanges)]
		if activity[i] != latent.Active || !(r.s[0] > 0) {
			clear(factors)
			clear(shifts)
			continue
		}
		if d.high < 2*d.v && d.low > d.v/2 {
			r.weigh(factors)
		}
		sd := math.Sqrt(r.s[0])
		unit, answer, e := math.Sqrt(d.v)*step*r.shift/sd, r.answer/sd, r.e[0]/sd
		still := -answer * (e + answer/2)
		none += still
		worth += answer * answer / 2
		handicap := 0.0
		if !c.proves() {
			handicap = max(still, 0)
		}
		for k, m := range driftChanges {
			if m*m*n > knownWell {
				shifts[k] = grown(shifts[k], math.Exp(m*unit*(e-m*unit/2)-handicap))
			}
		}
	}
	if !c.proves() {
		c.merit -= none
		return
	}
	c.vanished = grown(c.vanished, math.Exp(none))
	if c.merit = min(c.merit, proven)*(1-1.0/lasting) + worth; c.merit < worthless {
		c.vanished, c.merit = 0, 0
	}
}

// proves says whether the drift found has proven itself, and is still worth something.
func (c *changes) proves() bool { return c.merit > proven || c.vanished > 0 }

// weigh renews the evidence of diffusionChanges in one dimension.
func (r *rivals) weigh(evidence []float64) {
	fit := r.e[0] * r.e[0] / r.s[0]
	for k := range diffusionChanges {
		e, s := r.e[1+k], r.s[1+k]
		evidence[k] = grown(evidence[k], math.Sqrt(r.s[0]/s)*math.Exp((fit-e*e/s)/2))
	}
}

// grown is evidence r after a frame that was ratio times as likely under the changed law.
func grown(r, ratio float64) float64 {
	return min(min(ratio, mostTelling)*(1+r), mostEvidence)
}

// evidence is the mean of each kind over active dimensions and over what their laws may have become.
func (c *changes) evidence(active int) (e Evidence) {
	if active > 0 {
		diffusion, _ := total(c.diffusion)
		drift, _ := total(c.drift)
		e.Diffusion = diffusion / float64(active*len(diffusionChanges))
		e.Drift = (drift/float64(active*len(driftChanges)) + c.vanished) / 2
	}
	return e
}

// suspects are the dimensions with most of the evidence, and whether the one diffuses more than it did.
func (c *changes) suspects() (drifts, diffuses int, more bool) {
	_, drift := total(c.drift)
	_, diffusion := total(c.diffusion)
	return drift / len(driftChanges), diffusion / len(diffusionChanges), diffusionChanges[diffusion%len(diffusionChanges)] > 1
}

// total is the sum of x, and where its largest entry is.
func total(x []float64) (sum float64, at int) {
	for k, v := range x {
		sum += v
		if v > x[at] {
			at = k
		}
	}
	return sum, at
}

func (c *changes) archive(a *archive) {
	for i := range c.rivals {
		r := &c.rivals[i]
		a.floats(r.z[:])
		for k := range r.p {
			a.magnitudes(&r.p[k])
		}
		a.float(&r.shift)
		a.float(&r.answer)
		a.magnitudes(&r.kept)
	}
	for _, list := range [][]float64{c.diffusion, c.drift} {
		for k := range list {
			a.magnitudes(&list[k])
		}
	}
	a.magnitudes(&c.vanished)
	a.float(&c.merit)
}
