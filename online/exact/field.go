package exact

import (
	"math"
	"math/cmplx"
)

// matrix is a 2×2 matrix, by rows.
type matrix [4]float64

func (a matrix) times(b matrix) matrix {
	return matrix{a[0]*b[0] + a[1]*b[2], a[0]*b[1] + a[1]*b[3], a[2]*b[0] + a[3]*b[2], a[2]*b[1] + a[3]*b[3]}
}
func (a matrix) turned() matrix { return matrix{a[0], a[2], a[1], a[3]} }
func (a matrix) plus(b matrix, by float64) matrix {
	return matrix{a[0] + by*b[0], a[1] + by*b[1], a[2] + by*b[2], a[3] + by*b[3]}
}

// inside returns a b aᵀ.
func (a matrix) inside(b matrix) matrix { return a.times(b).times(a.turned()) }

var one = matrix{1, 0, 0, 1}

// of returns the function f of a matrix by its eigenvalues. slope is the derivative of f and serves for equal eigenvalues.
func (a matrix) of(f, slope func(complex128) complex128) matrix {
	mean := (a[0] + a[3]) / 2
	half := cmplx.Sqrt(complex(mean*mean-(a[0]*a[3]-a[1]*a[2]), 0))
	m := complex(mean, 0)
	var even, odd complex128
	if cmplx.Abs(half) < 1e-6*(1+math.Abs(mean)) {
		even, odd = f(m), slope(m)
	} else {
		up, down := f(m+half), f(m-half)
		even, odd = (up+down)/2, (up-down)/(2*half)
	}
	return matrix{real(even) + real(odd)*(a[0]-mean), real(odd) * a[1], real(odd) * a[2], real(even) + real(odd)*(a[3]-mean)}
}

// decay returns exp(-At).
func (a matrix) decay(t float64) matrix {
	c := complex(t, 0)
	return a.of(func(z complex128) complex128 { return cmplx.Exp(-c * z) }, func(z complex128) complex128 { return -c * cmplx.Exp(-c*z) })
}

// averages returns (1/e)∫exp(-Au)du and (1/e²)∫(e-u)exp(-Au)du over 0 to e.
func (a matrix) averages(e float64) (first, second matrix) {
	c := complex(e, 0)
	one := func(z complex128) complex128 {
		if q := c * z; cmplx.Abs(q) > 0.05 {
			return (1 - cmplx.Exp(-q)) / q
		} else {
			return 1 - q/2*(1-q/3*(1-q/4*(1-q/5)))
		}
	}
	two := func(z complex128) complex128 {
		if q := c * z; cmplx.Abs(q) > 0.05 {
			return (q - 1 + cmplx.Exp(-q)) / (q * q)
		} else {
			return 0.5 - q/6*(1-q/4*(1-q/5*(1-q/6)))
		}
	}
	slope := func(f func(complex128) complex128) func(complex128) complex128 {
		const h = 1e-4
		return func(z complex128) complex128 { return (f(z+h) - f(z-h)) / (2 * h) }
	}
	return a.of(one, slope(one)), a.of(two, slope(two))
}

// linear is the transition of a linear field from the end of one exposure to the end of the next, exact in time, with its observation. The object is at x.
// The camera shows m, the mean of x over the exposure that ends there.
type linear struct {
	still             matrix // stationary variance of x
	show, move        matrix // E m and E x at the end, given x at the start of the exposure
	shown, cross, end matrix // var m, cov(x, m) and var x, given x at the start
	noise             float64
	drift             matrix
	exposure          float64
	steps             map[int][2]matrix
	each              [2]matrix // step(1)
}

// newLinear returns the field with drift matrix a and diffusion d.
func newLinear(a matrix, d, noise, exposure float64) *linear {
	l := &linear{noise: noise, drift: a, exposure: exposure, show: one, move: one, steps: map[int][2]matrix{}}
	trace, det := a[0]+a[3], a[0]*a[3]-a[1]*a[2]
	b := a.plus(one, -trace) // AP + PAᵀ = 2D has P = D(det A + (A - tr A)(A - tr A)ᵀ)/(tr A det A)
	l.still = matrix{det, 0, 0, det}.plus(b.times(b.turned()), 1)
	for i := range l.still {
		l.still[i] *= d / (trace * det)
	}
	if exposure > 0 {
		first, second := a.averages(exposure)
		l.show, l.move = first, a.decay(exposure)
		half := second.times(l.still)
		l.shown = half.plus(half.turned(), 1).plus(first.inside(l.still), -1)
		l.cross = first.times(l.still).plus(l.move.times(l.still).times(first.turned()), -1)
		l.end = l.still.plus(l.move.inside(l.still), -1)
	}
	l.each = l.step(1)
	return l
}

// step returns the transition matrix from the end of an exposure to the start of the exposure g frames later, and its variance.
func (l *linear) step(g int) [2]matrix {
	s, ok := l.steps[g]
	if !ok {
		f := l.drift.decay(float64(g) - l.exposure)
		s = [2]matrix{f, l.still.plus(f.inside(l.still), -1)}
		l.steps[g] = s
	}
	return s
}

// nats returns -ln L of series along two axes. Each series has its own centre with a flat prior.
func (l *linear) nats(all []series) float64 {
	total := 0.0
	for i := range all {
		total += l.one(&all[i])
	}
	return total
}

// one returns -ln L of one series. x and y are the mean position of the object and its dependence on the two coordinates of the centre.
func (l *linear) one(s *series) float64 {
	var x, y [3]float64
	var b [3][3]float64
	var p, gain, inverse matrix
	logs, steady, last := 0.0, false, 0.0
	for t, at := range s.at {
		f := l.each
		switch {
		case t == 0:
			f, steady = [2]matrix{one, {}}, false
		case s.gap[t] != 1:
			f, steady = l.step(s.gap[t]), false
		}
		if t > 0 {
			for j := range x {
				x[j], y[j] = f[0][0]*x[j]+f[0][1]*y[j], f[0][2]*x[j]+f[0][3]*y[j]
			}
		}
		if !steady {
			was := p
			if t == 0 {
				p = l.still
			} else {
				p = f[0].inside(p).plus(f[1], 1)
			}
			v := l.show.inside(p).plus(l.shown, 1).plus(one, l.noise)
			det := v[0]*v[3] - v[1]*v[2]
			if !(det > 0 && v[0] > 0) {
				return math.Inf(1)
			}
			inverse = matrix{v[3] / det, -v[1] / det, -v[2] / det, v[0] / det}
			c := l.move.times(p).times(l.show.turned()).plus(l.cross, 1)
			gain = c.times(inverse)
			if l.exposure == 0 { // the same formula, without cancellation
				p = matrix{l.noise, 0, 0, l.noise}.plus(inverse, -l.noise*l.noise)
			} else {
				p = l.move.inside(p).plus(l.end, 1).plus(gain.times(c.turned()), -1)
				p[1] = (p[1] + p[2]) / 2
				p[2] = p[1]
			}
			last = math.Log(det)
			steady = t > 3 && s.gap[t] == 1 && math.Abs(p[0]-was[0])+math.Abs(p[3]-was[3])+math.Abs(p[1]-was[1]) < 1e-13*(p[0]+p[3])
		}
		logs += last
		r := [3]float64{at[0], -1, 0}
		q := [3]float64{at[1], 0, -1}
		for j := range x {
			r[j] -= l.show[0]*x[j] + l.show[1]*y[j]
			q[j] -= l.show[2]*x[j] + l.show[3]*y[j]
		}
		for j := range x {
			e, h := inverse[0]*r[j]+inverse[1]*q[j], inverse[2]*r[j]+inverse[3]*q[j]
			for k := range j + 1 {
				b[j][k] += e*r[k] + h*q[k]
			}
			// the mean at the end of the exposure
			x[j], y[j] = l.move[0]*x[j]+l.move[1]*y[j]+gain[0]*r[j]+gain[1]*q[j], l.move[2]*x[j]+l.move[3]*y[j]+gain[2]*r[j]+gain[3]*q[j]
		}
	}
	det := b[1][1]*b[2][2] - b[2][1]*b[2][1]
	squares := b[0][0] - (b[1][0]*b[1][0]*b[2][2]-2*b[1][0]*b[2][0]*b[2][1]+b[2][0]*b[2][0]*b[1][1])/det
	return 0.5 * (squares + logs + math.Log(det) + 2*float64(len(s.at)-1)*logTwoPi)
}

// Indices of the parameters of a field: ln D, ln of the mean rate, ln of the ratio of the springs, the angle of the stronger spring, rotation over mean rate,
// ln of the sd of the noise.
const (
	atD = iota
	atRate
	atRatio
	atAngle
	atTurn
	atNoise
	entries
)

// drift returns the drift matrix for the parameters x.
func drift(x []float64) matrix {
	k := math.Exp(x[atRate])
	h, w := k*math.Tanh(x[atRatio]/2), x[atTurn]*k
	c, s := h*math.Cos(2*x[atAngle]), h*math.Sin(2*x[atAngle])
	return matrix{k + c, s - w, s + w, k - c}
}

// likeField returns -ln L as a function of the parameters of a field, for scaled series.
func likeField(all []series, exposure float64) func(x []float64) float64 {
	return func(x []float64) float64 {
		if math.Abs(x[atD]) > 40 || x[atRate] < slowest || x[atRate] > fastest || math.Abs(x[atRatio]) > 20 || math.Abs(x[atTurn]) > 50 || x[atNoise] > 20 {
			return math.Inf(1)
		}
		v := newLinear(drift(x), math.Exp(x[atD]), math.Exp(2*max(x[atNoise], -9)), exposure).nats(all)
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		return v
	}
}

// moments returns start parameters of a field from the covariances of successive positions, C1 = exp(-A)C0.
func moments(all []series, like []float64) []float64 {
	var now, later matrix
	n, m := 0.0, 0.0
	for _, s := range all {
		for t, p := range s.at {
			now = now.plus(matrix{p[0] * p[0], p[0] * p[1], p[0] * p[1], p[1] * p[1]}, 1)
			n++
			if t > 0 && s.gap[t] == 1 {
				b := s.at[t-1]
				later = later.plus(matrix{p[0] * b[0], p[0] * b[1], p[1] * b[0], p[1] * b[1]}, 1)
				m++
			}
		}
	}
	x := []float64{like[0], like[1], 0.05, 0, 0, like[2]}
	inverse := invert(now[:], 2)
	if inverse == nil || m == 0 {
		return x
	}
	f := later.times(matrix(inverse))
	for i := range f {
		f[i] *= n / m
	}
	a := f.of(func(z complex128) complex128 { return -cmplx.Log(z) }, func(z complex128) complex128 { return -1 / z })
	if k := (a[0] + a[3]) / 2; k > 1e-6 {
		u, w := (a[0]-a[3])/2, (a[1]+a[2])/2
		x[atRatio] = 2*math.Atanh(min(math.Hypot(u, w)/k, 0.8)) + 0.05
		x[atAngle] = math.Atan2(w, u) / 2
		x[atTurn] = (a[2] - a[1]) / 2 / k
	}
	return x
}
