package motion

import "math"

// describe fills in the figures of the class.
func (j *Judge) describe(v *Verdict) {
	l, s, m := &j.laws, &j.analysis.series, &j.mixture
	log, at, variance := integral(l.motion.alpha[:])
	_ = log
	half := normal95 * stepAlpha * math.Sqrt(variance)
	alpha := firstAlpha + stepAlpha*at
	v.Fractional = Estimate{alpha, max(alpha-half, 0), min(alpha+half, 2)}
	switch v.Class {
	case Stuck, Free:
		m.reset(l.prior)
		m.row(l.free[:], func(i int) float64 { return l.chains[i].quad }, firstNoise)
	case Directed:
		m.reset(l.prior)
		for r := range peclets {
			m.row(l.moved.row(r), func(i int) float64 {
				quad, _ := l.chains[i].moved(speedAt(r) * (1 + noiseAt(i)))
				return quad
			}, firstNoise)
		}
		l.velocity(v, s)
	case Confined:
		m.reset(l.prior)
		for r := range stiffs {
			m.row(l.trap.row(r), func(i int) float64 { return l.quads[r][i] }, firstNoise)
		}
	case Anomalous:
		m.reset(l.prior)
		for r := range exponents {
			m.row(l.motion.plane.row(r), func(i int) float64 { return l.motion.quad[r][i] }, firstRatio)
		}
	}
	m.finish()
	v.D = Estimate{math.Exp(m.quantile(0.5)) / s.step, math.Exp(m.quantile(0.025)) / s.step, math.Exp(m.quantile(0.975)) / s.step}
	v.Noise = math.Exp(m.noise)
	switch v.Class {
	case Stuck:
		v.D.Value, v.D.Low = 0, 0
		var c chain
		c.run(s, false, 1, 0)
		mean, _ := l.prior.scale(c.quad, 1)
		v.Noise = math.Exp(mean)
	case Confined:
		_, at, _ := integral(l.trap.margins)
		k := math.Exp2(firstStiff+stepStiff*at) / s.step
		v.Stiffness = k
		v.Radius = math.Sqrt(2 * v.D.Value / k)
	}
}

// normal95 is the 97.5 % point of a normal law.
const normal95 = 1.96

// velocity computes the generalised least-squares velocity at the most probable noise.
func (l *laws) velocity(v *Verdict, s *series) {
	best := 0
	for cell, d := range l.moved.density {
		if d > l.moved.density[best] {
			best = cell
		}
	}
	c := &l.chains[best%noises]
	x, y := c.bx/c.a/s.step, c.by/c.a/s.step
	v.Speed, v.Angle = math.Hypot(x, y), math.Atan2(y, x)
}

// cells is the number of bins in the histogram of ln λ.
const cells = 256

// mixture is the posterior of ln λ: normal laws of equal variance around the mean at each grid point, gathered in a histogram.
type mixture struct {
	prior    prior
	means    []float64
	weights  []float64
	ratios   []float64 // ln ρ
	sd       float64
	low      float64
	width    float64
	bin      [cells]float64
	noise    float64 // mean of ln σ²
	nonempty []int
}

func (m *mixture) reset(p prior) {
	m.prior = p
	m.means, m.weights, m.ratios, m.nonempty = m.means[:0], m.weights[:0], m.ratios[:0], m.nonempty[:0]
}

// row adds a row of a grid, ρ = 2^(first + i). It interpolates the density with parabolas, as integral does, and the mean from the neighbouring points.
func (m *mixture) row(f []float64, quad func(i int) float64, first int) {
	for k := range f {
		if math.IsInf(f[k], -1) {
			continue
		}
		rho := math.Exp2(float64(first + k))
		mean, variance := m.prior.scale(quad(k), rho)
		m.sd = math.Sqrt(variance)
		inner := k > 0 && k < len(f)-1 && !math.IsInf(f[k-1], -1) && !math.IsInf(f[k+1], -1)
		if !inner {
			m.add(mean, f[k], math.Log(rho))
			continue
		}
		before, _ := m.prior.scale(quad(k-1), rho/2)
		after, _ := m.prior.scale(quad(k+1), 2*rho)
		for j := range parts {
			u := (float64(j)+0.5)/parts - 0.5
			v := f[k] + u*(f[k+1]-f[k-1])/2 + u*u*(f[k+1]+f[k-1]-2*f[k])/2
			at := mean + u*(after-before)/2 + u*u*(after+before-2*mean)/2
			m.add(at, v-math.Log(parts), math.Log(rho)+u*math.Ln2)
		}
	}
}

func (m *mixture) add(mean, log, ratio float64) {
	m.means, m.weights, m.ratios = append(m.means, mean), append(m.weights, log), append(m.ratios, ratio)
}

// finish computes the histogram.
func (m *mixture) finish() {
	top := never
	for _, w := range m.weights {
		top = max(top, w)
	}
	low, high, total := math.Inf(1), never, 0.
	for i, w := range m.weights {
		m.weights[i] = math.Exp(w - top)
		total += m.weights[i]
		if m.weights[i] > 1e-6 { // the rest does not move the 2.5 % quantile
			low, high = min(low, m.means[i]), max(high, m.means[i])
		}
	}
	m.low, m.width = low, max((high-low)/cells, 1e-9)
	m.bin, m.noise = [cells]float64{}, 0
	for i, w := range m.weights {
		k := min(max(int((m.means[i]-low)/m.width), 0), cells-1)
		m.bin[k] += w / total
		m.noise += w / total * (m.means[i] + m.ratios[i])
	}
	for k, w := range m.bin {
		if w > 0 {
			m.nonempty = append(m.nonempty, k)
		}
	}
}

// quantile returns a quantile by bisection.
func (m *mixture) quantile(share float64) float64 {
	low, high := m.low-6*m.sd, m.low+cells*m.width+6*m.sd
	for range 24 { // to 10⁻⁷ of the range
		middle := (low + high) / 2
		below := 0.
		for _, k := range m.nonempty {
			c := m.low + (float64(k)+0.5)*m.width
			switch z := (c - middle) / (m.sd * math.Sqrt2); {
			case z < -4: // erfc equals 2 to 10⁻⁷
				below += m.bin[k]
			case z < 4:
				below += m.bin[k] * math.Erfc(z) / 2
			}
		}
		if below < share {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
