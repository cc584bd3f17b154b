package motiontest

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
)

// Fractional returns n steps of fractional Brownian motion with exponent α, each of variance 1, along both axes. It is exact: the covariance of the
// steps, (|k+1|^α - 2|k|^α + |k-1|^α)/2, is embedded in a circulant without negative eigenvalues (Davies and Harte, Biometrika 74, 95, 1987). The real
// and the imaginary part of one draw are two independent paths.
func Fractional(rng *rand.Rand, n int, alpha float64) (x, y []float64) {
	size := 2
	for size < 2*n {
		size *= 2
	}
	c := make([]complex128, size)
	for k := 0; k <= size/2; k++ {
		t := float64(k)
		v := (math.Pow(t+1, alpha) - 2*math.Pow(t, alpha) + math.Pow(math.Abs(t-1), alpha)) / 2
		c[k] = complex(v, 0)
		if k > 0 && k < size/2 {
			c[size-k] = c[k]
		}
	}
	transform(c)
	for k := range c {
		sd := math.Sqrt(max(real(c[k]), 0) / float64(size))
		c[k] = complex(sd*rng.NormFloat64(), sd*rng.NormFloat64())
	}
	transform(c)
	x, y = make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = real(c[i]), imag(c[i])
	}
	return x, y
}

// transform computes the discrete Fourier transform in place, for a power of two.
func transform(c []complex128) {
	n := len(c)
	for i, j := 1, 0; i < n; i++ {
		bit := n >> 1
		for ; j&bit != 0; bit >>= 1 {
			j ^= bit
		}
		j ^= bit
		if i < j {
			c[i], c[j] = c[j], c[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		turn := cmplx.Rect(1, -2*math.Pi/float64(size))
		for from := 0; from < n; from += size {
			w := complex(1, 0)
			for k := from; k < from+size/2; k++ {
				a, b := c[k], w*c[k+size/2]
				c[k], c[k+size/2] = a+b, a-b
				w *= turn
			}
		}
	}
}
