package change

import "math"

// ratio is the likelihood of a frame under one changed law over that under the law, and the evidence of the frames so far.
type ratio struct {
	product  float64 // of this frame's objects, over exp(logs); 0 before the first
	logs     float64
	evidence float64
}

// times takes in one object.
func (r *ratio) times(v float64) {
	if r.product == 0 {
		r.product = 1
	}
	if r.product *= v; r.product < 1e-100 || r.product > 1e100 {
		r.logs, r.product = r.logs+math.Log(r.product), 1
	}
}

// end ends a frame, E ← min(Λ^β, 20)(1 + E), β being power. A change that cannot be told yet has no evidence.
func (r *ratio) end(power float64, known bool) {
	if !known {
		*r = ratio{}
		return
	}
	logs := r.logs
	if r.product > 0 {
		logs += math.Log(r.product)
	}
	r.evidence = min(min(math.Exp(power*logs), mostRatio)*(1+r.evidence), mostEvidence)
	r.product, r.logs = 0, 0
}

// renewal is how often an object becomes as one that is new: its state, and its D within that, are drawn again. By expectation and maximisation over all steps.
type renewal struct {
	rate         float64 // a step
	drawn, steps float64
	elsewhere    float64 // of those drawn, into another state
}

// What the rate is before anything is known, as by how many steps, and its bounds.
const (
	firstRate = 0.01
	firstSeen = 2000
	leastRate = 1e-3
	mostRate  = 0.3
)

func newRenewal() renewal {
	return renewal{rate: firstRate, drawn: firstRate * firstSeen, steps: firstSeen}
}

// add takes in a step before which an object was drawn again with some probability, and into another state.
func (r *renewal) add(drawn, elsewhere float64) {
	r.drawn, r.elsewhere, r.steps = r.drawn+drawn, r.elsewhere+elsewhere, r.steps+1
}

// end ends a frame.
func (r *renewal) end() { r.rate = min(max(r.drawn/r.steps, leastRate), mostRate) }

// scale measures whether objects are as independent, and their steps as likely, as the law says: by u, the probability of a step that is farther than each was, which
// is even between 0 and 1 under the law. Means m of (½ - u)√12 over blocks of n steps have
//
//	V = E (m - m')² / (1/n + 1/n') = 1,
//
// more where all objects shake together. Evidence counts with β = 1/max(V, 1): a power of a likelihood ratio below 1 has a mean of 1 at most.
type scale struct {
	sum, n       float64 // of this block
	mean, before float64 // of the block before, and its steps
	frames       int
	variance     float64
}

const (
	blockFrames = 16
	blocksKnown = 64
	mostBlock   = 16.0 // one block's part in V: a change is one large difference
)

func newScale() scale { return scale{variance: 1} }

func (s *scale) add(u float64) { s.sum, s.n = s.sum+(0.5-u)*math.Sqrt(12), s.n+1 }

func (s *scale) power() float64 { return 1 / max(s.variance, 1) }

func (s *scale) end() {
	if s.frames++; s.frames < blockFrames {
		return
	}
	mean, n := 0.0, s.n
	if n > 0 {
		mean = s.sum / n
		if s.before > 0 {
			d := mean - s.mean
			s.variance += (min(d*d/(1/n+1/s.before), mostBlock) - s.variance) / blocksKnown
		}
	}
	s.mean, s.before, s.sum, s.n, s.frames = mean, n, 0, 0, 0
}
