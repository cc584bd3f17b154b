package motion

import "math"

// Class is a kind of law.
type Class int

// The classes.
const (
	Stuck     Class = iota // noise about one place
	Free                   // Brownian motion
	Confined               // Brownian motion in a harmonic trap: Ornstein-Uhlenbeck
	Directed               // Brownian motion with a constant velocity
	Anomalous              // fractional Brownian motion
	Classes
)

// String returns the printed name of the class.
func (c Class) String() string {
	if c < 0 || c >= Classes {
		return "unknown"
	}
	return [...]string{"stuck", "free", "confined", "directed", "anomalous"}[c]
}

// Options describe a film.
type Options struct {
	Exposure float64 // s per frame, 0 for none
}

// Estimate is a value with its 95 % interval.
type Estimate struct{ Value, Low, High float64 }

// Verdict is the result for one track.
type Verdict struct {
	Class         Class            // the most probable one
	Probabilities [Classes]float64 // posterior, from equal priors

	D          Estimate // px²/s, under the class, along an axis 2Dt; for anomalous motion K Δt^(α-1); for a stuck object 0, with High the bound for free motion
	Alpha      Estimate // the exponent of the mean square displacement for any model: the median of the net; below 10 places, Fractional
	Fractional Estimate // the exponent under fractional Brownian motion alone, α = 2H: posterior mean; above 1.7 with more than 100 places its interval is too narrow, because predictions look back 32 steps
	Noise      float64  // variance of a place along an axis under the class, px²
	Speed      float64  // px/s, if directed
	Angle      float64  // of the velocity, radians, if directed
	Radius     float64  // px, root mean square distance from the centre, if confined
	Stiffness  float64  // 1/s, if confined

	Models [5]float64 // probabilities of ATTM, CTRW, FBM, LW and SBM, the challenge's models, by the net
}

// leastJudged is the fewest places for a verdict: two steps and the noise they share.
const leastJudged = 4

// leastLearnt is the fewest places in the training of the net.
const leastLearnt = 10

// Judge judges tracks with bounded, reusable memory. Each goroutine needs its own.
type Judge struct {
	analysis analysis
	laws     laws
	mixture  mixture
}

// Track judges one track from its last 1000 places, in time order. It returns false if fewer than 4 places remain or none differs.
func (j *Judge) Track(places []Place, o Options) (Verdict, bool) {
	s := &j.analysis.series
	if !s.read(places) || len(s.x) < leastJudged || s.still() {
		return Verdict{}, false
	}
	j.laws.weigh(s, o.Exposure)
	v := Verdict{}
	v.Probabilities, v.Class = j.laws.probabilities()
	j.describe(&v)
	a := &j.analysis
	f := &j.laws.motion
	if o.Exposure > 0 {
		f = &a.fractional
		f.prepare(s, 0)
	}
	a.measure(f, s.noise == 0 && o.Exposure <= 0)
	a.posterior.ask(trained(), &a.measured.value)
	v.Alpha = v.Fractional
	if len(s.x) >= leastLearnt {
		v.Alpha = Estimate{a.posterior.quantile(0.5), a.posterior.quantile(0.025), a.posterior.quantile(0.975)}
	}
	for i, p := range a.posterior.model {
		v.Models[i] = float64(p)
	}
	return v, true
}

// still reports whether all places equal the first.
func (s *series) still() bool {
	for i := range s.x {
		if s.x[i] != 0 || s.y[i] != 0 {
			return false
		}
	}
	return true
}

// probabilities applies Bayes' rule. It also returns the most probable class.
func (l *laws) probabilities() (p [Classes]float64, best Class) {
	for c := range Classes {
		if l.log[c] > l.log[best] {
			best = c
		}
	}
	sum := 0.
	for c := range Classes {
		p[c] = math.Exp(l.log[c] - l.log[best])
		sum += p[c]
	}
	for c := range Classes {
		p[c] /= sum
	}
	return p, best
}
