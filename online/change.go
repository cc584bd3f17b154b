// Law
//
// For each active dimension of a believed frame, alternative laws are compared with the current law by the innovation e with variance s. Λ is the likelihood
// ratio of an alternative to the current law (Shiryaev 1963, Roberts 1966; Pollak 1985):
//
//	E ← min(Λ, 20)(1 + E),  alarm if the mean of E over the alternatives exceeds A            (16)
//	diffusion_changed   Λ = √(s/s')exp ½(e²/s - e'²/s'), of a filter with 4v or v/4
//	drift_changed       Λ = exp(ae/√s - a²/2), a = m√(v/Δt)h/√s, m = ±¼, ±½, ±1;  and of μ = 0
//
// h is the forecast's response to a drift of 1, h ← (1 - gain)Fh + Δt. Under the law E[Λ | past] = 1, whatever the noise and the time steps, so the mean of E
// is at most k on average after k frames, and an alarm is false once in A frames at most. The laws are estimates, so comparisons start late. Diffusion is
// compared once refinement has learnt the drift of the dimension and the interval of σ² lies within a factor of two on either side. A drift is compared once
// m²n > 256. μ = 0 is compared with cμ, the smallest drift compatible with the estimate. c is three standard deviations below 1, but at least ½: c = max(½, 1
// - 3/√Σg²), where g are the responses to the drift found, in sds. If the true drift is at least c times the drift found, E[Λ | past] = exp(-(c' - c)cg²) is
// 1 at most. The drift found is established once it beats no drift by 12 nats. Until then, shifts must beat no drift as well. A drift that gains less than a
// nat over 2048 frames must be established again; E of no drift is 0 until then. Both rules only reduce E and use only data from before the frame, so the
// mean of E stays at most k. An alarm ends at A/100.
//
// too_few_dimensions begins by the evidence (22) in online/regression.
//
// Simulated at A = 1000, 15000 frames of a known spring with r = 0, 1 and 9 gave 5 to 7 false alarms of the diffusion, 4 or 5 of the drift, and 14 to 19 held
// frames; 15 of each are allowed. At A = 1e5, on seeds not used for tuning, 300000 frames of a known spring gave one false alarm of the diffusion, 2 of the
// drift and 3 held frames. 720000 frames of springs, spirals and constant drifts learnt from scratch, r from 0 to 16, gave 4, 2 and 4. These figures are for
// two dimensions and Gaussian noise; otherwise expect more. In two or three runs each at r up to 1, the alarm began 14 to 22 frames after σ doubled (27 to 64
// at r = 4), 72 to 77 after σ halved, 90 to 191 after a spring's centre moved by 2.8 of its own widths, and 33 to 215 after a spiral reversed.

package online

import (
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

// Alternative laws and the limits of their evidence, (16).
var (
	diffusionFactors = [...]float64{4, 0.25}                       // factors of σ²
	driftShifts      = [...]float64{-1, -0.5, -0.25, 0.25, 0.5, 1} // m, in √(σ²/Δt)
)

const (
	mostRatio     = 20   // largest likelihood ratio of one frame, so no single frame decides
	mostEvidence  = 1e10 // evidence stops growing here
	knownWell     = 256  // a shift of m is tested once m²·transitions, the precision of the drift, exceeds this
	establishedAt = 12   // ln-likelihood over no drift at which the drift found counts as established
	worthFrames   = 2048 // averaging time of an established drift's gain, in frames
	worthLeast    = 1    // nats per worthFrames below which the drift must be established again
	weakest       = 0.5  // no drift is compared with at least this fraction of the estimated drift
)

// changes compares alternative laws with the law found, by the innovations of each dimension's own filters. The evidence is the Shiryaev- Roberts statistic,
// in frames: while the law holds, its mean grows by at most one per frame.
type changes struct {
	filters   []alternatives // one element per dimension
	asked     []bool         // per dimension, whether the current drift was learnt from this dimension
	diffusion []float64      // evidence for each of diffusionFactors, per dimension
	drift     []float64      // evidence for each of driftShifts, per dimension
	noDrift   float64        // evidence for no drift at all
	known     float64        // Σ of squared responses to the drift found, in sds; 1/known is the variance of the drift's scale
	worth     float64        // ln-likelihood ratio of the drift found to no drift; once established, its running average if the drift found is right
}

// alternatives holds one dimension's Kalman filters: first the filter of the law found, then one filter per alternative σ². e and s are their last
// innovations and the variances of these innovations.
type alternatives struct {
	z, p, e, s    [1 + len(diffusionFactors)]float64
	unitResponse  float64 // response of the first filter's forecast to a constant drift of 1, s
	driftResponse float64 // response to the drift found, latent
	retained      float64 // 1 - the last gain: the fraction of either response that remains after a measurement
}

func newChanges(dim int) *changes {
	return &changes{
		filters: make([]alternatives, dim), asked: make([]bool, dim),
		diffusion: make([]float64, dim*len(diffusionFactors)), drift: make([]float64, dim*len(driftShifts)),
	}
}

// start implements Monitor.Start.
func (c *changes) start(m []float64, found []diffusion.Estimate) {
	for i := range c.filters {
		r := &c.filters[i]
		*r = alternatives{}
		for k := range r.z {
			r.z[k], r.p[k] = m[i], found[i].FilterNoise
		}
	}
}

// step implements Monitor.Step.
func (c *changes) step(m []float64, dt float64, t *drift.Tangent, found []diffusion.Estimate) {
	for i := range c.filters {
		c.filters[i].step(m[i], dt, t.Line(i), found[i])
	}
}

func (r *alternatives) step(m, dt float64, line drift.Line, d diffusion.Estimate) {
	decay := line.Decay(dt)
	r.unitResponse = decay*r.retained*r.unitResponse + dt
	r.driftResponse = decay*r.retained*r.driftResponse + line.Mu*dt
	for k := range r.z {
		v := d.V
		if k > 0 {
			v *= diffusionFactors[k-1]
		}
		ahead, p := line.Centre+line.Mu*dt+decay*(r.z[k]-line.Centre), decay*decay*r.p[k]+v*dt
		gain := 0.0
		if r.s[k] = p + d.FilterNoise; r.s[k] > 0 {
			gain = p / r.s[k]
		}
		r.e[k] = m - ahead
		r.z[k], r.p[k] = ahead+gain*r.e[k], gain*d.FilterNoise
		if k == 0 {
			r.retained = 1 - gain
		}
	}
}

// weigh updates the evidence by the last step. The law was found in n transitions that last seconds in total. Until the drift found is established, a shift
// must also be likelier than no drift.
func (c *changes) weigh(found []diffusion.Estimate, activity []latent.Activity, n, seconds float64) {
	perStep := math.Sqrt(n / seconds) // Δt^-½
	none := 0.0                       // ln-likelihood ratio of no drift to the drift found
	gone := 0.0                       // ln-likelihood ratio of no drift to the weakest drift that the estimate allows
	end := c.end()
	worth := 0.0 // mean ln-likelihood ratio of the drift found to none, if the drift found is right
	for i := range c.filters {
		r, d := &c.filters[i], found[i]
		factors, shifts := c.diffusion[i*len(diffusionFactors):][:len(diffusionFactors)], c.drift[i*len(driftShifts):][:len(driftShifts)]
		if activity[i] != latent.Active || !(r.s[0] > 0) {
			clear(factors)
			clear(shifts)
			continue
		}
		if !c.asked[i] {
			clear(factors)
		} else if d.High < 2*d.V && d.Low > d.V/2 {
			r.weighFactors(factors)
		}
		sd := math.Sqrt(r.s[0])
		unit, response, e := math.Sqrt(d.V)*perStep*r.unitResponse/sd, r.driftResponse/sd, r.e[0]/sd
		still := -response * (e + response/2)
		none += still
		gone -= end * response * (e + (1-end)*response + end*response/2)
		worth += response * response / 2
		handicap := 0.0
		if !c.established() {
			handicap = max(still, 0)
		}
		for k, m := range driftShifts {
			if m*m*n > knownWell {
				shifts[k] = grown(shifts[k], math.Exp(m*unit*(e-m*unit/2)-handicap))
			}
		}
	}
	c.known += 2 * worth
	if !c.established() {
		c.worth -= none
		return
	}
	c.noDrift = grown(c.noDrift, math.Exp(gone))
	if c.worth = min(c.worth, establishedAt)*(1-1.0/worthFrames) + worth; c.worth < worthLeast {
		c.noDrift, c.worth, c.known = 0, 0, 0
	}
}

// established reports whether the drift found has beaten no drift and still explains enough motion.
func (c *changes) established() bool { return c.worth > establishedAt || c.noDrift > 0 }

// end returns the smallest plausible ratio of the true drift to the drift found: three standard deviations below 1.
func (c *changes) end() float64 { return max(weakest, 1-3/math.Sqrt(c.known)) }

// weighFactors updates the evidence for diffusionFactors in one dimension.
func (r *alternatives) weighFactors(evidence []float64) {
	fit := r.e[0] * r.e[0] / r.s[0]
	for k := range diffusionFactors {
		e, s := r.e[1+k], r.s[1+k]
		evidence[k] = grown(evidence[k], math.Sqrt(r.s[0]/s)*math.Exp((fit-e*e/s)/2))
	}
}

// grown returns the evidence r after one more frame, given the frame's likelihood ratio of the changed to the current law.
func grown(r, ratio float64) float64 {
	return min(min(ratio, mostRatio)*(1+r), mostEvidence)
}

// evidence returns the evidence of each kind, averaged over active dimensions and alternatives.
func (c *changes) evidence(active int) (e Evidence) {
	if active > 0 {
		spreads, _ := total(c.diffusion)
		shifts, _ := total(c.drift)
		e.Diffusion = spreads / float64(active*len(diffusionFactors))
		e.Drift = (shifts/float64(active*len(driftShifts)) + c.noDrift) / 2
	}
	return e
}

// suspects returns the dimension with the most evidence for another drift, the dimension with the most evidence for another diffusion, and whether that
// diffusion rose.
func (c *changes) suspects() (drifts, diffuses int, more bool) {
	_, shift := total(c.drift)
	_, factor := total(c.diffusion)
	return shift / len(driftShifts), factor / len(diffusionFactors), diffusionFactors[factor%len(diffusionFactors)] > 1
}

// total returns the sum of x and the index of its largest entry.
func total(x []float64) (sum float64, at int) {
	for k, v := range x {
		sum += v
		if v > x[at] {
			at = k
		}
	}
	return sum, at
}

func (c *changes) archive(a *archive.Codec) {
	for i := range c.filters {
		r := &c.filters[i]
		a.Floats(r.z[:])
		for k := range r.p {
			a.Magnitudes(&r.p[k])
		}
		a.Float(&r.unitResponse)
		a.Float(&r.driftResponse)
		a.Magnitudes(&r.retained)
		a.Bool(&c.asked[i])
	}
	for _, list := range [][]float64{c.diffusion, c.drift} {
		for k := range list {
			a.Magnitudes(&list[k])
		}
	}
	a.Magnitudes(&c.noDrift)
	a.Magnitudes(&c.known)
	a.Float(&c.worth)
}
