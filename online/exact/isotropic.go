package exact

import "math"

// blurred describes an Ornstein-Uhlenbeck process of D and rate k, seen by a camera with an exposure e, as a fraction of a frame. With P = D/k and κ = ke the
// mean over an exposure has
//
//	cov(m(t), m(t+τ)) = P' exp(-kτ),  P' = P 2(cosh κ - 1)/κ²,  var m = 2P(κ - 1 + exp(-κ))/κ²
//
// It returns the variance P' of an equivalent process, and the variance of its white noise, which may be negative.
func blurred(d, k, e, noise float64) (variance, white float64) {
	p, q := d/k, k*e
	if e == 0 {
		return p, noise
	}
	if q < 0.02 {
		return p * (1 + q*q/12 + q*q*q*q/360), noise - p*(q/3+q*q*q/60)
	}
	variance = p * 2 * (math.Cosh(q) - 1) / (q * q)
	return variance, noise + p*2*(q-1+math.Exp(-q))/(q*q) - variance
}

// isotropic returns -ln L of series that share D, rate k and the variance of the noise along all moving axes. Every series has its own centre, with a flat
// prior along each axis. The result is infinite if a position would have a negative variance.
func isotropic(all []series, d, k, noise float64, by look) float64 {
	variance, white := blurred(d, k, by.exposure, noise)
	total := 0.0
	for i := range all {
		squares, logs := all[i].centred(variance, white, k)
		total += 0.5 * (squares + by.dims*(logs+float64(len(all[i].at)-1)*logTwoPi))
	}
	return total
}

// centred returns the squared residuals of all axes and the log determinant of one axis, from a Kalman filter that also tracks the dependence of the
// mean on the centre. With a flat prior on the centre this is the density of the steps.
func (s *series) centred(variance, white, k float64) (squares, logs float64) {
	decay, spread := math.Exp(-k), -variance*math.Expm1(-2*k)
	var m, b, q [2]float64
	p, centre, h, product := variance, 0.0, 0.0, 1.0
	for t, y := range s.at {
		if t > 0 {
			f, w := decay, spread
			if g := s.gap[t]; g != 1 {
				f, w = math.Exp(-k*float64(g)), -variance*math.Expm1(-2*k*float64(g))
			}
			p = f*f*p + w
			centre *= f
			m[0], m[1] = m[0]*f, m[1]*f
		}
		sum := p + white
		if !(sum > 0) {
			return math.Inf(1), 0
		}
		gain, v := p/sum, 1-centre
		if product *= sum; product < 1e-200 || product > 1e200 {
			logs, product = logs+math.Log(product), 1
		}
		inverse := 1 / sum
		h += v * v * inverse
		for j := range m {
			r := y[j] - m[j]
			q[j] += r * r * inverse
			b[j] += v * r * inverse
			m[j] += gain * r
		}
		centre += gain * v
		p = gain * white
	}
	return q[0] - b[0]*b[0]/h + q[1] - b[1]*b[1]/h, logs + math.Log(product) + math.Log(h)
}

const logTwoPi = 1.8378770664093453

// Interval is a value with its 95 % interval.
type Interval struct{ Value, Low, High float64 }

// holds reports whether the interval contains v.
func (i Interval) holds(v float64) bool { return i.Low <= v && v <= i.High }

// Trap is a drift towards a centre: dx = -A(x - c)dt + √(2D)dW. A has a mean rate, a ratio of its two springs, and a rotation.
type Trap struct {
	D        Interval // per frame
	Rate     Interval // mean of both springs, 1/frame
	Ratio    Interval // ratio of the stronger to the weaker spring; 1 without evidence for a difference
	Rotation Interval // 1/frame; 0 without evidence
	Noise    Interval // sd of the localisation noise
	Nats     float64  // ln L
	Gain     float64  // ln L over free diffusion of one D
	Turns    float64  // ln L of rotation and unequal springs over one rate
}

// Limits of the search, in units of the mean step and of a frame.
const (
	slowest, fastest = -16.0, 4.0
	quietest         = -7.0 // ln of the sd of the noise
)

// scaled returns series in units of their mean step.
func scaled(all []series, dims float64) (out []series, unit float64) {
	unit = math.Sqrt(square(all, dims))
	out = make([]series, len(all))
	for i, s := range all {
		out[i] = series{gap: s.gap, at: make([][2]float64, len(s.at))}
		for k, p := range s.at {
			out[i].at[k] = [2]float64{p[0] / unit, p[1] / unit}
		}
	}
	return out, unit
}

// likeAll returns isotropic as a function of ln D, ln rate, ln of the sd of the noise, for scaled series.
func likeAll(all []series, by look) func(x []float64) float64 {
	return func(x []float64) float64 {
		if math.Abs(x[0]) > 40 || x[1] < slowest || x[1] > fastest || x[2] > 20 {
			return math.Inf(1)
		}
		return isotropic(all, math.Exp(x[0]), math.Exp(x[1]), math.Exp(2*max(x[2], -9)), by)
	}
}

// fitIsotropic returns the most likely common D, rate and noise of all series, as ln, in units of their mean step. value is -ln L, and free is -ln L without
// a rate.
func fitIsotropic(all []series, by look) (x []float64, value, free float64) {
	f := likeAll(all, by)
	value, free = math.Inf(1), math.Inf(1)
	spread, n := 0.0, 0.0
	for _, s := range all {
		for _, p := range s.at {
			spread, n = spread+p[0]*p[0]+p[1]*p[1], n+by.dims
		}
	}
	spread = math.Log(max(spread/max(n, 1), 1e-9))
	for _, noise := range []float64{-3, -0.8} {
		at := []float64{-0.7, slowest + 1, noise}
		free = min(free, descend(f, at, []int{0, 2}, 60))
		for _, rate := range []float64{-4.5, -2, 0, 1} {
			at := []float64{min(max(rate+spread, -3), 1.5), rate, noise}
			if v := descend(f, at, []int{0, 1, 2}, 80); v < value-1e-3 {
				x, value = at, v
			}
		}
	}
	if x == nil {
		x, value = []float64{-0.7, slowest + 1, -0.8}, free
	}
	return x, value, free
}
