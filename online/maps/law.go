// Published squares
//
// The published squares are from the same kind of tree as D (sums.go). A square is split if the drift of the map and the information of the steps support
// four mean drifts instead of one. There are at most 1024 squares.
//
// Measured
//
// The films had 50 objects, 200 frames at 50 frames/s, and 256 x 256 px: springs, wells, a vortex and a flow, with noise up to R = 2DΔt. The RMS error at
// visited squares is at most 1.2 times the error of offline.Fit (TestBesideFit). Errors are 0.8 to 1 standard errors for wells and a vortex, 0.6 to 1 for
// springs and flows, 0.8 to 1.05 for five other laws (TestErrors), docs/lab. A mixture is right on average over its prior. Its standard errors are too large
// if the law is simpler than the alternatives, as a spring is. They are too small if a law is hard to distinguish from a simpler one: errors are 1.8 standard
// errors for a roll that is nearly a rotation. With a bootstrap at the fitted law they would be 1.0 for springs and flows, but 2.8 for the roll, so the
// package uses no bootstrap.
//
// In 6 films of each law without noise and with R = 2DΔt (docs/lab), the map found every spring, all wells and 10 of 12 vortices. A shear rotates too, and
// counted as a vortex in 2 of 12 films. Errors of positions are 0.9 to 1.1 standard errors. The rate of a well only three cells wide is too small, by 1 to 2
// standard errors, because its drift bends within a cell.

package maps

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Cell is a square of the field with a summary of its steps, and the law at their mean position.
type Cell struct {
	X, Y, Side float64    // lower corner, px
	Steps      float64    // by weight
	At         [2]float64 // mean position of the steps, px
	Drift, SD  [2]float64 // drift at At and its standard error, px/s
	D, DSD     float64    // diffusion and its standard error, px²/s per axis
}

// Law is the result of a map.
type Law struct {
	Cells    []Cell  // visited squares
	Noise    float64 // localisation sd per axis, without blur, px
	Traps    []Place // by evidence, best first
	Vortices []Place
	Flow     *Flow // nil if there is none

	field *regression
	all   []belief
}

// passes is the number of alternations between drift and D. The relative error of D is Δt times the slope of the drift after the first pass, and the square
// of this product after the second.
const passes = 3

// Law evaluates the map without changing it. It calls pause, unless nil, about every ten milliseconds. It takes a third of a second and allocates.
func (m *Map) Law(pause func()) *Law {
	if pause == nil {
		pause = func() {}
	}
	t, l := m.grow(), &Law{}
	depth := m.depth()
	d, v := make([]float64, len(m.cells)), make([]float64, len(m.cells))
	of, ratio := choices(), m.ratio()
	var priors [ranges]*matern
	for pass := range passes {
		m.diffuse(t, pass == passes-1, d, v)
		if l.field = m.assemble(t, d); l.field == nil {
			return l
		}
		l.all = l.field.learn(of, &priors, pause)
		of = of[:0]
		for i := range l.all {
			of = append(of, l.all[i].choice)
		}
		mean := l.mean()
		usual := max(t.at(node{}).residual(), math.SmallestNonzeroFloat64)
		for at := range m.cells {
			cell := t.at(node{depth, at % m.nx, at / m.nx})
			if *cell = m.cells[at].total(m.gain, ratio); cell.steps > 0 {
				m.bend(cell, at, mean)
				l.fitted(cell, &m.cells[at], at, d[at])
				cell.spare(usual)
			}
		}
		t.sum()
	}
	m.diffuse(t, true, d, v)
	l.Noise = math.Sqrt(max(t.noise, 0))
	mean := l.mean()
	for _, n := range t.prune(func(n node) float64 { return m.apart(l.field, d, mean, n) }) {
		l.Cells = append(l.Cells, m.describe(l, n, d, v))
	}
	l.tell(mean, pause)
	return l
}

// diffuse writes D of every cell, taken from its square of the tree, and the variance of D.
func (m *Map) diffuse(t *tree, split bool, d, variance []float64) {
	depth, squares := m.depth(), []node{{}}
	if split {
		squares = t.prune(t.spread)
	}
	for _, n := range squares {
		s := t.at(n)
		if s.steps == 0 {
			return
		}
		value, own := s.diffusion(t.noise)
		dt := s.time / s.steps
		value, own = max(value, leastD*math.Abs(t.scale)), own+t.wander/(dt*dt)
		m.within(n, depth, func(at int) { d[at], variance[at] = value, own })
	}
}

// leastD is the lower bound of D in a cell, relative to the mean D. A smaller D by chance would give the cell too much weight.
const leastD = 1e-3

// within yields the cells of a square.
func (m *Map) within(n node, depth int, yield func(at int)) {
	side := 1 << (depth - n.level)
	for j := n.j * side; j < min((n.j+1)*side, m.ny); j++ {
		for i := n.i * side; i < min((n.i+1)*side, m.nx); i++ {
			yield(j*m.nx + i)
		}
	}
}

// mean returns the mean drift at the corners, along each axis.
func (l *Law) mean() (mean [2][]float64) {
	for axis := range mean {
		mean[axis] = make([]float64, l.field.nx*l.field.ny)
		for i := range l.all {
			b := &l.all[i]
			floats.AddScaled(mean[axis], b.weight, l.field.corners(b, axis))
		}
	}
	return mean
}

// corners returns the mean drift of one belief.
func (r *regression) corners(b *belief, axis int) []float64 {
	c := make([]float64, r.nx*r.ny)
	for k, a := range b.affine.mean[axis] {
		floats.AddScaled(c, a, r.affine[k])
		if b.inverse != nil {
			floats.AddScaled(c, -a, b.cross[k])
		}
	}
	if b.inverse != nil {
		floats.Add(c, b.own[axis])
	}
	return c
}

// bend removes the drift from the total of a cell: Σ w (Δ - μΔt)² = Σ w Δ² - Δt Σ w (2Δ·μ - Δt μ²).
func (m *Map) bend(t *total, at int, mean [2][]float64) {
	e, i, j := m.cells[at].element(), at%m.nx, at/m.nx
	r := regression{nx: m.nx + 1}
	t.bent, t.drift = 0, 0
	for axis := range mean {
		for k := range 4 {
			c := mean[axis][r.corner(i, j, k)]
			t.bent += 2 * c * e.moved[axis][k] / m.gain
			for l := range 4 {
				t.drift += c * e.mass[k][l] * mean[axis][r.corner(i, j, l)] / m.gain
			}
		}
	}
	t.bent -= t.drift
}

// fitted corrects the squared residuals for the degrees of freedom of the fitted drift: each takes 2D per axis. The degrees of a cell follow from the
// remaining variance of the drift and the information of the cell's steps.
func (l *Law) fitted(t *total, c *cell, at int, d float64) {
	_, sd := l.Drift(l.field.side*(float64(at%(l.field.nx-1))+c.time[3]/c.time[0]), l.field.side*(float64(at/(l.field.nx-1))+c.time[1]/c.time[0]))
	for _, s := range sd {
		t.bent -= min(s*s*t.count/t.steps*t.time, 2*d)
	}
	t.crossbent = t.bent * t.pairs / t.steps
}

// apart returns the ln evidence for one mean drift in a square, from the square's steps and the map's mean drift in it, averaged over the possible sizes of a
// drift.
func (m *Map) apart(r *regression, d []float64, mean [2][]float64, n node) float64 {
	var info float64
	var b [2]float64
	ratio := m.ratio()
	m.within(n, m.depth(), func(at int) {
		c := &m.cells[at]
		if c.steps == 0 {
			return
		}
		weight := c.weight(d[at], ratio)
		info += weight * c.time[0]
		e, i, j := c.element(), at%m.nx, at/m.nx
		for axis := range b {
			for k := range 4 {
				b[axis] += weight * floats.Sum(e.mass[k][:]) * mean[axis][r.corner(i, j, k)]
			}
		}
	})
	var logs [sizes]float64
	for s := range logs {
		prior := r.size(s)
		k := 1 + prior*info
		for axis := range b {
			logs[s] += (prior/k*b[axis]*b[axis] - math.Log(k)) / 2
		}
	}
	return floats.LogSumExp(logs[:]) - math.Log(sizes)
}

// describe returns the published form of a square.
func (m *Map) describe(l *Law, n node, d, v []float64) Cell {
	depth := m.depth()
	side := float64(int(1)<<(depth-n.level)) * m.side
	c := Cell{X: float64(n.i) * side, Y: float64(n.j) * side, Side: side}
	var time float64
	m.within(n, depth, func(at int) {
		s := &m.cells[at]
		t := s.time[0]
		time += t
		c.Steps += s.steps / m.gain
		c.At[0] += m.side * (float64(at%m.nx)*t + s.time[3])
		c.At[1] += m.side * (float64(at/m.nx)*t + s.time[1])
		c.D += t * d[at]
		c.DSD += t * math.Sqrt(v[at])
	})
	c.At[0], c.At[1], c.D, c.DSD = c.At[0]/time, c.At[1]/time, c.D/time, c.DSD/time
	c.Drift, c.SD = l.Drift(c.At[0], c.At[1])
	return c
}

// Release frees the memory that Drift needs, some MB. The other results stay.
func (l *Law) Release() { l.field, l.all = nil, nil }

// Drift returns the mean drift at a position and its standard error along each axis, px/s. Both are 0 before the first step and after Release.
func (l *Law) Drift(x, y float64) (mean, sd [2]float64) {
	if l.field == nil {
		return mean, sd
	}
	at, value := l.field.place(x, y)
	for axis := range mean {
		square := 0.0
		for i := range l.all {
			m, v := l.field.evaluate(&l.all[i], axis, at[:], value[:])
			mean[axis] += l.all[i].weight * m
			square += l.all[i].weight * (v + m*m)
		}
		sd[axis] = math.Sqrt(max(square-mean[axis]*mean[axis], 0))
	}
	return mean, sd
}

// place returns the corners whose functions are nonzero at a position, and the values of these functions.
func (r *regression) place(x, y float64) (at [4]int, value [4]float64) {
	u, v := x/r.side, y/r.side
	i, j := min(max(int(u), 0), r.nx-2), min(max(int(v), 0), r.ny-2)
	u, v = u-float64(i), v-float64(j)
	for k, p := range [4]float64{(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v} {
		at[k], value[k] = r.corner(i, j, k), p
	}
	return at, value
}

// evaluate returns the mean and the variance of Σ value × drift at the corners at, under belief b.
func (r *regression) evaluate(b *belief, axis int, at []int, value []float64) (mean, variance float64) {
	var flat [3]float64
	for k, p := range value {
		for a := range flat {
			flat[a] += p * r.affine[a][at[k]]
			if b.inverse != nil {
				flat[a] -= p * b.cross[a][at[k]]
			}
		}
		if b.inverse == nil {
			continue
		}
		mean += p * b.own[axis][at[k]]
		for l, q := range value {
			variance += p * q * b.inverse.entry(r.nx, at[k], at[l])
		}
	}
	for a, v := range flat {
		mean += v * b.affine.mean[axis][a]
		for c, w := range flat {
			variance += v * w * b.affine.covariance[axis][a][c]
		}
	}
	return mean, variance
}
