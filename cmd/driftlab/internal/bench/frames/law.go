package frames

import (
	"math"
	"math/rand/v2"
	"time"
)

// law is a whirl, dz = Az dt + σ dW with A = (-κ, -ω; ω, -κ), in µm of the specimen.
type law struct{ kappa, omega, sigma float64 }

// whirl turns three times a second, a micrometre from the centre. It is slow enough that ten frames show a turn, and fast
// enough that drift and diffusion are equal over a few milliseconds.
var whirl = law{kappa: 0.5, omega: 2 * math.Pi * 3, sigma: 1}

// turned returns exp(At)z.
func (l law) turned(z [2]float64, t float64) [2]float64 {
	rho := math.Exp(-l.kappa * t)
	sin, cos := math.Sincos(l.omega * t)
	return [2]float64{rho * (cos*z[0] - sin*z[1]), rho * (sin*z[0] + cos*z[1])}
}

// spread returns q(t), the variance per axis that diffusion adds in t: σ²(1 - exp(-2κt))/2κ.
func (l law) spread(t float64) float64 {
	return -l.sigma * l.sigma * math.Expm1(-2*l.kappa*t) / (2 * l.kappa)
}

// grid is the time step of paths: diffusion moves the molecule 0.01 µm per step, a seventh of its motion on the way to a pin.
const grid = 100 * time.Microsecond

// path is the molecule's position at every multiple of grid.
type path [][2]float64

// walk draws an exact path, starting in the law's stationary distribution.
func (l law) walk(length time.Duration, seed uint64) path {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := make(path, int(length/grid)+1)
	start, sd := math.Sqrt(l.sigma*l.sigma/(2*l.kappa)), math.Sqrt(l.spread(grid.Seconds()))
	p[0] = [2]float64{start * rng.NormFloat64(), start * rng.NormFloat64()}
	for i := 1; i < len(p); i++ {
		p[i] = l.turned(p[i-1], grid.Seconds())
		p[i][0] += sd * rng.NormFloat64()
		p[i][1] += sd * rng.NormFloat64()
	}
	return p
}

// at returns the position nearest in time to t, and false beyond the end.
func (p path) at(t time.Duration) ([2]float64, bool) {
	i := int((t + grid/2) / grid)
	if i < 0 || i >= len(p) {
		return [2]float64{}, false
	}
	return p[i], true
}
