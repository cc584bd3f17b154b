// Motions
//
// Every track predicts the position of its object by three motions at once, in an interacting-multiple-model filter (Blom and Bar-Shalom 1988):
//
//	diffusing    place' = place + N(0, q)                  q from its own steps, with an inverse-gamma law, so the prediction is Student's t
//	running      place' = place + v', v' = v + N(0, a)      v of the track; a is one of three variances, weighted by their shares in the population
//	setting off  place' = place + v', of any heading        |v'| from the speed law of the population, so the prediction is a ring
//
// An object sets off from rest, or when it takes a new heading. The population learns the share of objects born running, and the shares that set off,
// turn and stop in each frame.

package tracks

import "math"

// motion is the position and movement of an object, in px and frames. Both axes share one covariance.
type motion struct {
	// diffusing
	bx, by, bp  float64 // position, and its variance per axis
	shape, size float64 // of the inverse-gamma law of q: shape, and scale/shape
	steps, sum  float64 // number of diffusing steps, and the sum of their q, without the prior
	// directed
	dx, dy, vx, vy float64
	pp, pv, vv     float64 // covariance of position and speed, per axis
	directed       float64 // probability that the object keeps running
	// setting off: a run that begins in this frame, with an unpredictable heading
	fx, fy, fp float64 // the position that it leaves, and its variance per axis
	fresh      float64 // probability that the object sets off
	turning    float64 // part of fresh from objects that ran before
	ahead      bool    // predict ran after the last update

	seen   int     // detections, up to 3
	ended  float64 // part of the diffusing prediction from objects that ran until the previous frame
	began  float64 // part of directed that set off at the last detection and did not run before
	turned float64 // part of directed that set off at the last detection and ran before
}

// leastStep is the lower bound of the variance of a step, px². A stuck object is located with an error of about a tenth of a pixel.
const leastStep = 1e-3

// begin starts the motion at a detection.
func (m *motion) begin(d *Detection, p *population) {
	r := d.variance()
	*m = motion{bx: d.X, by: d.Y, bp: r, shape: p.shape, size: p.step, dx: d.X, dy: d.Y, pp: r, vv: p.speeds.square, fx: d.X, fy: d.Y, fp: r, seen: 1}
}

// settle merges a predicted start into the directed motion if no detection has followed.
func (m *motion) settle(p *population) {
	if !m.ahead {
		return
	}
	m.ahead = false
	for i, q := range turnings {
		q *= p.turning[i]
		m.pp, m.pv, m.vv = m.pp+q, m.pv+q, m.vv+q
	}
	all := max(m.directed+m.fresh, 1e-9)
	w, u := m.directed/all, m.fresh/all
	dx, dy, vx, vy := w*m.dx+u*m.fx, w*m.dy+u*m.fy, w*m.vx, w*m.vy
	ex, ey, fx, fy, gx, gy := m.dx-dx, m.dy-dy, m.fx-dx, m.fy-dy, m.vx-vx, m.vy-vy
	m.pp = w*(m.pp+(ex*ex+ey*ey)/2) + u*(m.fp+p.speeds.square+(fx*fx+fy*fy)/2)
	m.pv = w*(m.pv+(ex*gx+ey*gy)/2) + u*(p.speeds.square-(fx*vx+fy*vy)/2)
	m.vv = w*(m.vv+(gx*gx+gy*gy)/2) + u*(p.speeds.square+(vx*vx+vy*vy)/2)
	m.dx, m.dy, m.vx, m.vy, m.directed, m.fresh = dx, dy, vx, vy, all, 0
}

// predict moves the motion by one frame.
func (m *motion) predict(p *population) {
	m.settle(p)
	starts := p.starts
	if m.seen == 1 {
		starts = p.directed
	}
	run, rest := m.directed, 1-m.directed
	x, y := m.place()
	ex, ey := m.bx-m.dx, m.by-m.dy
	m.fx, m.fy, m.fp = x, y, rest*m.bp+run*m.pp+run*rest*(ex*ex+ey*ey)/2
	sets, turns := starts*rest, p.turns*run
	m.fresh, m.turning, m.ended = sets+turns, turns/max(sets+turns, 1e-300), 0
	m.directed = max(run*(1-p.stops-p.turns), 1e-9)
	if stays, stops := rest*(1-starts), p.stops*run; stays+stops > 0 {
		w, u := stays/(stays+stops), stops/(stays+stops)
		m.ended = u
		bx, by := w*m.bx+u*m.dx, w*m.by+u*m.dy
		m.bp = w*(m.bp+((m.bx-bx)*(m.bx-bx)+(m.by-by)*(m.by-by))/2) + u*(m.pp+((m.dx-bx)*(m.dx-bx)+(m.dy-by)*(m.dy-by))/2)
		m.bx, m.by = bx, by
	}
	m.bp += m.size
	m.dx, m.dy = m.dx+m.vx, m.dy+m.vy
	m.pp, m.pv = m.pp+2*m.pv+m.vv, m.pv+m.vv
	m.ahead = true
}

// predictOver moves the motion by some frames, one by one up to mostGap. Over longer gaps, mixing would make every prediction as wide as the prediction of a
// run. Instead, pure diffusion keeps its own prediction. All other histories count as directed, and each frame beyond mostGap widens their prediction by as
// much as frame mostGap.
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
	other.settle(p)
	n := float64(frames)
	m.dx, m.dy, m.vx, m.vy, m.pv, m.vv = other.dx, other.dy, other.vx, other.vy, other.pv, other.vv
	m.pp = other.pp + (n-mostGap)*max(other.pp-pp, m.size) // runs that begin in the gap may narrow the last frame
	m.bp += n * m.size
	m.directed = min(max(1-(1-m.directed-m.fresh)*math.Pow(1-p.starts, n), 1e-6), 1-1e-6)
	m.fresh, m.ended, m.ahead = 0, 0, false
}

// weights are the likelihoods of a detection under each motion, px⁻².
type weights struct {
	diffusing, fresh float64
	directed         [len(turnings)]float64 // one per variance of a change of speed
	all              float64
}

// runs returns the likelihood of a continued run.
func (w *weights) runs() (sum float64) {
	for _, v := range w.directed {
		sum += v
	}
	return sum
}

// weigh returns the likelihoods of a detection: Student's t for diffusion, the speed law for setting off, and normal laws for running.
func (m *motion) weigh(d *Detection, p *population) (w weights) {
	r := d.variance()
	b := m.bp + r
	x, y := d.X-m.bx, d.Y-m.by
	nu := 2 * m.shape
	w.diffusing = (1 - m.directed - m.fresh) * math.Exp(-(nu+2)/2*math.Log(1+(x*x+y*y)/(nu*b))) / (2 * math.Pi * b) // faster than Pow
	w.all = w.diffusing
	if m.fresh > 1e-6 {
		x, y = d.X-m.fx, d.Y-m.fy
		w.fresh = m.fresh * p.speeds.density(x*x+y*y, m.fp+r)
		w.all += w.fresh
	}
	if m.directed > 1e-6 {
		x, y = d.X-m.dx, d.Y-m.dy
		square, speed := x*x+y*y, m.vx*m.vx+m.vy*m.vy+2*m.vv
		for i, v := range turnings {
			n := m.pp + v + r
			if square > 50*n {
				continue
			}
			share := m.directed * p.turning[i]
			if u := speed * speed / (64 * v * v); u < 10 { // suppresses runs whose speed changes by a third per frame; otherwise all slow objects would count as running
				share *= 1 - math.Exp(-u)
			}
			w.directed[i] = share * math.Exp(-square/(2*n)) / (2 * math.Pi * n)
			w.all += w.directed[i]
		}
	}
	return w
}

// density returns the likelihood of a detection under the prediction, px⁻².
func (m *motion) density(d *Detection, p *population) float64 {
	w := m.weigh(d, p)
	return w.all
}

// update adds a detection and returns its density. frames is the number of frames since the last update. memory bounds the shape, in steps.
func (m *motion) update(d *Detection, frames float64, memory float64, p *population) float64 {
	r := d.variance()
	w := m.weigh(d, p)
	if w.all <= 0 { // underflow: count it as diffusion, which has the heaviest tail
		w.diffusing, w.all = 1, 1
	}
	diffuses := w.diffusing / w.all
	// diffusing: the innovation has variance bp + r, and the steps contribute frames · q
	s := m.bp + r
	x, y := d.X-m.bx, d.Y-m.by
	square := (x*x + y*y) / 2
	share := min(1, frames*m.size/s) // fraction of the innovation's variance that is due to steps
	q := max(share*share*square/frames+(1-share)*m.size, leastStep)
	weight := diffuses * share
	m.size = max(leastStep, (m.shape*m.size+weight*q)/(m.shape+weight))
	m.shape = min(m.shape+weight, memory)
	m.steps, m.sum = m.steps+weight, m.sum+weight*q
	k := m.bp / s
	m.bx, m.by, m.bp = m.bx+k*x, m.by+k*y, (1-k)*m.bp
	m.run(d, r, &w)
	sets := w.fresh / max(w.all-w.diffusing, 1e-300)
	m.began, m.turned = sets*(1-m.turning), sets*m.turning
	m.directed = min(max(1-diffuses, 1e-9), 1-1e-9)
	m.fresh, m.ahead, m.seen = 0, false, min(m.seen+1, 3)
	return w.all
}

// run adds the detection to the directed motion: one Kalman filter per variance of a change of speed, and a run that begins here, merged by their moments.
func (m *motion) run(d *Detection, r float64, w *weights) {
	total := w.fresh + w.runs()
	if total <= 0 {
		return
	}
	type part struct{ w, x, y, vx, vy, pp, pv, vv float64 }
	var parts [len(turnings) + 1]part
	ex, ey := d.X-m.dx, d.Y-m.dy
	for i, q := range turnings {
		if w.directed[i] <= 1e-6*total {
			continue
		}
		n := m.pp + q + r
		kp, kv := (m.pp+q)/n, (m.pv+q)/n
		parts[i] = part{w.directed[i] / total, m.dx + kp*ex, m.dy + kp*ey, m.vx + kv*ex, m.vy + kv*ey, (1 - kp) * (m.pp + q), (1 - kp) * (m.pv + q), m.vv + q - kv*(m.pv+q)}
	}
	parts[len(turnings)] = part{w.fresh / total, d.X, d.Y, d.X - m.fx, d.Y - m.fy, r, r, r + m.fp}
	var mean, spread part
	for _, q := range parts {
		mean.x, mean.y, mean.vx, mean.vy = mean.x+q.w*q.x, mean.y+q.w*q.y, mean.vx+q.w*q.vx, mean.vy+q.w*q.vy
	}
	for _, q := range parts {
		if q.w == 0 {
			continue
		}
		x, y, vx, vy := q.x-mean.x, q.y-mean.y, q.vx-mean.vx, q.vy-mean.vy
		spread.pp += q.w * (q.pp + (x*x+y*y)/2)
		spread.pv += q.w * (q.pv + (x*vx+y*vy)/2)
		spread.vv += q.w * (q.vv + (vx*vx+vy*vy)/2)
	}
	m.dx, m.dy, m.vx, m.vy, m.pp, m.pv, m.vv = mean.x, mean.y, mean.vx, mean.vy, spread.pp, spread.pv, spread.vv
}

// place returns the mean position over the motions.
func (m *motion) place() (x, y float64) {
	return m.bx + m.directed*(m.dx-m.bx) + m.fresh*(m.fx-m.bx), m.by + m.directed*(m.dy-m.by) + m.fresh*(m.fy-m.by)
}

// spread returns the variance of a step over k frames, per axis, px²: q k for diffusion, a k³ for a run, and v² k² for an object that sets off or turns.
func (m *motion) spread(k float64, p *population) float64 {
	run, off := 0.0, k*k*p.speeds.square
	for i, v := range turnings {
		run += k * k * k * v * p.turning[i]
	}
	starts, turns := min(k*p.starts, 1), min(k*p.turns, 1)
	return (1-m.directed)*(k*m.size+starts*(off-k*m.size)) + m.directed*(run+turns*(off-run))
}

// reach returns the largest distance of a detection from the predicted position for each motion, px.
func (m *motion) reach(r float64, p *population) (b, d, f float64) {
	const sds = 4.5 // a normal law exceeds it with a probability below 10⁻⁴
	nu := 2 * m.shape
	heavy := math.Sqrt(1 + 4/nu) // Student's t reaches further
	b = sds * heavy * math.Sqrt(m.bp+r)
	if m.directed > 1e-3 {
		d = sds * math.Sqrt(m.pp+turnings[len(turnings)-1]+r)
	}
	if m.fresh > 1e-3 {
		f = p.speeds.fastest + 3*math.Sqrt(m.fp+r)
	}
	return b, d, f
}
