package online

import "math"

// basis fixes the features' scale, doc.go (10): u = (x - c)/ρ.
type basis struct {
	centre []float64 // c, the mean of x over time
	scale  float64   // ρ, s^½
	radius float64   // a
}

// newBasis takes c, ρ and a from the steps.
func newBasis(s *steps) *basis {
	b := &basis{centre: make([]float64, s.dim), scale: 1}
	seconds := 0.0
	for k := range s.len() {
		x, _, dt := s.row(k)
		seconds += dt
		for i, v := range x {
			b.centre[i] += (v - b.centre[i]) * dt / seconds
		}
	}
	square := 0.0
	for k := range s.len() {
		x, _, dt := s.row(k)
		square += dt * squareDistance(x, b.centre)
	}
	if square > 0 {
		b.scale = math.Sqrt(square / (seconds * float64(s.dim)))
	}
	second, fourth := 0.0, 0.0
	for k := range s.len() {
		x, _, dt := s.row(k)
		u2 := squareDistance(x, b.centre) / (b.scale * b.scale)
		second += dt * u2
		fourth += dt * u2 * u2
	}
	if second > 0 {
		b.radius = fourth / second
	}
	return b
}

// squareDistance is |x - c|².
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

// bend is ½(|u|² - a), which times u is the radial field.
func (b *basis) bend(u []float64) float64 {
	sum := 0.0
	for _, v := range u {
		sum += v * v
	}
	return (sum - b.radius) / 2
}
