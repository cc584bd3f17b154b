package switching

import "math"

// Place is a localisation at time T, s; X and Y in px. Weight is the probability that the step to it belongs to this object.
type Place struct {
	X, Y, T, Weight float64
}

// belief is the Gaussian estimate of a place, with one variance for both axes.
type belief struct {
	x, y, variance float64
}

// begin returns the belief after the first place, in a state of D.
func (m *Model) begin(p Place, d float64) belief {
	return belief{p.X, p.Y, m.config.Noise + 2*d*m.config.Exposure/3}
}

// jumpShare is the share of steps that no state explains: a place of another object, unnoticed by the tracker. Without it, one such place counts as
// forty nats for a fast state. wide is the reach of a jump, in standard deviations of a step in the fastest state.
const (
	jumpShare = 1e-3
	wide      = 10.0
)

// jump returns the density of a place after a jump, 1/px²: uniform, and equal in every state.
func (m *Model) jump(seconds float64) float64 {
	fastest := 2*m.config.D[m.states-1]*seconds + 2*m.config.Noise
	return m.jumps / (math.Pi * wide * wide * fastest)
}

// step holds the part of a step that all states of an object share.
type step struct {
	place         Place
	seconds, jump float64
}

// advance updates a belief with a place in a state of D, and returns its ln likelihood; doc.go (2). It mixes in a restart at the place, weighted by the
// probability of a jump.
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
