package objects

import (
	"math"

	"driftscope/online/pooled"
	"driftscope/online/states"
)

// model contains the parameters that give an object's state from its steps. It is immutable.
type model struct {
	d        []float64   // D of each state, px²/s
	share    []float64   // state probabilities of a new object
	leave    [][]float64 // rates from each state to each other, 1/s
	noise    float64     // localisation variance at scale 1, px²
	exposure float64     // s
	stray    float64     // probability density of a stray step, 1/px²
}

// newModel returns nil if the law has one state, or was learnt from steps of several frames.
func newModel(l *pooled.Law, exposure float64) *model {
	x := l.Mixture
	m := &model{noise: x.Scale, exposure: exposure, stray: math.Exp(x.Stray)}
	switch {
	case x.Lag > 1:
		return nil
	case l.Switching():
		for i, s := range l.Motion.States {
			m.d, m.share = append(m.d, s.D.Value/l.Frame), append(m.share, s.Share.Value)
			row := make([]float64, len(l.Motion.States))
			for j, p := range l.Motion.Leave[i] {
				row[j] = p / l.Frame
			}
			m.leave = append(m.leave, row)
		}
	default:
		for _, s := range x.States {
			m.d, m.share, m.leave = append(m.d, s.D.Value), append(m.share, s.Tracked), append(m.leave, make([]float64, len(x.States)))
		}
	}
	if len(m.d) < 2 {
		return nil
	}
	return m
}

// belief is the probability of each state of one object after its last step, by a forward pass. The zero value has seen no step.
type belief struct {
	of  *model
	now []float64
	by  []innovation // per state
}

// innovation is the tridiagonal factor of one state, as in package states: the last innovation, the inverse of its variance and its covariance with the next
// step. next is the probability of the state before normalisation.
type innovation struct{ x, y, inverse, b, next float64 }

const (
	redrawn  = 1e-3 // fraction of steps after which the number has moved to another object
	mostLeft = 0.5  // bound on the probability of leaving a state in one step, shared by the other states
	least    = 1e-12
)

// begin switches the belief to a model. The probabilities stay if the number of states is the same.
func (k *belief) begin(m *model) {
	k.of = m
	if len(k.now) != len(m.d) {
		k.now, k.by = append(k.now[:0], m.share...), make([]innovation, len(m.d))
	}
	clear(k.by)
}

// forget resets the belief for a new object and reuses its memory.
func (k *belief) forget() { k.of, k.now = nil, k.now[:0] }

// step updates the belief with a step. from and to are the localisation variances at its ends along an axis, px²; 0 if unknown.
func (k *belief) step(m *model, s states.Step, from, to float64) {
	if k.of != m {
		k.begin(m)
	}
	if !(from > 0) || !(to > 0) {
		from, to = 1, 1
	}
	total := 0.0
	for j, d := range m.d {
		in := 0.0
		for i, p := range k.now {
			if i != j {
				in += p*min(m.leave[i][j]*s.DT, mostLeft/float64(len(m.d)-1)) - k.now[j]*min(m.leave[j][i]*s.DT, mostLeft/float64(len(m.d)-1))
			}
		}
		f, blur := &k.by[j], d*m.exposure/3
		c := f.b * f.inverse
		before, after := m.noise*from-blur, m.noise*to-blur
		f.inverse = 1 / max(2*d*s.DT+before+after-f.b*c, least)
		f.x, f.y, f.b = s.X-c*f.x, s.Y-c*f.y, -after
		f.next = ((1-redrawn)*(k.now[j]+in) + redrawn*m.share[j]) * (math.Exp(-(f.x*f.x+f.y*f.y)*f.inverse/2)*f.inverse/(2*math.Pi) + m.stray)
		total += f.next
	}
	for j := range k.now {
		k.now[j] = k.by[j].next / total
	}
}

// over returns the mean probability of each state over steps.
func (m *model) over(s states.Segment) []float64 {
	var k belief
	out := make([]float64, len(m.d))
	for i, step := range s.Steps {
		from, to := 1.0, 1.0
		if s.Scale != nil {
			from, to = s.Scale[i], s.Scale[i+1]
		}
		k.step(m, step, from, to)
		for j, p := range k.now {
			out[j] += p / float64(len(s.Steps))
		}
	}
	return out
}
