package motion

import "math"

// window is how many steps before it a step of a track with gaps is predicted by.
const window = 8 // with a third of the frames missing, 12 are no better

// conditional is the likelihood of steps of unequal length, each given the window of steps before it (Vecchia, Journal of the Royal Statistical
// Society B 50, 297, 1988).
type conditional struct {
	rows                 [window + 1][window + 1]float64
	g                    []float64 // spread over k frames
	rho, alpha, exposure float64
}

// fit writes a cell of the posterior.
func (c *conditional) fit(f *fractional, s *series, a, r int) {
	c.rho, c.alpha, c.exposure = ratioAt(r), alphaAt(a), f.exposure
	c.g = c.g[:0]
	for k := range 4 * (window + 1) { // four times the window without gaps: beyond, it is worked out
		c.g = append(c.g, spread(float64(k), c.alpha, c.exposure))
	}
	quad, logDet := 0., 0.
	for i := range f.dx {
		from := max(0, i-window)
		if i-from == window && s.frame[i+1]-s.frame[from] == window+1 && i > from {
			// no gap in sight: the table's prediction of the same order
			order := c.regular(s, i)
			t := f.table.coefficients[a][r][order*(order-1)/2 : order*(order+1)/2]
			ex, ey := missed(f.dx[i-order:i+1], f.dy[i-order:i+1], t)
			d := f.table.deviations[a][r][order]
			quad += (ex*ex + ey*ey) * d * d
			logDet += f.table.logs[a][r][order]
			continue
		}
		for j := from; j <= i; j++ {
			for k := from; k <= j; k++ {
				c.rows[j-from][k-from] = c.covariance(s, j, k)
			}
		}
		n := i - from
		variance, ex, ey := c.error(n, f.dx[from:i+1], f.dy[from:i+1])
		quad += (ex*ex + ey*ey) / variance
		logDet += math.Log(variance)
	}
	f.quad[a][r], f.logDet[a][r] = quad, logDet
}

// regular is how many steps of one frame lead up to step i, at most the memory.
func (c *conditional) regular(s *series, i int) int {
	n := 0
	for n < memory && i-n-1 >= 0 && s.frame[i-n]-s.frame[i-n-1] == 1 {
		n++
	}
	return n
}

// covariance is that of steps j ≥ k with noise, in K Δt^α.
func (c *conditional) covariance(s *series, j, k int) float64 {
	g := func(a, b int) float64 {
		lag := a - b
		if lag < 0 {
			lag = -lag
		}
		if lag < len(c.g) {
			return c.g[lag]
		}
		return spread(float64(lag), c.alpha, c.exposure)
	}
	t := s.frame
	v := g(t[j+1], t[k]) + g(t[j], t[k+1]) - g(t[j], t[k]) - g(t[j+1], t[k+1])
	switch j - k {
	case 0:
		v += 2 * c.rho
	case 1:
		v -= c.rho
	}
	return v
}

// error is the last step less its mean given those before it, along both axes, and its variance. It factors the rows in place.
func (c *conditional) error(last int, dx, dy []float64) (variance, ex, ey float64) {
	var zx, zy [window + 1]float64
	for i := 0; i <= last; i++ {
		row := &c.rows[i]
		for j := 0; j < i; j++ {
			other := &c.rows[j]
			v := row[j]
			for k := range j {
				v -= row[k] * other[k]
			}
			row[j] = v / other[j]
		}
		v, x, y := row[i], dx[i], dy[i]
		for k := range i {
			v -= row[k] * row[k]
			x -= row[k] * zx[k]
			y -= row[k] * zy[k]
		}
		row[i] = math.Sqrt(v)
		zx[i], zy[i] = x/row[i], y/row[i]
		variance, ex, ey = v, x, y
	}
	return variance, ex, ey
}
