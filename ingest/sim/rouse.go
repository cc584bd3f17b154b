package sim

import (
	"math"
	"math/rand/v2"
)

// The chain's resolution. The 16 modes hold 0.96 of the squared radius of gyration.
const (
	segments = 64
	modes    = 16
)

// rouse is an ideal chain's shape in solution, projected onto the picture's plane (Rouse 1953; Doi and Edwards, "The Theory of
// Polymer Dynamics", 1986, section 4.1). Around its centre of mass, segment n = 0 .. N-1 is at
//
//	r_n = 2 Σ_p X_p cos(πp (n + 1/2)/N),
//
// and each component of each mode X_p is an Ornstein-Uhlenbeck process with
//
//	⟨X_p²⟩ = R_g²/(πp)²,   τ_p = τ₁/p²,   τ₁ = 2 R_g²/(π² D),
//
// D the diffusion of the centre of mass. It is stepped exactly: X ← a X + √(1 - a²) sd ξ, a = exp(-Δt/τ_p).
type rouse struct {
	rng   *rand.Rand
	sd    [modes]float64 // of a component, um
	keep  [modes]float64 // a
	mode  [modes][2]float64
	wave  [modes][segments]float64 // 2 cos(πp (n + 1/2)/N)
	place [segments][2]float64
}

// newRouse makes a chain of the given radius of gyration and diffusion, seen every dt. It has no shape before relax.
func newRouse(gyration, diffusion, dt float64, rng *rand.Rand) *rouse {
	c := &rouse{rng: rng}
	slowest := 2 * gyration * gyration / (math.Pi * math.Pi * diffusion)
	for i := range modes {
		p := float64(i + 1)
		c.sd[i] = gyration / (math.Pi * p)
		c.keep[i] = math.Exp(-dt * p * p / slowest)
		for n := range segments {
			c.wave[i][n] = 2 * math.Cos(math.Pi*p*(float64(n)+0.5)/segments)
		}
	}
	return c
}

// relax draws a shape from equilibrium.
func (c *rouse) relax() {
	for i := range c.mode {
		for k := range c.mode[i] {
			c.mode[i][k] = c.sd[i] * c.rng.NormFloat64()
		}
	}
}

// step moves the shape by dt.
func (c *rouse) step() {
	for i, a := range c.keep {
		kick := c.sd[i] * math.Sqrt(1-a*a)
		for k := range c.mode[i] {
			c.mode[i][k] = a*c.mode[i][k] + kick*c.rng.NormFloat64()
		}
	}
}

// places are the segments around the centre of mass, um; lent until the next call.
func (c *rouse) places() *[segments][2]float64 {
	clear(c.place[:])
	for i, m := range c.mode {
		for n, w := range c.wave[i] {
			c.place[n][0] += w * m[0]
			c.place[n][1] += w * m[1]
		}
	}
	return &c.place
}
