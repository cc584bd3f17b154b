// Independence
//
// In a field that shakes as a whole, objects are not independent. The ranks u of steps are uniform under the law. V is the variance of their means over 16
// frames, from differences of successive means, relative to independent objects. It sets β in (1):
//
//	β = 1/max(V, 1)                                                                               (5)
//
// Measured
//
// Simulated with noise of 0.1 px and steps of 0.4 px per axis, at A = 1000, with 20 objects in 10,000 frames and 100 in 2,000 (TestStudy with work of 200,000,
// 2 shared cores, 2026-11-25). 10 and 2 false alarms of a kind are allowed. There were
//
//	none    if all diffuse alike and live 60 frames; if half of them has a tenth of D; for a spread of 0.5; each with and without births;
//	        and for 20 objects that switch once in 50 steps
//	2       for noise of 0.5 px that is stated 30 % too large
//	3       if all objects of a frame share a tenth of every step
//	1       if two steps in a hundred are three times as long
//	3       all of the mixture, for 20 objects of two states that never end
//
// All others were of D.
//
// Frames until an alarm, one run each, at A = 10,000. "none" means none in 1,000 frames of 20 objects or 200 of 100. Runs of 1,000 objects have A = 100,000:
//
//	                            20 objects   100        1,000
//	D doubled                   5 to 6       4          5
//	of a spread of 0.5          5 to 15      4
//	D times 1.4                 18 to 35     7          5
//	D times 0.71                17 to 21     4
//	these, of a spread of 0.5   none         none
//	fractions 0.5 to 0.8        348          24         11     of objects that live 60 frames
//	noise 0.5, D doubled        12           5
//	noise 0.5, D times 1.4      161          17
//	that switch, D doubled      8
//	that switch, D times 1.4    26, and none of D times 0.71
//
// The figures for 1,000 objects are from a film with 60 frames before the change.
//
// Limits
//
// The monitor misses a law that drifts so slowly that each new law is within the interval of the previous one. It misses changes of the fractions of a few
// objects that never end, because 20 objects determine the odds only to a factor of two. If many objects change their state at once, the evidence depends on
// f alone, not on their number. A frame takes at most ten thousand filter steps, seven per node. Further objects are skipped: beyond 1,428 objects of one
// state, or 285 of one state with a spread of a quarter or more. A frame of 1,000 objects takes 0.55 to 0.72 ms (BenchmarkFrame, one of two shared cores,
// 2026-11-25).

package change

import "math"

// ratio holds the likelihood ratio of a changed law to the law for this frame, and the evidence of the frames so far.
type ratio struct {
	product  float64 // likelihood ratio of this frame's objects, divided by exp(logs)
	logs     float64
	objects  int
	tells    float64 // mean information of the latest frames, nats
	lately   float64 // Σ of ln Λ, older frames weighted less
	evidence float64
}

// A frame counts as a possible onset of a change only to the degree that the previous frames were informative. If every object's state is known, no frame is
// informative, and evidence that grew by one per frame would raise an alarm after A frames.
const (
	tellFrames = 16
	lateFrames = 8
	tellNats   = 0.5 // information that counts as a whole frame, nats
)

// times multiplies the frame's ratio by the ratio of one object.
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

// renewal estimates the rate at which an object's state is redrawn, by expectation and maximisation over all steps. A redraw is visible only if it leads to
// another state.
type renewal struct {
	rate       float64 // per step
	seen, open float64 // number of redraws into another state; number of steps, each weighted by the probability that a redraw would have changed the state
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

// switched returns the number of observed changes of state.
func (r *renewal) switched() float64 { return r.seen - firstRate*firstSteps }

// end ends a frame.
func (r *renewal) end() { r.rate = min(max(r.seen/r.open, leastRate), mostRate) }

// scale measures whether objects are independent and whether their steps are as likely as the law predicts. u is the probability of a step longer than the
// measured step. Under the law, u is uniform on 0 to 1. Means m of (½ - u)√12 over blocks of n steps have V = E (m - m')² / (1/n + 1/n') = 1, and more if all
// objects shake together. Evidence counts with β = 1/max(V, 1): the mean of a likelihood ratio to a power below 1 is at most 1.
type scale struct {
	sum, n       float64 // sums over the current block
	mean, before float64 // mean of the previous block, and its number of steps
	frames       int
	variance     float64
}

const (
	blockFrames = 16
	blocksKnown = 64
	mostBlock   = 16.0 // largest contribution of one block to V, because a change of the law also makes one large difference
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
