package motion

import "math"

// window is the number of previous steps that predict a step of a track with gaps.
const window = 8 // 12 are no better, with a third of the frames missing

// conditional computes the likelihood of steps of unequal length, each given the window of previous steps (Vecchia, Journal of the Royal Statistical
// Society B 50, 297, 1988).
type conditional struct {
	covariances [exponents][]float64 // per visited α: of a step with itself and with each step of its window, without noise
	rows        [window + 1][window + 1]float64
	g           []float64 // spread over k frames
}

// reset drops the track.
func (c *conditional) reset() {
	for a := range c.covariances {
		c.covariances[a] = c.covariances[a][:0]
	}
}

// fit fills one cell of the posterior.
func (c *conditional) fit(f *fractional, s *series, a, r int) {
	if len(c.covariances[a]) == 0 {
		c.relate(s, a, f.exposure)
	}
	covariances, rho := c.covariances[a], ratioAt(r)
	quad, logDet, product := 0., 0., 1.
	for i := range f.dx {
		from := max(0, i-window)
		if i-from == window && s.frame[i+1]-s.frame[from] == window+1 && i > from {
			// no gap in the window: use the prediction of the same order from the table
			order := c.regular(s, i)
			t := f.table.coefficients[a][r][order*(order-1)/2 : order*(order+1)/2]
			ex, ey := missed(f.dx[i-order:i+1], f.dy[i-order:i+1], t)
			d := f.table.deviations[a][r][order]
			quad += (ex*ex + ey*ey) * d * d
			logDet += f.table.logs[a][r][order]
			continue
		}
		for j := from; j <= i; j++ {
			row, own := &c.rows[j-from], covariances[j*(window+1):][:j-from+1]
			for lag, v := range own {
				row[j-from-lag] = v
			}
			row[j-from] += 2 * rho
			if j > from {
				row[j-from-1] -= rho
			}
		}
		variance, ex, ey := c.error(f.dx[from:i+1], f.dy[from:i+1])
		quad += (ex*ex + ey*ey) / variance
		if product *= variance; product > 1e60 || product < 1e-60 { // long before a float overflows or underflows
			logDet += math.Log(product)
			product = 1
		}
	}
	f.quad[a][r], f.logDet[a][r] = quad, logDet+math.Log(product)
}

// regular returns the number of single-frame steps before step i, at most memory.
func (c *conditional) regular(s *series, i int) int {
	n := 0
	for n < memory && i-n-1 >= 0 && s.frame[i-n]-s.frame[i-n-1] == 1 {
		n++
	}
	return n
}

// relate computes the covariances of an α, in K Δt^α.
func (c *conditional) relate(s *series, a int, exposure float64) {
	alpha := alphaAt(a)
	c.g = c.g[:0]
	for k := range 4 * (window + 1) { // four times the window without gaps; larger lags are computed on demand
		c.g = append(c.g, spread(float64(k), alpha, exposure))
	}
	g := func(later, earlier int) float64 {
		lag := max(later-earlier, earlier-later)
		if lag < len(c.g) {
			return c.g[lag]
		}
		return spread(float64(lag), alpha, exposure)
	}
	out, t := c.covariances[a], s.frame
	for j := range s.steps() {
		for lag := range window + 1 {
			v := 0.
			if k := j - lag; k >= 0 {
				v = g(t[j+1], t[k]) + g(t[j], t[k+1]) - g(t[j], t[k]) - g(t[j+1], t[k+1])
			}
			out = append(out, v)
		}
	}
	c.covariances[a] = out
}

// error returns the prediction error of the last step given the previous ones, along both axes, and its variance. It factors the rows in place, as L D
// Lᵀ: left of the diagonal, a row holds L D during its computation, and L after it.
func (c *conditional) error(dx, dy []float64) (variance, ex, ey float64) {
	var zx, zy, inverse [window + 1]float64
	for i := range dx {
		row := &c.rows[i]
		for j := 1; j < i; j++ {
			other, v := &c.rows[j], row[j]
			for k := range j {
				v -= row[k] * other[k]
			}
			row[j] = v
		}
		v, x, y := row[i], dx[i], dy[i]
		for k := range i {
			l := row[k] * inverse[k]
			v -= row[k] * l
			x -= l * zx[k]
			y -= l * zy[k]
			row[k] = l
		}
		zx[i], zy[i], inverse[i] = x, y, 1/v
		variance, ex, ey = v, x, y
	}
	return variance, ex, ey
}
