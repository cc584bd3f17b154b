package maps

// cell holds the sums over the steps whose middle lies in it, see map.go. u and v are the coordinates of the middle in the cell, 0 to 1 from the lower
// corner.
type cell struct {
	time    [9]float64    // Σ w Δt uⁱvʲ at 3i+j, s
	moved   [2][4]float64 // Σ w Δ uⁱvʲ at 2i+j, px, along x and along y
	steps   float64       // Σ w
	squares float64       // Σ w², gives the effective number of steps
	second  float64       // Σ w Δ², px², over both axes
	crossed float64       // Σ w ΔΔ', px², over both axes
	pairs   float64       // Σ w of the steps with a previous step
	located float64       // Σ w × localisation variance, px² per axis
}

// add adds a step of weight w with its middle at u, v.
func (c *cell) add(s *Step, u, v, w float64) {
	t := w * s.DT
	for i, a := range [3]float64{t, t * u, t * u * u} {
		c.time[3*i] += a
		c.time[3*i+1] += a * v
		c.time[3*i+2] += a * v * v
	}
	for axis, d := range [2]float64{w * s.DX, w * s.DY} {
		b := &c.moved[axis]
		b[0], b[1], b[2], b[3] = b[0]+d, b[1]+d*v, b[2]+d*u, b[3]+d*u*v
	}
	c.steps += w
	c.squares += w * w
	c.second += w * (s.DX*s.DX + s.DY*s.DY)
	c.located += w * s.Variance
	if both := w * s.Before.Weight; both > 0 {
		c.crossed += both * (s.DX*s.Before.DX + s.DY*s.Before.DY)
		c.pairs += both
	}
}

// scale multiplies every weight by the factor by.
func (c *cell) scale(by float64) {
	for i := range c.time {
		c.time[i] *= by
	}
	for axis := range c.moved {
		for i := range c.moved[axis] {
			c.moved[axis][i] *= by
		}
	}
	c.squares *= by * by
	for _, p := range []*float64{&c.steps, &c.second, &c.crossed, &c.pairs, &c.located} {
		*p *= by
	}
}

// The four corners of a cell have the bilinear functions P_a(u) P_c(v), corner 2c+a, P₀ = 1-u, P₁ = u.
var (
	products = [2][2][3]float64{{{1, -2, 1}, {0, 1, -1}}, {{0, 1, -1}, {0, 0, 1}}} // of P_a P_b: coefficients of 1, u, u²
	slopes   = [2]float64{-1, 1}                                                   // of P_a
	first    = [2][2]float64{{1, -1}, {0, 1}}                                      // of P_a: coefficients of 1, u
)

// element holds the sums of a cell over the functions ψ of its four corners.
type element struct {
	mass  [4][4]float64 // Σ w Δt ψψ', s
	stiff [4][4]float64 // Σ w Δt ∇ψ·∇ψ', s/side²
	moved [2][4]float64 // Σ w Δ ψ, px
	slope [2][4]float64 // Σ w Δt ∂ψ, s/side
}

// element computes the sums over the corner functions from the sums of the cell.
func (c *cell) element() (e element) {
	for k := range 4 {
		a, b := k&1, k>>1
		for i, p := range first[a] {
			for j, q := range first[b] {
				for axis := range e.moved {
					e.moved[axis][k] += p * q * c.moved[axis][2*i+j]
				}
			}
			e.slope[0][k] += slopes[a] * first[b][i] * c.time[i]
			e.slope[1][k] += slopes[b] * p * c.time[3*i]
		}
		for l := range 4 {
			a2, b2 := l&1, l>>1
			for i, p := range products[a][a2] {
				for j, q := range products[b][b2] {
					e.mass[k][l] += p * q * c.time[3*i+j]
				}
				e.stiff[k][l] += slopes[a]*slopes[a2]*products[b][b2][i]*c.time[i] + slopes[b]*slopes[b2]*p*c.time[3*i]
			}
		}
	}
	return e
}

// trace returns the trace of mass divided by the trace of stiff.
func (e *element) trace() float64 {
	mass, stiff := 0.0, 0.0
	for k := range 4 {
		mass, stiff = mass+e.mass[k][k], stiff+e.stiff[k][k]
	}
	return mass / stiff
}
