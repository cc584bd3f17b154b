package switching

import "math"

// Place is where an object was located, s, in px. The step that leads there counts by its weight, the probability that it is this object's.
type Place struct {
	X, Y, T, Weight float64
}

// belief is where an object is believed to be, along both axes with one variance.
type belief struct {
	x, y, variance float64
}

// begin is the belief after the first place, in a state of D.
func (m *Model) begin(p Place, d float64) belief {
	return belief{p.X, p.Y, m.config.Noise + 2*d*m.config.Exposure/3}
}

// jumpShare is the share of steps that no state makes: a place that is not this object's, of which the tracker knew nothing. Without it a single one is worth forty
// nats for a fast state. wide is how many standard deviations of the fastest state's step a jump may go.
const (
	jumpShare = 1e-3
	wide      = 10.0
)

// jump is the density of a place by a jump, 1/px²: the same everywhere, and in every state.
func (m *Model) jump(seconds float64) float64 {
	fastest := 2*m.config.D[m.states-1]*seconds + 2*m.config.Noise
	return m.jumps / (math.Pi * wide * wide * fastest)
}

// step is what all states of an object share of a step.
type step struct {
	place         Place
	seconds, jump float64
}

// advance takes in a place in a state of D, and gives the ln likelihood of it; doc.go (2). Where it may be a jump, the object may begin anew there.
func (m *Model) advance(b belief, s *step, d float64) (belief, float64) {
	exposure, p := min(m.config.Exposure, s.seconds), &s.place
	motion := b.variance + 2*d*s.seconds
	variance := motion - 4*d*exposure/3 + m.config.Noise
	shared := motion - d*exposure
	gain := shared / variance
	ex, ey := p.X-b.x, p.Y-b.y
	by := math.Exp(-(ex*ex+ey*ey)/(2*variance)) / (2 * math.Pi * variance)
	b = belief{b.x + gain*ex, b.y + gain*ey, max(motion-gain*shared, 0)}
	share := s.jump / (by + s.jump)
	away := (1 - gain) * (1 - gain) * (ex*ex + ey*ey) / 2
	b.variance = (1-share)*b.variance + share*m.begin(*p, d).variance + share*(1-share)*away
	b.x, b.y = b.x+share*(p.X-b.x), b.y+share*(p.Y-b.y)
	return b, math.Log(by + s.jump)
}
