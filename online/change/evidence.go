package change

import "math"

// ratio is the likelihood of a frame under one changed law over that under the law, and the evidence of the frames so far.
type ratio struct {
	product  float64 // of this frame's objects, over exp(logs)
	logs     float64
	objects  int
	tells    float64 // mean of what the latest frames said either way, nats
	lately   float64 // Σ of ln Λ, an old frame by less
	evidence float64
}

// A frame in which a change could begin counts as much as those before it told anything: where every object's state is known, nothing does, and evidence that
// grew by one a frame would be an alarm after as many frames as may lie between two.
const (
	tellFrames = 16
	lateFrames = 8
	tellNats   = 0.5 // that are a whole frame
)

// times takes in one object.
func (r *ratio) times(v float64) {
	if r.objects++; r.objects == 1 {
		r.product = 1
	}
	if r.product *= v; r.product < 1e-100 || r.product > 1e100 {
		r.logs, r.product = r.logs+math.Log(r.product), 1
	}
}

// end ends a frame, E ← min(Λ^β, 20)(g + E), β being power and g at most 1. A change that cannot be told yet has no evidence.
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

// renewal is how often an object's state is drawn again, by expectation and maximisation over all steps: a redraw is seen where it leads to another state.
type renewal struct {
	rate       float64 // a step
	seen, open float64 // redraws into another state; steps by the probability that a redraw would have been one
}

// What the rate is before anything is known, as by how many steps, and its bounds; how often an object's D is drawn again within its state.
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

// switched is how often an object was seen to change its state.
func (r *renewal) switched() float64 { return r.seen - firstRate*firstSteps }

// end ends a frame.
func (r *renewal) end() { r.rate = min(max(r.seen/r.open, leastRate), mostRate) }

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
