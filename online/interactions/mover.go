package interactions

import "math/bits"

// values holds one value per knot.
type values [Knots]float64

// field is the sum of each knot's hat over an object's neighbours, along both axes. The bits of shown mark the nonzero knots.
type field struct {
	x, y  values
	shown uint32
}

// least is the smallest stored response, relative to a full response. A thousandth of the force is far below its standard error.
const least = 1e-3

// add adds a hat's height along a direction.
func (f *field) add(knot int, x, y float64) {
	f.x[knot] += x
	f.y[knot] += y
	f.shown |= 1 << knot
}

// clear sets all values to zero.
func (f *field) clear() {
	for s := f.shown; s != 0; s &= s - 1 {
		k := bits.TrailingZeros32(s)
		f.x[k], f.y[k] = 0, 0
	}
	f.shown = 0
}

// accumulate adds the field g, multiplied by w.
func (f *field) accumulate(w float64, g *field) {
	for s := g.shown; s != 0; s &= s - 1 {
		k := bits.TrailingZeros32(s)
		f.x[k] += w * g.x[k]
		f.y[k] += w * g.y[k]
	}
	f.shown |= g.shown
}

// fade multiplies a field by a factor and drops values below least times second.
func (f *field) fade(by, second float64) {
	for s := f.shown; s != 0; s &= s - 1 {
		k := bits.TrailingZeros32(s)
		f.x[k] *= by
		f.y[k] *= by
		if max(f.x[k], -f.x[k]) < least*second && max(f.y[k], -f.y[k]) < least*second {
			f.x[k], f.y[k] = 0, 0
			f.shown &^= 1 << k
		}
	}
}

// dot returns the velocity of a force with values c at the knots.
func (f *field) dot(c *values) (x, y float64) {
	for s := f.shown; s != 0; s &= s - 1 {
		k := bits.TrailingZeros32(s)
		x += c[k] * f.x[k]
		y += c[k] * f.y[k]
	}
	return x, y
}

// mover is one object: its filter, (3), and its responses to the hats, (4).
type mover struct {
	id     uint64
	frame  uint64 // last frame that contained it
	begun  bool   // it has a position
	barred bool   // the step that begins here is not used for learning
	doubt  bool   // it may be another object, so it counts only as a neighbour

	zx, zy     float64 // filtered position
	variance   float64 // variance of the filtered position
	mx, my     float64 // located position
	step       struct{ x, y float64 }
	stepped    bool
	innovation struct { // of this frame
		x, y, variance, weight, gain float64
		there, barred                bool
	}
	spread struct{ squares, n float64 } // of innovations, in units of the common variance
	known  struct{ x, y float64 }       // response to the known force
	hats   field                        // hats at this frame
	later  field                        // hats at the next frame, while the next frame is added
	by     field                        // response to hats at the beginning of each step
	mid    field                        // response to the mean of the hats at the beginning and end of each step
}

// begin restarts the filter at a position.
func (m *mover) begin(x, y, variance float64) {
	m.zx, m.zy, m.variance, m.begun = x, y, variance, true
	m.mx, m.my, m.stepped = x, y, false
	m.innovation.there = false
	m.known.x, m.known.y = 0, 0
	m.by.clear()
	m.mid.clear()
}

// A mover starts with the common innovation variance, which counts as spreadPrior steps. It then averages its own variance over spreadMemory steps.
const (
	spreadPrior  = 4.0   // steps; differences of D between objects are typically a factor of two
	spreadMemory = 200.0 // steps; these give the variance to a tenth
)

// scale returns the ratio of this object's innovation variance to the common variance.
func (m *mover) scale() float64 { return (spreadPrior + m.spread.squares) / (spreadPrior + m.spread.n) }

// advance adds a position by the Kalman filter (3), under the common law of steps and the known force.
func (m *mover) advance(p place, law *law, c *values) {
	fx, fy := m.hats.dot(c)
	m.known.x, m.known.y = m.known.x+p.dt*fx, m.known.y+p.dt*fy
	forecast := m.variance + law.square(p.dt)
	s := forecast + p.variance
	if !(s > 0) { // nothing has moved yet
		m.begin(p.x, p.y, p.variance)
		return
	}
	gain := forecast / s
	ex, ey := p.x-m.zx-p.shiftX-p.dt*fx, p.y-m.zy-p.shiftY-p.dt*fy
	m.zx, m.zy = p.x-(1-gain)*ex, p.y-(1-gain)*ey
	m.variance = p.variance * gain
	i := &m.innovation
	i.x, i.y, i.variance, i.weight, i.gain, i.there, i.barred = ex+m.known.x, ey+m.known.y, s*m.scale(), p.weight, gain, true, m.barred
	m.known.x, m.known.y = (1-gain)*m.known.x, (1-gain)*m.known.y
	const keep = 1 - 1/spreadMemory
	m.spread.squares, m.spread.n = keep*m.spread.squares+(ex*ex+ey*ey)/(2*s), keep*m.spread.n+1
}

// place is an object's located position, dt s after the previous frame.
type place struct {
	x, y, variance, weight, dt, shiftX, shiftY float64
}
