package regression

import "math"

// basis holds the centre and the scale of the features, (7): u = (x - c)/ρ.
type basis struct {
	centre []float64 // c, the mean of x over time
	scale  float64   // ρ, s^½
	radius float64   // a
}

// newBasis computes c, ρ and a from the steps.
func newBasis(s *Steps) *basis {
	b := &basis{centre: make([]float64, s.dim), scale: 1}
	seconds, position := 0.0, func(dst, x []float64) { copy(dst, x) }
	for k, x := range s.averaged(s.dim, position) {
		seconds += s.dt[k]
		for i, v := range x {
			b.centre[i] += (v - b.centre[i]) * s.dt[k] / seconds
		}
	}
	square, fourth := 0.0, 0.0
	for k, x := range s.averaged(s.dim, position) {
		u2 := squareDistance(x, b.centre)
		square += s.dt[k] * u2
		fourth += s.dt[k] * u2 * u2
	}
	if square > 0 {
		b.scale = math.Sqrt(square / (seconds * float64(s.dim)))
		b.radius = fourth / (square * b.scale * b.scale)
	}
	return b
}

// squareDistance returns |x - c|².
func squareDistance(x, c []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += (v - c[i]) * (v - c[i])
	}
	return sum
}

// scaled writes u(x) into dst, which may be x.
func (b *basis) scaled(dst, x []float64) {
	for i, v := range x {
		dst[i] = (v - b.centre[i]) / b.scale
	}
}

// radialFactor returns ½(|u|² - a), the factor of u in the radial field.
func (b *basis) radialFactor(u []float64) float64 {
	sum := 0.0
	for _, v := range u {
		sum += v * v
	}
	return (sum - b.radius) / 2
}

// fields writes u(x) and the radial field at x into dst, one after the other.
func (b *basis) fields(dst, x []float64) {
	d := len(x)
	b.scaled(dst[:d], x)
	bend := b.radialFactor(dst[:d])
	for i, u := range dst[:d] {
		dst[d+i] = bend * u
	}
}
