package motion

import "math"

// parts is the number of parts per grid step in integrals: eight resolve a peak a quarter of a step wide to a percent.
const parts = 8

// never is the logarithm of 0.
var never = math.Inf(-1)

// integral integrates exp(f) over a grid of step h, with f interpolated by the parabola through the nearest three points. Unvisited points are never;
// parts that need them count as 0. It returns the logarithm of the integral, and the mean and variance of the position, in steps.
func integral(f []float64) (log, mean, variance float64) {
	top := never
	for _, v := range f {
		top = max(top, v)
	}
	if math.IsInf(top, -1) {
		return never, 0, 0
	}
	if len(f) < 3 {
		return sumOf(f, top)
	}
	var s0, s1, s2 float64
	last := float64(len(f) - 1)
	for k := range f {
		c := min(max(k, 1), len(f)-2)
		a, b, d := f[c-1], f[c], f[c+1]
		if math.IsInf(a, -1) || math.IsInf(b, -1) || math.IsInf(d, -1) {
			if !math.IsInf(f[k], -1) {
				w := math.Exp(f[k] - top)
				s0, s1, s2 = s0+w, s1+w*float64(k), s2+w*float64(k)*float64(k)
			}
			continue
		}
		for j := range parts {
			at := float64(k) + (float64(j)+0.5)/parts - 0.5
			if at < 0 || at > last {
				continue
			}
			u := at - float64(c)
			v := b + u*(d-a)/2 + u*u*(d+a-2*b)/2
			w := math.Exp(min(v-top, 2)) / parts
			s0, s1, s2 = s0+w, s1+w*at, s2+w*at*at
		}
	}
	mean = s1 / s0
	return top + math.Log(s0), mean, max(s2/s0-mean*mean, 0)
}

func sumOf(f []float64, top float64) (log, mean, variance float64) {
	var s0, s1, s2 float64
	for k, v := range f {
		w, at := math.Exp(v-top), float64(k)
		s0, s1, s2 = s0+w, s1+w*at, s2+w*at*at
	}
	mean = s1 / s0
	return top + math.Log(s0), mean, max(s2/s0-mean*mean, 0)
}
