// Evidence
//
// Λ is the likelihood ratio of a changed law to the law for all steps of a frame, given all earlier frames. Under the law, objects are independent, and each
// step is conditional on the object's earlier steps, so the ratios multiply (Shiryaev 1963, Roberts 1966; Pollak 1985):
//
//	E ← min(Λ^β, 20)(g + E),  alarm if the mean of E over the alternatives exceeds A            (1)
//
// While the law holds, E[Λ | past] and g are at most 1. So the mean of E is at most k after k frames, and an alarm is false at most once in A frames. g is
// twice the mean of |ln Λ| over the latest frames, so frames without information leave E unchanged. The ratio of a frame is at most 20.
//
//	population_diffusion_changed   every D times ½, 0.71, 1.41 or 2
//	population_mixture_changed     the odds of one state times four: one half becomes four fifths; one alternative per state

package change

import "driftscope/online/states"

// Evidence is the evidence of all objects for a changed law: mean Shiryaev-Roberts statistics, in frames.
type Evidence struct {
	Diffusion float64
	Mixture   float64
}

// Most is the most likely change of the law.
type Most struct {
	Factor float64 // factor on every D
	State  int     // state that gained objects
}

const (
	mostRatio    = 20   // largest ratio of one frame, so no single frame decides
	mostEvidence = 1e10 // upper bound of the evidence
	clearShare   = 0.01 // fraction of the frames between false alarms below which evidence is low
	mostWork     = 1e4  // largest number of filter steps per frame, seven per node: 1,428 objects of one state without a spread; further objects are skipped
	halfKnown    = 0.5  // remaining weight of the knowledge about an object that may have been swapped with another object
)

// Monitor tests all objects of a field against a law. One goroutine calls its methods. Frames allocate nothing.
type Monitor struct {
	exposure float64
	every    float64
	law      *reference // nil before the first law
	objects  float64    // number of objects so far
	renewal  renewal
	scale    scale

	diffusion [len(factors)]ratio
	mixture   []ratio // one per state

	work    int            // filter steps in this frame
	skipped uint64         // steps of objects skipped because a frame had too many
	chances [kinds]float64 // likelihoods of one step with each D; reused
	each    [states.MostStates]chance
}

// chance is the likelihood of a step in one state, the state's weight before the step, and the step's likelihood under the state's prior.
type chance struct{ likely, weight, drawn float64 }

// New returns a Monitor without a law. exposure is the exposure time of a frame, s. every is the least mean number of frames between false alarms.
func New(exposure, every float64) *Monitor {
	return &Monitor{exposure: exposure, every: every, renewal: newRenewal(), scale: newScale()}
}

// Use sets the law that objects are tested against. While the evidence against the earlier law is not low, it keeps the earlier law and returns false,
// because the new law may mix steps from before and after a change. anew marks the first law after a change, which restarts the evidence.
func (m *Monitor) Use(l *states.Law, anew bool) (used bool) {
	if e := m.Evidence(); m.law != nil && !anew && max(e.Diffusion, e.Mixture) > clearShare*m.every {
		return false
	}
	m.law = newReference(l, m.objects+m.renewal.switched())
	if anew {
		m.diffusion = [len(factors)]ratio{}
	}
	if anew || len(m.mixture) != len(m.law.edge) {
		m.mixture = make([]ratio, len(m.law.edge))
	}
	return true
}

// Skipped returns the number of steps skipped since the last call because a frame had too many.
func (m *Monitor) Skipped() (n uint64) {
	n, m.skipped = m.skipped, 0
	return n
}

// Born counts a new object.
func (m *Monitor) Born() { m.objects++ }

// Cut omits the step to an object's next position.
func (m *Monitor) Cut(t *Track) {
	if t.of != nil {
		clear(t.filters)
		t.forget(halfKnown)
	}
}

// Step tests a step of an object. from and to are the localisation variances at its ends along an axis, px², 0 if unknown.
func (m *Monitor) Step(t *Track, s states.Step, from, to float64) {
	r := m.law
	if r == nil {
		return
	}
	if t.of != r {
		t.begin(r)
	}
	if m.work += len(t.filters); m.work > mostWork {
		m.skipped++
		clear(t.filters)
		return
	}
	if !(from > 0) {
		from = 1
	}
	if !(to > 0) {
		to = 1
	}
	m.weigh(t, &s, r.noise*from, r.noise*to)
	for k, f := range factors {
		null := m.chances[1]
		if f > 1 {
			null = m.chances[2]
		}
		if r.known[k] {
			m.diffusion[k].times((m.chances[3+k] + r.stray) / (null + r.stray))
		}
	}
	for j := range r.edge {
		if r.edge[j] != nil {
			m.weighMixture(t, j)
		}
	}
	t.follow(m.renewal.rate)
}

// weigh computes the likelihoods of a step and multiplies them into the weights of the object's nodes.
func (m *Monitor) weigh(t *Track, s *states.Step, from, to float64) {
	r := m.law
	m.chances, m.each = [kinds]float64{}, [states.MostStates]chance{}
	beyond, total := 0.0, 0.0
	for i := range r.nodes {
		n, w, own := &r.nodes[i], t.weight[i], 0.0
		for k, d := range n.by {
			blur := d * m.exposure / 3
			p, longer := t.filters[i*kinds+k].step(s, 2*d*s.DT, [2]float64{from - blur, to - blur}, r.stray)
			m.chances[k] += w * p
			if k == 0 {
				own = p + r.stray
				beyond += w * longer
			}
		}
		e := &m.each[n.state]
		e.likely, e.weight, e.drawn = e.likely+w*own, e.weight+w, e.drawn+n.prior*own
		t.weight[i] = w * own
		total += w * own
	}
	m.scale.add(beyond)
	for k, f := range r.fraction {
		e := &m.each[k]
		other := f * (1 - e.weight)
		m.renewal.seen += m.renewal.rate * other * e.drawn / total
		m.renewal.open += other
	}
}

// weighMixture adds the likelihood ratio of the last step for more objects in state j.
func (m *Monitor) weighMixture(t *Track, j int) {
	r := m.law
	edge, raised := t.oddsOf(j)
	null, changed := 0.0, 0.0
	for q := range r.fraction {
		e := &m.each[q]
		likely := e.likely / e.weight
		edge[q], raised[q] = edge[q]*likely, raised[q]*likely
		null, changed = null+edge[q], changed+raised[q]
	}
	m.mixture[j].times(changed / null)
	rate := m.renewal.rate
	for q := range r.fraction {
		edge[q] = (1-rate)*edge[q]/null + rate*r.edge[j][q]
		raised[q] = (1-rate)*raised[q]/changed + rate*r.raised[j][q]
	}
}

// End ends a frame.
func (m *Monitor) End() {
	if m.law == nil {
		return
	}
	power := m.scale.power()
	m.work = 0
	for k := range m.diffusion {
		m.diffusion[k].end(power, m.law.known[k])
	}
	for j := range m.mixture {
		m.mixture[j].end(power, m.law.edge[j] != nil)
	}
	m.scale.end()
	m.renewal.end()
}

// Evidence returns the evidence of each kind, averaged over the alternatives.
func (m *Monitor) Evidence() (e Evidence) {
	for k := range m.diffusion {
		e.Diffusion += m.diffusion[k].evidence / float64(len(factors))
	}
	for j := range m.mixture {
		e.Mixture += m.mixture[j].evidence / float64(len(m.mixture))
	}
	return e
}

// Most returns the alternative that is likeliest over the latest frames. Evidence cannot rank the alternatives, because it grows for every likely alternative
// by the factor mostRatio per frame.
func (m *Monitor) Most() (most Most) {
	at := 0
	for k := range m.diffusion {
		if m.diffusion[k].lately > m.diffusion[at].lately {
			at = k
		}
	}
	most.Factor = factors[at]
	for j := range m.mixture {
		if m.mixture[j].lately > m.mixture[most.State].lately {
			most.State = j
		}
	}
	return most
}
