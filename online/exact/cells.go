package exact

import "math"

// recall is the number of previous steps that a cell remembers.
const recall = 3

// cells are the motions that an object may have during a visit: a grid of scales K and exponents. The density of a step in a cell is conditional on the
// recall previous steps. After a gap it is the density of the step alone.
type cells struct {
	kinds
	unit   []float64 // the cube root of K
	noise  float64   // variance of the localisation noise
	likely []float32 // [step][cell], divided by its maximum
	tops   []float64 // ln of the maximum
	n      int       // steps
	dims   float64
}

// Step of ln K, and the grid of exponents if the exponent is free.
const cellStep = 0.13

var mixedExponents = []float64{0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8}

// look holds the settings of an analysis: the exposure as a fraction of a frame, the number of moving axes, and the use of cores.
type look struct {
	exposure, dims float64
	cores          crew
}

// kinds lists the parameters of cells: ln K, the exponent, and the factor on the variance of the noise.
type kinds struct{ lnK, alpha, bad []float64 }

// grid returns a cell for every scale and exponent, and cells of almost no motion.
func grid(square, step float64, alphas []float64) (k kinds) {
	scales := []float64{math.Log(square * 1e-5)}
	for x := math.Log(square * 2e-3); x < math.Log(square*8); x += step {
		scales = append(scales, x)
	}
	for _, x := range scales {
		for _, a := range alphas {
			k.lnK, k.alpha, k.bad = append(k.lnK, x), append(k.alpha, a), append(k.bad, 1)
		}
	}
	return k
}

// newCells tabulates the densities of all steps.
func newCells(m *steps, of kinds, noise float64, by look) *cells {
	c := &cells{kinds: of, noise: noise, n: len(m.move), dims: by.dims}
	for _, k := range of.lnK {
		c.unit = append(c.unit, math.Exp(k/3))
	}
	predict := make([][recall + 1]predictor, len(c.lnK))
	for s := range predict {
		k, f := math.Exp(c.lnK[s]), fractional(c.alpha[s], by.exposure)
		list := predictors(func(l int) float64 { return k * f(l) }, noise*c.bad[s], recall)
		copy(predict[s][:], list)
	}
	c.likely, c.tops = make([]float32, c.n*len(predict)), make([]float64, c.n)
	spread(len(m.first)-1, by.cores, func(i int) {
		run, row := 0, make([]float64, len(predict))
		for t := m.first[i]; t < m.first[i+1]; t++ {
			g := m.gap[t]
			if g != 1 {
				run = 0
			}
			x, y := m.move[t][0], m.move[t][1]
			most := math.Inf(-1)
			for s := range predict {
				p := &predict[s][run]
				v, a, b := p.variance, x, y
				if g != 1 {
					v = math.Exp(c.lnK[s])*math.Pow(float64(g), c.alpha[s]) + 2*noise*c.bad[s]
				} else {
					for h, w := range p.weights {
						a -= w * m.move[t-1-h][0]
						b -= w * m.move[t-1-h][1]
					}
				}
				row[s] = -0.5 * ((a*a+b*b)/v + by.dims*(math.Log(v)+logTwoPi))
				most = max(most, row[s])
			}
			if g == 1 {
				run = min(run+1, recall)
			}
			c.tops[t] = most
			to := c.likely[t*len(predict):]
			for s, v := range row {
				to[s] = float32(math.Exp(max(v-most, -80)))
			}
		}
	})
	return c
}

// whole returns the likelihood of every piece in each cell, divided by the piece's maximum, and ln of the maxima. first lists the first step of each piece.
func (c *cells) whole(first []int) (table []float64, tops []float64) {
	n := len(c.lnK)
	table, tops = make([]float64, (len(first)-1)*n), make([]float64, len(first)-1)
	for i := range len(first) - 1 {
		row := table[i*n : (i+1)*n]
		for t := first[i]; t < first[i+1]; t++ {
			tops[i] += c.tops[t]
			for s, v := range c.likely[t*n : (t+1)*n] {
				row[s] += float64(logOf(v))
			}
		}
		top := math.Inf(-1)
		for _, v := range row {
			top = max(top, v)
		}
		tops[i] += top
		for s := range row {
			row[s] = math.Exp(row[s] - top)
		}
	}
	return table, tops
}

func logOf(v float32) float32 { return float32(math.Log(float64(max(v, 1e-35)))) }

// cut returns the first steps of pieces of at most most steps.
func (m *steps) cut(most int) (first []int) {
	for i := range len(m.first) - 1 {
		for t := m.first[i]; t < m.first[i+1]; t += most {
			first = append(first, t)
		}
	}
	return append(first, len(m.move))
}

// freest returns the most likely variance of the noise if each stretch of steps has its own scale and exponent, in any mixture.
func freest(m *steps, square float64, by look) float64 {
	const stretch = 24
	first, of := m.cut(stretch), grid(square, 0.4, mixedExponents)
	grid := []float64{1e-4, 0.002, 0.005, 0.01, 0.02, 0.035, 0.06, 0.1, 0.16, 0.24, 0.33}
	nats := make([]float64, len(grid))
	at := 0
	for i, share := range grid {
		c := newCells(m, of, share*square, by)
		table, tops := c.whole(first)
		n := len(c.lnK)
		weights, next := make([]float64, n), make([]float64, n)
		for s := range weights {
			weights[s] = 1 / float64(n)
		}
		for range 40 {
			clear(next)
			nats[i] = 0
			for k, top := range tops {
				row, z := table[k*n:(k+1)*n], 1e-300
				for s, w := range weights {
					z += row[s] * w
				}
				nats[i] += top + math.Log(z)
				for s, w := range weights {
					next[s] += row[s] * w / z / float64(len(tops))
				}
			}
			copy(weights, next)
		}
		if nats[i] > nats[at] {
			at = i
		} else if nats[i] < nats[at]-50 {
			break
		}
	}
	if at == 0 || at == len(grid)-1 || nats[at+1] == 0 {
		return grid[at] * square
	}
	// the maximum of a parabola through three points, in ln of the noise
	x0, x1, x2 := math.Log(grid[at-1]), math.Log(grid[at]), math.Log(grid[at+1])
	y0, y1, y2 := nats[at-1], nats[at], nats[at+1]
	a, b := (y2-y1)/(x2-x1), (y1-y0)/(x1-x0)
	bend := (a - b) / (x2 - x0)
	if !(bend < 0) {
		return grid[at] * square
	}
	return square * math.Exp(min(max((x0+x1)/2-b/(2*bend), x0), x2))
}
