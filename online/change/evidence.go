package change

import "math"

// ratio holds the likelihood ratio of this frame, changed law to law, and the evidence of the frames so far.
type ratio struct {
	product  float64 // likelihood ratio of this frame's objects, divided by exp(logs)
	logs     float64
	objects  int
	tells    float64 // mean information of the latest frames, nats
	lately   float64 // Σ of ln Λ, older frames weighted less
	evidence float64
}

// A frame adds to a possible onset of a change only as much as the frames before it were informative. If every object's state is known, no
// frame is informative, and evidence that grew by one a frame would raise an alarm after A frames.
const (
	tellFrames = 16
	lateFrames = 8
	tellNats   = 0.5 // nats that count as a whole frame
)

// times multiplies the ratio of one object in.
func (r *ratio) times(v float64) {
	if r.objects++; r.objects == 1 {
		r.product = 1
	}
	if r.product *= v; r.product < 1e-100 || r.product > 1e100 {
		r.logs, r.product = r.logs+math.Log(r.product), 1
	}
}

// end ends a frame, E ← min(Λ^β, 20)(g + E), with β = power and g at most 1. A change that cannot be detected yet has no evidence.
func (r *ratio) end(power float64, known bool) {
	if !known {
		*r = ratio{}
		return
	}
	if r.objects == 0 {
		return
	}
	logs := power * (r.logs + math.Log(r.product))
	r.lately += logs - r.lately/lateFrames
	begins := min(r.tells/tellNats, 1)
	r.evidence = min(min(math.Exp(logs), mostRatio)*(begins+r.evidence), mostEvidence)
	r.tells += (min(math.Abs(logs), 1) - r.tells) / tellFrames
	r.product, r.logs, r.objects = 0, 0, 0
}

// renewal learns how often an object's state is drawn again, by expectation and maximisation over all steps. A redraw shows only if it leads
// to another state.
type renewal struct {
	rate       float64 // per step
	seen, open float64 // redraws into another state; steps, by the probability that a redraw would have been one
}

// Prior rate of redraws and its weight in steps, bounds of the rate, and the rate of redraws of D within a state.
const (
	firstRate  = 0.01
	firstSteps = 200
	leastRate  = 1e-3
	mostRate   = 0.3
	withinRate = 0.01
)

func newRenewal() renewal {
	return renewal{rate: firstRate, seen: firstRate * firstSteps, open: firstSteps}
}

// switched returns how often an object was seen to change its state.
func (r *renewal) switched() float64 { return r.seen - firstRate*firstSteps }

// end ends a frame.
func (r *renewal) end() { r.rate = min(max(r.seen/r.open, leastRate), mostRate) }

// scale measures whether objects are independent and their steps as likely as the law says. u is the probability of a longer step than the
// measured one; under the law it is uniform on 0 to 1. Means m of (½ - u)√12 over blocks of n steps have V = E (m - m')² / (1/n + 1/n') = 1,
// and more if all objects shake together. Evidence counts with β = 1/max(V, 1): a power of a likelihood ratio below 1 has a mean of 1 at most.
type scale struct {
	sum, n       float64 // of the present block
	mean, before float64 // of the previous block, and its steps
	frames       int
	variance     float64
}

const (
	blockFrames = 16
	blocksKnown = 64
	mostBlock   = 16.0 // largest contribution of one block to V, because a change is one large difference
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
