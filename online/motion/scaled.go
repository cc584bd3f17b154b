package motion

import (
	"math"
	"sync"
)

// The grid of scaled Brownian motion with noise: coarse, because the net uses it as one feature of many.
const (
	scaledExponents = 10 // α = 0.1, 0.3 … 1.9
	scaledRatios    = 6  // noise variance over the mean variance of a step: 2^-6, 2^-4 … 2^4
)

// scaledSteps holds (t+1)^α - t^α, the variances of steps; t starts at 1, as in the tracks of the challenge.
var scaledSteps = sync.OnceValue(func() *[scaledExponents][mostPlaces]float64 {
	t := new([scaledExponents][mostPlaces]float64)
	for a := range t {
		alpha := 0.1 + 0.2*float64(a)
		for i := range t[a] {
			t[a][i] = math.Pow(float64(i+2), alpha) - math.Pow(float64(i+1), alpha)
		}
	}
	return t
})

// scaledMotion is the posterior of scaled Brownian motion. Apart from the noise, its steps are independent (Lim and Muniandy, Physical Review E 66,
// 021114, 2002).
type scaledMotion struct {
	density [scaledExponents]float64
	line    [scaledRatios]float64
}

// fit integrates over the noise ratio and the scale. A gap counts as one step of its first frame.
func (m *scaledMotion) fit(dx, dy []float64) {
	steps := scaledSteps()
	n := min(len(dx), mostPlaces)
	for a := range scaledExponents {
		variances := steps[a][:n]
		total := 0.
		for _, v := range variances {
			total += v
		}
		for r := range scaledRatios {
			rho := math.Exp2(float64(2*r-6)) * total / float64(n)
			quad, logDet := chained(variances, rho, dx, dy)
			m.line[r] = jeffreys(quad, logDet, n)
		}
		m.density[a], _, _ = integral(m.line[:])
	}
}

// jeffreys returns the logarithm of a Gaussian likelihood of n steps along both axes, with its scale integrated over dλ/λ, up to a term in n alone.
func jeffreys(quad, logDet float64, n int) float64 {
	return -logDet - float64(n)*math.Log(quad)
}

// chained returns Σ (prediction error)²/variance and Σ ln variance of steps that are independent apart from noise of one variance, shared by successive steps.
func chained(variances []float64, rho float64, dx, dy []float64) (quad, logDet float64) {
	var ex, ey, v float64
	product := 1.
	for i, own := range variances {
		k := 0.
		if i > 0 {
			k = -rho / v
		}
		ex, ey = dx[i]-k*ex, dy[i]-k*ey
		v = own + 2*rho + k*rho
		quad += (ex*ex + ey*ey) / v
		product *= v
		if i&7 == 7 { // eight factors neither overflow nor underflow a float
			logDet += math.Log(product)
			product = 1
		}
	}
	return quad, logDet + math.Log(product)
}
