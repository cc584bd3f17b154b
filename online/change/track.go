package change

import (
	"math"

	"driftscope/online/states"
)

// Track is what one object's own steps say: of its state, and of its next step under each law. The zero value knows nothing.
type Track struct {
	of      *reference
	weight  []float64 // of each node, before the next step
	filters []filter  // kinds a node
	odds    []float64 // of each state, by the fractions of each edge and each raised one: 2 K² of them
}

// filter is the tridiagonal factor of one D: the last innovation, 1 over its variance, and its covariance with the next step.
type filter struct{ x, y, inverse, b float64 }

// floor keeps variances above zero, px²; farther is the square in variances from which a step may be stray, as in package states.
const (
	floor   = 1e-12
	farther = 18.0
)

// begin has an object be read by a law: what was known of it stays where the law has as many nodes.
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
	for j := range r.edge { // the law was learnt with this object among others
		edge, raised := t.oddsOf(j)
		clear(edge)
		for i, w := range t.weight {
			edge[r.nodes[i].state] += w
		}
		copy(raised, edge)
	}
}

// forget leaves a share of what is known of its state: the rest is as of an object that is new.
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

// oddsOf are the probabilities of each state, where the fractions are those at the edge of state j, and where they are raised.
func (t *Track) oddsOf(j int) (edge, raised []float64) {
	k := len(t.of.fraction)
	return t.odds[2*j*k:][:k], t.odds[(2*j+1)*k:][:k]
}

// follow has an object go on from weights that a step was multiplied into: with rate, its state is drawn again, and with withinRate its D within that.
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

// step is how likely a step is, at a node with a D: its density, 1/px², and the probability of one that is longer. noise are the variances of the places at
// its ends.
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

// Forget has a track be that of an object that nothing is known of; its memory is used again.
func (t *Track) Forget() { t.of = nil }
