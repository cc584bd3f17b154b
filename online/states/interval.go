package states

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Interval is a value with its 95 % interval.
type Interval struct{ Value, Low, High float64 }

// normal95 is the 97.5 % point of a normal law, and the root of the 95 % point of χ² with one degree of freedom.
const normal95 = 1.959963984540054

// profile finds the interval of one coordinate at a maximum: the values at which twice the log likelihood, maximised over all other coordinates, is within
// the 95 % point of χ² of its maximum.
type profile struct {
	of      summit
	least   []float64
	top     []float64 // the maximum
	nats    float64
	hessian *mat.SymDense
}

// Search for the end of a profile. An error of 0.02 in the root moves the end by a hundredth of the interval.
const (
	profileTries = 14
	profileNear  = 0.02
)

// end returns the end of the interval of coordinate k on one side (-1 or 1), at most limit. open reports that the end is the limit.
func (p *profile) end(k int, side, limit float64) (end float64, open bool) {
	at := append([]float64(nil), p.top...)
	fixed := make([]bool, len(at))
	fixed[k] = true
	root := func(x float64) float64 {
		at[k] = x
		c := climb{of: p.of, least: p.least, fixed: fixed, hessian: p.hessian, near: true}
		r := math.Sqrt(2 * max(p.nats-c.maximise(at), 0))
		if math.IsNaN(r) { // the likelihood is undefined here
			return 2 * normal95
		}
		return r
	}
	span := side * (limit - p.top[k])
	near, nearRoot, far, farRoot := 0.0, 0.0, math.NaN(), math.NaN() // distances from the top
	try := min(normal95*p.sd(k), span)
	for range profileTries {
		r := root(p.top[k] + side*try)
		if math.Abs(r-normal95) < profileNear {
			return p.top[k] + side*try, false
		}
		if r < normal95 {
			if try >= span {
				return limit, true
			}
			near, nearRoot = try, r
		} else {
			far, farRoot = try, r
		}
		if math.IsNaN(far) {
			try = min(near*min(max(normal95/max(nearRoot, 0.1), 1.2), 3), span)
			continue
		}
		share := (normal95 - nearRoot) / (farRoot - nearRoot)
		try = near + (far-near)*min(max(share, 0.05), 0.95)
	}
	return p.top[k] + side*try, false
}

// sd returns the standard deviation of a coordinate from the curvature at the top, or 1 if the curvature gives none.
func (p *profile) sd(k int) float64 {
	n := len(p.top)
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, -p.hessian.At(i, j))
		}
	}
	var factor mat.Cholesky
	var inverse mat.SymDense
	if factor.Factorize(a) && factor.InverseTo(&inverse) == nil {
		if v := inverse.At(k, k); v > 0 {
			return min(math.Sqrt(v), 3)
		}
	}
	if h := p.hessian.At(k, k); h < 0 {
		return min(1/math.Sqrt(-h), 3)
	}
	return 1
}

// profileOf prepares the intervals at the maximum of a mixture, with its states in the given order.
func (f *fitting) profileOf(m *mixture, order []int) *profile {
	k := len(m.d)
	p := &profile{of: f.likelihood(k), least: f.bounds(k), top: f.coordinates(m, order)}
	if m.table != nil {
		p.of, p.least[2*k-1] = f.spreadLikelihood(m.table, k), narrowest
	}
	gradient := make([]float64, 2*k)
	p.nats = p.of(p.top, gradient)
	c := climb{of: p.of, least: p.least}
	c.curve(p.top, gradient)
	p.hessian = c.hessian
	return p
}

// intervals holds the intervals of the numbers of a mixture.
type intervals struct {
	d, fraction []Interval
	spread      Interval
}

// intervals returns the intervals of a mixture. The D of a state stays between the D of its neighbours.
func (f *fitting) intervals(m *mixture) (v intervals) {
	k := len(m.d)
	p := f.profileOf(m, ascending(k))
	for j := range k {
		v.d = append(v.d, f.boundsOfD(p, j, k))
	}
	if m.table != nil {
		low, none := p.end(2*k-1, -1, narrowest)
		high, _ := p.end(2*k-1, 1, widest)
		if none {
			low = 0
		}
		v.spread = Interval{m.spread, low, high}
	}
	if k == 1 {
		v.fraction = []Interval{{1, 1, 1}}
		return v
	}
	for j := range k {
		order := ascending(k) // with j first on the stick
		order[0], order[j] = order[j], order[0]
		v.fraction = append(v.fraction, boundsOfFraction(f.profileOf(m, order), m.fraction[j], k))
	}
	return v
}

// boundsOfD returns the interval of the D of state j of k.
func (f *fitting) boundsOfD(p *profile, j, k int) Interval {
	low, high := f.least, max(p.top[j], math.Log(f.unit/f.time))+far
	if j > 0 {
		low = p.top[j-1]
	}
	if j < k-1 {
		high = p.top[j+1]
	}
	a, rests := p.end(j, -1, low)
	b, _ := p.end(j, 1, high)
	v := Interval{math.Exp(p.top[j]), math.Exp(a), math.Exp(b)}
	if rests && j == 0 {
		v.Low = 0
	}
	return v
}

// boundsOfFraction returns the interval of the first fraction on the stick.
func boundsOfFraction(p *profile, fraction float64, k int) Interval {
	a, none := p.end(k, -1, rarest)
	b, all := p.end(k, 1, -rarest)
	v := Interval{fraction, logistic(a), logistic(b)}
	if none {
		v.Low = 0
	}
	if all {
		v.High = 1
	}
	return v
}

// Limits of the search for ends.
const (
	far    = 9.2 // distance above the mean D in ln D: four decades
	widest = 4.0 // spread of ln D: a factor of fifty
	rarest = -14 // logit of a fraction: a millionth
)
