package tracks

import "math"

// motion is where a track's object is and how it moves, in px and frames. Both axes have one covariance.
type motion struct {
	// diffusing
	bx, by, bp  float64 // place and its variance an axis
	shape, size float64 // of the inverse-gamma law of q: shape, and scale over it
	steps, sum  float64 // diffusing steps seen, and the sum of their q, without the prior
	// directed
	dx, dy, vx, vy float64
	pp, pv, vv     float64 // covariance of place and speed, an axis
	directed       float64 // probability

	began, ended float64 // shares of the predictions that directed motion has just begun, in it, and just ended, out of it
}

// leastStep is the variance of a step that is believed at least, px²: an object that is stuck is located again to a tenth of a pixel.
const leastStep = 1e-3

// begin starts at a detection.
func (m *motion) begin(d *Detection, p *population) {
	r := d.variance()
	*m = motion{bx: d.X, by: d.Y, bp: r, shape: p.shape, size: p.step, dx: d.X, dy: d.Y, pp: r, vv: p.speed, directed: p.directed}
}

// predict moves the motion by one frame.
func (m *motion) predict(p *population) {
	// mixing: where the motion may have changed
	toD, toB := p.starts*(1-m.directed), p.stops*m.directed
	dd, bb := (1-p.stops)*m.directed, (1-p.starts)*(1-m.directed)
	directed := dd + toD
	b, d := *m, *m
	began, ended := 0.0, 0.0
	if directed > 0 { // the directed motion as it was, or one that has just begun, at an unknown speed
		w, u := dd/directed, toD/directed
		began = u
		d.dx, d.dy = w*m.dx+u*m.bx, w*m.dy+u*m.by
		d.vx, d.vy = w*m.vx, w*m.vy
		ex, ey, fx, fy := m.dx-d.dx, m.dy-d.dy, m.bx-d.dx, m.by-d.dy
		gx, gy := m.vx-d.vx, m.vy-d.vy
		d.pp = w*(m.pp+(ex*ex+ey*ey)/2) + u*(m.bp+(fx*fx+fy*fy)/2)
		d.pv = w*(m.pv+(ex*gx+ey*gy)/2) - u*(fx*d.vx+fy*d.vy)/2
		d.vv = w*(m.vv+(gx*gx+gy*gy)/2) + u*(p.speed+(d.vx*d.vx+d.vy*d.vy)/2)
	}
	if diffusing := bb + toB; diffusing > 0 {
		w, u := bb/diffusing, toB/diffusing
		ended = u
		b.bx, b.by = w*m.bx+u*m.dx, w*m.by+u*m.dy
		ex, ey, fx, fy := m.bx-b.bx, m.by-b.by, m.dx-b.bx, m.dy-b.by
		b.bp = w*(m.bp+(ex*ex+ey*ey)/2) + u*(m.pp+(fx*fx+fy*fy)/2)
	}
	m.bx, m.by, m.bp = b.bx, b.by, b.bp+m.size
	m.dx, m.dy, m.vx, m.vy = d.dx+d.vx, d.dy+d.vy, d.vx, d.vy
	m.pp, m.pv, m.vv = d.pp+2*d.pv+d.vv+drift, d.pv+d.vv, d.vv+turn
	m.directed = min(max(directed, 1e-6), 1-1e-6)
	m.began, m.ended = began, ended
}

// predictOver moves the motion by some frames, one by one up to mostGap. Over more than that mixing would make every prediction as wide as that of an object
// that has run: then what has diffused all along stands for itself, and all others, widened by each frame as by the last of mostGap, count as directed.
func (m *motion) predictOver(frames int, p *population) {
	other := *m
	pp := 0.0
	for range min(frames, mostGap) {
		pp = other.pp
		other.predict(p)
	}
	if frames <= mostGap {
		*m = other
		return
	}
	n := float64(frames)
	m.dx, m.dy, m.vx, m.vy, m.pv, m.vv = other.dx, other.dy, other.vx, other.vy, other.pv, other.vv
	m.pp = other.pp + (n-mostGap)*(other.pp-pp)
	m.bp += n * m.size
	m.directed = min(max(1-(1-m.directed)*math.Pow(1-p.starts, n), 1e-6), 1-1e-6)
	m.began, m.ended = 0, 0
}

// density is that of a detection by the prediction, px⁻²: a mixture of Student's t and a normal law.
func (m *motion) density(d *Detection) (all, directed float64) {
	r := d.variance()
	b, n := m.bp+r, m.pp+r
	x, y := d.X-m.bx, d.Y-m.by
	nu := 2 * m.shape
	diffusing := math.Exp(-(nu+2)/2*math.Log(1+(x*x+y*y)/(nu*b))) / (2 * math.Pi * b) // Pow takes longer
	x, y = d.X-m.dx, d.Y-m.dy
	directed = m.directed * math.Exp(-(x*x+y*y)/(2*n)) / (2 * math.Pi * n)
	return (1-m.directed)*diffusing + directed, directed
}

// update takes the detection in, and returns its density. frames is how many since the last one.
func (m *motion) update(d *Detection, frames float64, memory float64) float64 {
	r := d.variance()
	all, directed := m.density(d)
	if all > 0 {
		m.directed = min(max(directed/all, 1e-6), 1-1e-6)
	}
	// diffusing: the innovation has the variance bp + r, of which frames · q are the steps'
	s := m.bp + r
	x, y := d.X-m.bx, d.Y-m.by
	square := (x*x + y*y) / 2
	share := min(1, frames*m.size/s) // of the innovation that is the steps'
	q := max(share*share*square/frames+(1-share)*m.size, leastStep)
	weight := (1 - m.directed) * share
	m.size = max(leastStep, (m.shape*m.size+weight*q)/(m.shape+weight))
	m.shape = min(m.shape+weight, memory)
	m.steps, m.sum = m.steps+weight, m.sum+weight*q
	k := m.bp / s
	m.bx, m.by, m.bp = m.bx+k*x, m.by+k*y, (1-k)*m.bp
	// directed
	n := m.pp + r
	x, y = d.X-m.dx, d.Y-m.dy
	kp, kv := m.pp/n, m.pv/n
	m.dx, m.dy, m.vx, m.vy = m.dx+kp*x, m.dy+kp*y, m.vx+kv*x, m.vy+kv*y
	m.pp, m.pv, m.vv = m.pp-kp*m.pp, m.pv-kp*m.pv, m.vv-kv*m.pv
	return all
}

// place is the mean of both motions.
func (m *motion) place() (x, y float64) {
	return m.bx + m.directed*(m.dx-m.bx), m.by + m.directed*(m.dy-m.by)
}

// reach is how far from its places a detection may lie to be worth a look, px.
func (m *motion) reach(r float64) (b, d float64) {
	const sds = 4.5 // beyond it less than one in 10⁴ of a normal law
	nu := 2 * m.shape
	heavy := math.Sqrt(1 + 4/nu) // Student's t reaches further
	return sds * heavy * math.Sqrt(m.bp+r), sds * math.Sqrt(m.pp+r)
}
