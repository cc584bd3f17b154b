// One object
//
// If the law has a spread, an object's D is the D of its state times its own factor (Gauss-Hermite nodes). With weights w from the object's steps so far,
//
//	p(step | cD) = Σ w p(step | past steps, c d),  w ← (1 - r) w p(step | d)/Σ + r f                (3)
//
// So an object that stays slow counts only once. p is the tridiagonal density of online/states, with stray steps. r is the rate at which a state is redrawn,
// learnt from objects that change their state. D within a state is redrawn once in 100 steps. For the mixture, two chains per state run in addition to w, one
// from the fractions at the end of the interval and one from raised fractions. They differ only for objects that are new or that switch. (4)

package change

import (
	"math"

	"driftscope/online/states"
)

// Track holds the evidence of one object's own steps about its state, and about its next step under each law. The zero value has seen no step.
type Track struct {
	of      *reference
	weight  []float64 // per node, before the next step
	filters []filter  // kinds per node
	odds    []float64 // per state, for the fractions at each edge and for each raised fraction: 2 K² numbers
}

// filter is the tridiagonal factor of one D: the last innovation, the inverse of its variance, and its covariance with the next step.
type filter struct{ x, y, inverse, b float64 }

// floor keeps variances above zero, px². farther is the squared length, in variances, above which a step may be stray, as in package states.
const (
	floor   = 1e-12
	farther = 18.0
)

// begin switches the track to a law. Knowledge about the object stays if the law has the same number of nodes.
func (t *Track) begin(r *reference) {
	n, k := len(r.nodes), len(r.fraction)
	known := t.of != nil && len(t.of.nodes) == n && len(t.of.fraction) == k
	t.of = r
	if len(t.filters) != n*kinds || len(t.odds) != 2*k*k {
		t.weight, t.filters, t.odds = make([]float64, n), make([]filter, n*kinds), make([]float64, 2*k*k)
	}
	clear(t.filters)
	if !known {
		t.forget(0)
		return
	}
	for j := range r.edge { // the law was learnt from this object too, so both chains start equal
		edge, raised := t.oddsOf(j)
		clear(edge)
		for i, w := range t.weight {
			edge[r.nodes[i].state] += w
		}
		copy(raised, edge)
	}
}

// forget reduces the weight of the knowledge about the object's state to share. The rest becomes the prior of a new object.
func (t *Track) forget(share float64) {
	r := t.of
	for i := range t.weight {
		n := &r.nodes[i]
		t.weight[i] = share*t.weight[i] + (1-share)*r.fraction[n.state]*n.prior
	}
	for j := range r.edge {
		if r.edge[j] == nil {
			continue
		}
		edge, raised := t.oddsOf(j)
		for s := range edge {
			edge[s], raised[s] = share*edge[s]+(1-share)*r.edge[j][s], share*raised[s]+(1-share)*r.raised[j][s]
		}
	}
}

// oddsOf returns the probabilities of each state, given the fractions at the edge of state j, and given its raised fractions.
func (t *Track) oddsOf(j int) (edge, raised []float64) {
	k := len(t.of.fraction)
	return t.odds[2*j*k:][:k], t.odds[(2*j+1)*k:][:k]
}

// follow updates the weights after a step: the state is redrawn with probability rate, and the D within the state with probability withinRate.
func (t *Track) follow(rate float64) {
	total := 0.0
	var each [states.MostStates]float64
	for i, w := range t.weight {
		total += w
		each[t.of.nodes[i].state] += w
	}
	for i := range t.weight {
		n := &t.of.nodes[i]
		t.weight[i] = (1-rate)*((1-withinRate)*t.weight[i]+withinRate*n.prior*each[n.state])/total + rate*t.of.fraction[n.state]*n.prior
	}
}

// step returns the likelihood of a step at a node with a D: its density, 1/px², and the probability of a longer step. noise holds the localisation variances
// at its ends.
func (f *filter) step(s *states.Step, walk float64, noise [2]float64, stray float64) (p, longer float64) {
	c := f.b * f.inverse
	inverse := 1 / max(walk+noise[0]+noise[1]-f.b*c, floor)
	f.x, f.y = s.X-c*f.x, s.Y-c*f.y
	square := (f.x*f.x + f.y*f.y) * inverse
	longer = math.Exp(-square / 2)
	p = longer * inverse / (2 * math.Pi)
	f.inverse, f.b = inverse, -noise[1]
	if square > farther && p < stray {
		*f = filter{}
	}
	return p, longer
}

// Forget resets the track for an unknown object and reuses its memory.
func (t *Track) Forget() { t.of = nil }
