package regression

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// linear holds the posterior of the fields w_ij u_j e_i under group priors, in the frame of the axes Q, in which Σ Δt u u' is diag(λ). In this frame w_ij is
// coupled only to w_ji, as a rotation and a shear. The diagonal is coupled only to itself, as the dilation and the stretches. V = (S⁻¹ + G)⁻¹ then has a
// closed form, and a product with it costs O(d²).
type linear struct {
	q      *mat.Dense
	lambda []float64
}

// variances are the prior variances of the linear groups, 0 if a group is off. A stretch is a shear along axes turned by 45°, and has the prior of shears.
type variances struct{ dilation, rotation, shear float64 }

// pair returns V of the rotation u_j e_i - u_i e_j and the shear u_j e_i + u_i e_j, and the determinant of their K.
func (l *linear) pair(i, j int, t variances) (rr, rs, ss, det float64) {
	sum, difference := l.lambda[i]+l.lambda[j], l.lambda[j]-l.lambda[i]
	r, s := t.rotation, t.shear
	det = 1 + (r+s)*sum + 4*r*s*l.lambda[i]*l.lambda[j]
	return r * (1 + s*sum) / det, -r * s * difference / det, s * (1 + r*sum) / det, det
}

// diagonal returns V of the fields u_i e_i as own·diag(e) + outer·ee', and ln det of their K. The prior is 2s(I - 11'/d) + t 11', with t for the dilation and
// s for the stretches, whose coefficients are orthogonal with squares that add up to 2.
func (l *linear) diagonal(t variances) (e []float64, own, outer, logDet float64) {
	e, own = make([]float64, len(l.lambda)), 2*t.shear
	outer = t.dilation - own/float64(len(l.lambda))
	sum := 0.0
	for i, lambda := range l.lambda {
		e[i] = 1 / (1 + own*lambda)
		sum += lambda * e[i]
		logDet -= math.Log(e[i])
	}
	return e, own, outer / (1 + outer*sum), logDet + math.Log(1+outer*sum)
}

// solve writes V b into dst, both d×d and row-major, with the coefficients of e_i in row i, and returns ln det K.
func (l *linear) solve(dst, b []float64, t variances) (logDet float64) {
	d := len(l.lambda)
	e, own, outer, logDet := l.diagonal(t)
	along := 0.0
	for i := range d {
		along += e[i] * b[i*d+i]
	}
	for i := range d {
		dst[i*d+i] = e[i] * (own*b[i*d+i] + outer*along)
		for j := i + 1; j < d; j++ {
			rr, rs, ss, det := l.pair(i, j, t)
			logDet += math.Log(det)
			turn, shear := b[i*d+j]-b[j*d+i], b[i*d+j]+b[j*d+i]
			rotation, pull := rr*turn+rs*shear, rs*turn+ss*shear
			dst[i*d+j], dst[j*d+i] = pull+rotation, pull-rotation
		}
	}
	return logDet
}

// sample adds a draw of N(0, V) to dst, d×d and row-major.
func (l *linear) sample(dst []float64, t variances, rng *rand.Rand) {
	d := len(l.lambda)
	e, own, outer, _ := l.diagonal(t)
	// own·diag(e) + outer·ee' is MM' with M = √own·diag(√e)·(I + γqq'), where q is √e as a unit vector. If own is 0, M is √outer·e.
	sum, along, x := floats.Sum(e), 0.0, make([]float64, d)
	for i := range x {
		x[i] = rng.NormFloat64()
		along += math.Sqrt(e[i]/sum) * x[i]
	}
	stretch := 0.0
	if own > 0 {
		stretch = math.Sqrt(max(0, 1+outer/own*sum)) - 1
	}
	for i := range x {
		if own > 0 {
			dst[i*d+i] += math.Sqrt(own*e[i]) * (x[i] + stretch*along*math.Sqrt(e[i]/sum))
		} else {
			dst[i*d+i] += math.Sqrt(max(0, outer)) * e[i] * x[0]
		}
		for j := i + 1; j < d; j++ {
			rr, rs, ss, _ := l.pair(i, j, t)
			a, b := rng.NormFloat64(), rng.NormFloat64()
			rotation, shear := math.Sqrt(rr)*a, math.Sqrt(ss)*b
			if rr > 0 {
				shear = rs/math.Sqrt(rr)*a + math.Sqrt(max(0, ss-rs*rs/rr))*b
			}
			dst[i*d+j] += shear + rotation
			dst[j*d+i] += shear - rotation
		}
	}
}
