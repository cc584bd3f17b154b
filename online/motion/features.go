package motion

import "math"

// lags are the frame distances of displacements. Their ratios are large enough to show an exponent above the noise.
var lags = [...]int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256}

const (
	perLag      = 8
	binned      = 6 // the lags with a histogram: 1, 2, 4, 8, 16, 32
	bins        = 9 // of |Δ|² over its mean
	parted      = 8 // parts of a track's time
	octaves     = 7 // from the first 1/64 of a track to its last half
	ofTrack     = 6
	ofGaussians = 9
	running     = 6 // the lags with a histogram of speeds: 4, 8 … 128
	speeds      = 11
	local       = 5 // per window, over steps and over displacements of four frames
	features    = len(lags)*perLag + binned*bins + 2*parted + octaves + ofTrack + ofGaussians + running*speeds + 2*len(windows)*local
)

// windows are the frame counts for measuring changes of diffusion.
var windows = [...]int{4, 16, 64}

// least is the fewest pairs for a lag.
const least = 3

// measured holds the features of a track: none depends on the unit of length or time.
type measured struct {
	value [features]float32
	n     int
	x, y  []float64 // on the lattice of frames
	seen  []bool
	gaps  bool
	// of single-frame steps
	ux, uy, square []float64
	far            []float64 // squares over a lag
}

// put adds a value. NaN and infinity count as 0.
func (m *measured) put(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	m.value[m.n] = float32(min(max(v, -8), 8)) // beyond ±8 a logarithm adds no information
	m.n++
}

// ratio returns a logarithm that tolerates zeros: both are means of squares in units of the square of a step, and 10⁻⁶ is negligible.
func ratio(a, b float64) float64 { return math.Log((a + 1e-6) / (b + 1e-6)) }

// read measures a track. The posteriors of both Gaussian models must be ready.
func (m *measured) read(s *series, f *fractional, b *scaledMotion) {
	m.n = 0
	m.place(s)
	for i, lag := range lags {
		before := m.n - perLag
		if lag > len(m.x)-least || !m.lag(lag) {
			// copy the previous lag
			for k := range perLag {
				v := float32(0)
				if i > 0 {
					v = m.value[before+k]
				}
				m.value[m.n] = v
				m.n++
			}
		}
	}
	for lag := 1; lag <= 32; lag *= 2 {
		m.histogram(lag)
	}
	for lag := 4; lag <= 128; lag *= 2 {
		m.run(lag)
	}
	for _, lag := range [...]int{1, 4} {
		m.squares(lag)
		for _, w := range windows {
			m.changes(w)
		}
	}
	m.parts()
	m.track()
	m.gaussians(f, b)
}

// place puts the track on the lattice, scaled to a mean square of 1 per single-frame step.
func (m *measured) place(s *series) {
	size := s.frame[len(s.frame)-1] + 1
	m.gaps = s.gaps
	m.x, m.y, m.seen = m.x[:0], m.y[:0], m.seen[:0]
	for i := range s.frame {
		for len(m.x) < s.frame[i] && m.gaps {
			m.x, m.y, m.seen = append(m.x, 0), append(m.y, 0), append(m.seen, false)
		}
		m.x, m.y, m.seen = append(m.x, s.x[i]), append(m.y, s.y[i]), append(m.seen, true)
	}
	sum, n := 0., 0.
	for i := 1; i < size; i++ {
		if m.seen[i] && m.seen[i-1] {
			dx, dy := m.x[i]-m.x[i-1], m.y[i]-m.y[i-1]
			sum, n = sum+dx*dx+dy*dy, n+1
		}
	}
	scale := 1.
	if sum > 0 {
		scale = math.Sqrt(n / sum)
	}
	m.ux, m.uy, m.square = m.ux[:0], m.uy[:0], m.square[:0]
	for i := range m.x {
		m.x[i], m.y[i] = scale*m.x[i], scale*m.y[i]
		if i == 0 {
			continue
		}
		dx, dy := m.x[i]-m.x[i-1], m.y[i]-m.y[i-1]
		if !m.seen[i] || !m.seen[i-1] {
			dx, dy = 0, 0
		}
		m.ux, m.uy, m.square = append(m.ux, dx), append(m.uy, dy), append(m.square, dx*dx+dy*dy)
	}
}

// lag measures displacements over a number of frames. It returns false if there are too few.
func (m *measured) lag(lag int) bool {
	var count, root, one, two, four, early, late, turned, turns float64
	size := len(m.x) - lag
	half := size / 2
	for i := range size {
		if m.gaps && (!m.seen[i] || !m.seen[i+lag]) {
			continue
		}
		dx, dy := m.x[i+lag]-m.x[i], m.y[i+lag]-m.y[i]
		q := dx*dx + dy*dy
		d := math.Sqrt(q)
		count++
		root += math.Sqrt(d)
		one += d
		two += q
		four += q * q
		if i < half {
			early += q
		} else {
			late += q
		}
		if j := i + 2*lag; j < len(m.x) && (!m.gaps || m.seen[j]) {
			ex, ey := m.x[j]-m.x[i+lag], m.y[j]-m.y[i+lag]
			if w := q * (ex*ex + ey*ey); w > 0 {
				turned += (dx*ex + dy*ey) / math.Sqrt(w)
				turns++
			}
		}
	}
	if count < least {
		return false
	}
	mean := two / count
	m.put(ratio(mean, 1))
	m.put(ratio(one*one/(count*count), mean))
	m.put(ratio(math.Pow(root/count, 4), mean))
	m.put(ratio(four/count, mean*mean))
	m.put(3 * turned / max(turns, 1))
	m.put(ratio(early, late))
	var follow, level, pairs float64
	for i := 0; i+lag < len(m.ux); i++ {
		follow += m.ux[i]*m.ux[i+lag] + m.uy[i]*m.uy[i+lag]
		level += m.square[i] * m.square[i+lag]
		if m.square[i] > 0 && m.square[i+lag] > 0 {
			pairs++
		}
	}
	m.put(3 * follow / max(pairs, 1))
	m.put(ratio(level/max(pairs, 1), 1))
	return true
}

// histogram measures the spread of squared displacements around their mean, by powers of 4 below it and of 2 above.
func (m *measured) histogram(lag int) {
	var bin [bins]float64
	var sum, count float64
	size := len(m.x) - lag
	for i := range max(size, 0) {
		if !m.gaps || m.seen[i] && m.seen[i+lag] {
			dx, dy := m.x[i+lag]-m.x[i], m.y[i+lag]-m.y[i]
			sum, count = sum+dx*dx+dy*dy, count+1
		}
	}
	edges := [bins - 1]float64{1. / 256, 1. / 64, 1. / 16, 1. / 4, 1. / 2, 1, 2, 4}
	for i := range edges {
		edges[i] *= sum / max(count, 1)
	}
	for i := range max(size, 0) {
		if m.gaps && (!m.seen[i] || !m.seen[i+lag]) {
			continue
		}
		dx, dy := m.x[i+lag]-m.x[i], m.y[i+lag]-m.y[i]
		q := dx*dx + dy*dy
		k := 0
		for k < bins-1 && q > edges[k] {
			k++
		}
		bin[k]++
	}
	for _, b := range bin {
		m.put(4 * math.Sqrt(b/max(count, 1)))
	}
}

// run measures the spread of squared mean speeds over a lag, relative to the mean square of a step. A run at constant speed keeps its speed: 1, 2/3 or
// 1/3 of the mean square at the noise levels of the challenge.
func (m *measured) run(lag int) {
	var bin [speeds]float64
	count := 0.
	edges := [speeds - 1]float64{0.08, 0.2, 0.28, 0.4, 0.55, 0.63, 0.72, 0.85, 0.95, 1.05}
	for i := range edges {
		edges[i] *= float64(lag * lag)
	}
	for i := range max(len(m.x)-lag, 0) {
		if m.gaps && (!m.seen[i] || !m.seen[i+lag]) {
			continue
		}
		dx, dy := m.x[i+lag]-m.x[i], m.y[i+lag]-m.y[i]
		q := dx*dx + dy*dy
		k := 0
		for k < speeds-1 && q > edges[k] {
			k++
		}
		bin[k]++
		count++
	}
	for _, b := range bin {
		m.put(4 * math.Sqrt(b/max(count, 1)))
	}
}

// squares computes the squared displacements over a lag. A missing place repeats the previous value.
func (m *measured) squares(lag int) {
	m.far = m.far[:0]
	before := 0.
	for i := range max(len(m.x)-lag, 0) {
		if !m.gaps || m.seen[i] && m.seen[i+lag] {
			dx, dy := m.x[i+lag]-m.x[i], m.y[i+lag]-m.y[i]
			before = dx*dx + dy*dy
		}
		m.far = append(m.far, before)
	}
}

// changes measures how the logarithm of the mean square over a window changes along the track: its mean, spread, extremes, and the correlation of neighbours.
func (m *measured) changes(window int) {
	count := len(m.far) / window
	if count < 2 {
		for range local {
			m.put(0)
		}
		return
	}
	var s, q, follow, before float64
	low, high := math.Inf(1), math.Inf(-1)
	for i := range count {
		v := ratio(mean(m.far[i*window:(i+1)*window]), 1)
		s, q = s+v, q+v*v
		low, high = min(low, v), max(high, v)
		if i > 0 {
			follow += v * before
		}
		before = v
	}
	n := float64(count)
	centre := s / n
	variance := max(q/n-centre*centre, 0)
	m.put(centre)
	m.put(2 * math.Sqrt(variance))
	m.put(low)
	m.put(high)
	m.put(3 * (follow/(n-1) - centre*centre) / (variance + 1e-2))
}

// parts measures mean squares of steps, and the squared displacement, over parts of the track: equal parts, and octaves from its start.
func (m *measured) parts() {
	n := len(m.square)
	for p := range parted {
		from, to := p*n/parted, (p+1)*n/parted
		m.put(ratio(mean(m.square[from:to]), 1))
		dx, dy := m.x[to]-m.x[from], m.y[to]-m.y[from]
		if m.gaps && (!m.seen[to] || !m.seen[from]) {
			dx, dy = 0, 0
		}
		m.put(ratio((dx*dx+dy*dy)/float64(max(to-from, 1)), 1))
	}
	for o := range octaves {
		from, to := n>>(octaves-o), n>>(octaves-1-o)
		m.put(ratio(mean(m.square[from:max(to, from+1)]), 1))
	}
}

func mean(list []float64) float64 {
	s := 0.
	for _, v := range list {
		s += v
	}
	return s / float64(max(len(list), 1))
}

// track measures the whole track: length, extent, shape.
func (m *measured) track() {
	n := float64(len(m.square))
	m.put(math.Log(n))
	m.put(10 / math.Sqrt(n))
	last := len(m.x) - 1
	far, cx, cy, count := 0., 0., 0., 0.
	for i := range m.x {
		if m.seen[i] {
			far = max(far, m.x[i]*m.x[i]+m.y[i]*m.y[i])
			cx, cy, count = cx+m.x[i], cy+m.y[i], count+1
		}
	}
	m.put(ratio(m.x[last]*m.x[last]+m.y[last]*m.y[last], n))
	m.put(ratio(far, n))
	cx, cy = cx/count, cy/count
	var xx, xy, yy float64
	for i := range m.x {
		if m.seen[i] {
			dx, dy := m.x[i]-cx, m.y[i]-cy
			xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
		}
	}
	m.put(ratio((xx+yy)/count, n))
	m.put(3 * math.Hypot(xx-yy, 2*xy) / (xx + yy))
}

// gaussians adds the exponents of both Gaussian models, their uncertainty, and the log evidence of one against the other, total and per step.
func (m *measured) gaussians(f *fractional, b *scaledMotion) {
	log, at, variance := integral(f.alpha[:])
	m.put(4 * (firstAlpha + stepAlpha*at - 1))
	m.put(math.Log(stepAlpha*math.Sqrt(variance) + 1e-3))
	other, where, spread := integral(b.density[:])
	m.put(4 * (0.1 + 0.2*where - 1))
	m.put(math.Log(0.2*math.Sqrt(spread) + 1e-3))
	n := float64(len(f.dx))
	m.put(math.Asinh(log - other))
	m.put((log - other) / n * 4)
	free := (f.alpha[9] + f.alpha[10]) / 2 // α = 1
	m.put(math.Asinh(log - free))
	still := f.alpha[0]
	m.put(math.Asinh(log - still))
	m.put(f.ratio())
}

// ratio returns the posterior mean of log₂ ρ.
func (f *fractional) ratio() float64 {
	top, sum, total := never, 0., 0.
	for _, v := range f.plane.density {
		top = max(top, v)
	}
	for cell, v := range f.plane.density {
		w := math.Exp(v - top)
		total, sum = total+w, sum+w*float64(firstRatio+cell%ratios)
	}
	return sum / total
}
