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

// advance takes in a place, seconds after the last, in a state of D, and gives the ln likelihood of it; doc.go (2).
func (m *Model) advance(b belief, p Place, seconds, d float64) (belief, float64) {
	exposure := min(m.config.Exposure, seconds)
	motion := b.variance + 2*d*seconds
	s := motion - 4*d*exposure/3 + m.config.Noise
	shared := motion - d*exposure
	gain := shared / s
	ex, ey := p.X-b.x, p.Y-b.y
	log := -math.Log(2*math.Pi*s) - (ex*ex+ey*ey)/(2*s)
	return belief{b.x + gain*ex, b.y + gain*ey, max(motion-gain*shared, 0)}, log
}
