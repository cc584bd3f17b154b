package exact

import "math"

// slope writes the gradient of f at x over the entries listed in free, by central differences, and the second derivatives after it into both. value is f(x).
func slope(f func([]float64) float64, x []float64, value float64, free []int, both []float64) {
	const h = 1e-3
	out, bends := both[:len(free)], both[len(free):]
	for k, i := range free {
		was := x[i]
		x[i] = was + h
		up := f(x)
		x[i] = was - h
		down := f(x)
		x[i] = was
		switch out[k], bends[k] = (up-down)/(2*h), (up+down-2*value)/(h*h); {
		case math.IsInf(up, 1) && math.IsInf(down, 1):
			out[k], bends[k] = 0, 1
		case math.IsInf(up, 1):
			out[k], bends[k] = (value-down)/h, 1
		case math.IsInf(down, 1):
			out[k], bends[k] = (up-value)/h, 1
		}
	}
}

// descend minimises f over the entries of x listed in free, in place, by the method of Broyden, Fletcher, Goldfarb and Shanno. Entries should be of order 1.
// It returns the minimum.
func descend(f func([]float64) float64, x []float64, free []int, rounds int) float64 {
	n := len(free)
	inverse, now, later, step := make([]float64, n*n), make([]float64, 2*n), make([]float64, 2*n), make([]float64, n)
	gradient, next := now[:n], later[:n]
	reset := func() {
		clear(inverse)
		for k := range n {
			inverse[k*n+k] = 1 / max(math.Abs(now[n+k]), math.Abs(gradient[k]), 0.1)
		}
	}
	value := f(x)
	if math.IsInf(value, 1) || n == 0 {
		return value
	}
	slope(f, x, value, free, now)
	reset()
	trial, fresh, small := append([]float64(nil), x...), true, 0
	for range rounds {
		slant, size := 0.0, 1.0
		for k := range n {
			step[k] = 0
			for j := range n {
				step[k] -= inverse[k*n+j] * gradient[j]
			}
			slant += step[k] * gradient[k]
			size = min(size, 2/max(math.Abs(step[k]), 1e-300))
		}
		lower := math.Inf(1)
		if -slant > 1e-6 {
			for range 12 {
				for k, i := range free {
					trial[i] = x[i] + size*step[k]
				}
				if lower = f(trial); lower <= value+1e-4*size*slant {
					break
				}
				size /= 3
			}
		}
		if !(lower < value) {
			if fresh {
				break
			}
			reset()
			fresh = true
			continue
		}
		for k, i := range free {
			step[k] = trial[i] - x[i]
			x[i] = trial[i]
		}
		gained := value - lower
		value = lower
		slope(f, x, value, free, later)
		update(inverse, step, gradient, next)
		copy(now, later)
		if fresh = false; gained > 1e-4 {
			small = 0
		} else if small++; small == 2 {
			break
		}
	}
	return value
}

// update updates the inverse Hessian after a step from one gradient to the next.
func update(inverse, step, from, to []float64) {
	n := len(step)
	y, hy := make([]float64, n), make([]float64, n)
	sy, yhy := 0.0, 0.0
	for k := range n {
		y[k] = to[k] - from[k]
		sy += step[k] * y[k]
	}
	if sy < 1e-10 {
		return
	}
	for k := range n {
		for j := range n {
			hy[k] += inverse[k*n+j] * y[j]
		}
		yhy += y[k] * hy[k]
	}
	for k := range n {
		for j := range n {
			inverse[k*n+j] += (1+yhy/sy)*step[k]*step[j]/sy - (hy[k]*step[j]+step[k]*hy[j])/sy
		}
	}
}

// curvature returns the standard deviations of the entries of x from the inverse Hessian of f, each between least and most.
func curvature(f func([]float64) float64, x []float64, least, most float64) []float64 {
	const h = 0.01
	n := len(x)
	at := append([]float64(nil), x...)
	value := f(at)
	hessian := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			corner := func(a, b float64) float64 {
				copy(at, x)
				at[i] += a * h
				at[j] += b * h
				return f(at)
			}
			v := 0.0
			if i == j {
				v = (corner(0.5, 0.5) + corner(-0.5, -0.5) - 2*value) / (h * h)
			} else {
				v = (corner(1, 1) - corner(1, -1) - corner(-1, 1) + corner(-1, -1)) / (4 * h * h)
			}
			hessian[i*n+j], hessian[j*n+i] = v, v
		}
	}
	inverse := invert(hessian, n)
	out := make([]float64, n)
	for i := range n {
		v := most * most
		if inverse != nil && inverse[i*n+i] > 0 {
			v = inverse[i*n+i]
		}
		out[i] = min(max(math.Sqrt(v), least), most)
	}
	return out
}

// invert returns the inverse of an n×n matrix by Gauss and Jordan, or nil if it is singular.
func invert(a []float64, n int) []float64 {
	m, out := append([]float64(nil), a...), make([]float64, n*n)
	for i := range n {
		out[i*n+i] = 1
	}
	for c := range n {
		pivot := c
		for r := c + 1; r < n; r++ {
			if math.Abs(m[r*n+c]) > math.Abs(m[pivot*n+c]) {
				pivot = r
			}
		}
		if m[pivot*n+c] == 0 || math.IsNaN(m[pivot*n+c]) {
			return nil
		}
		for k := range n {
			m[c*n+k], m[pivot*n+k] = m[pivot*n+k], m[c*n+k]
			out[c*n+k], out[pivot*n+k] = out[pivot*n+k], out[c*n+k]
		}
		by := 1 / m[c*n+c]
		for k := range n {
			m[c*n+k] *= by
			out[c*n+k] *= by
		}
		for r := range n {
			if by := m[r*n+c]; r != c && by != 0 {
				for k := range n {
					m[r*n+k] -= by * m[c*n+k]
					out[r*n+k] -= by * out[c*n+k]
				}
			}
		}
	}
	return out
}

// at returns the most likely point with entry i at a value, and the root of its deviance. It starts from a neighbour. A narrow curved valley needs many
// rounds: where D and noise nearly replace each other, 30 stop short, and the interval would be too short.
func (of *fitted) at(i int, value float64, neighbour []float64, free []int) (x []float64, root float64) {
	x = append([]float64(nil), neighbour...)
	x[i] = value
	for _, rounds := range []int{30, 100} {
		if root = math.Sqrt(2 * max(descend(of.f, x, free, rounds)-of.value, 0)); root <= 1.96 {
			break
		}
	}
	return x, root
}

// profile returns the 95 % interval of entry i from the profile likelihood. An end outside the range [from, to] is ±Inf.
func (of *fitted) profile(i int, from, to float64) [2]float64 {
	x, sd := of.x, of.sd[i]
	var free []int
	for k := range x {
		if k != i {
			free = append(free, k)
		}
	}
	var ends [2]float64
	for side, sign := range [2]float64{-1, 1} {
		at := append([]float64(nil), x...)
		inside, depth, step := x[i], 0.0, 1.96*sd
		outside, excess := math.NaN(), math.NaN()
		for range 14 {
			next := inside + sign*step
			if next < from || next > to {
				break
			}
			trial, v := of.at(i, next, at, free)
			if v > 1.96 {
				outside, excess = next, v
				break
			}
			inside, depth = next, v
			copy(at, trial)
			step = min(max((1.96-v)/max(v/math.Abs(next-x[i]), 1e-9)*1.05, 0.2*step), 2*step)
		}
		if math.IsNaN(outside) {
			ends[side] = math.Inf(int(sign))
			continue
		}
		before := 0.0  // side of the last point
		for range 12 { // regula falsi of Illinois: the deviance may bend sharply between the ends
			if excess-depth < 0.02 {
				break
			}
			next := inside + (outside-inside)*min(max((1.96-depth)/(excess-depth), 0.1), 0.9)
			trial, v := of.at(i, next, at, free)
			if v > 1.96 {
				if outside, excess = next, v; before > 0 {
					depth = (depth + 1.96) / 2
				}
				before = 1
			} else {
				if inside, depth = next, v; before < 0 {
					excess = (excess + 1.96) / 2
				}
				before = -1
				copy(at, trial)
			}
			if math.Abs(v-1.96) < 0.02 {
				break
			}
		}
		ends[side] = inside + (outside-inside)*(1.96-depth)/max(excess-depth, 1e-9)
	}
	return ends
}
