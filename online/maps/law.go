package maps

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Cell is a square of the field, of what its steps tell and what the map says where they were on average.
type Cell struct {
	X, Y, Side float64    // its lower corner, px
	Steps      float64    // by weight
	At         [2]float64 // mean place of the steps, px
	Drift, SD  [2]float64 // there, px/s
	D, DSD     float64    // px²/s an axis
}

// Law is what a map says.
type Law struct {
	Cells    []Cell  // those that were visited
	Noise    float64 // sd of a place an axis, blur taken off, px
	Traps    []Place // by the evidence of each, the best first
	Vortices []Place
	Flow     *Flow // nil where none is told

	field *regression
	all   []belief
}

// passes is how often drift and D are found about each other: D is off by Δt times the drift's slope at first, then by its square.
const passes = 3

// Law reads the map, and calls pause every ten milliseconds or so of that, unless it is nil. It takes a third of a second and allocates; the map is not changed.
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

// diffuse writes D of every cell, that of the square of the tree that it belongs to, and its variance.
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

// leastD is the least D of a cell, of that of all: below it a chance of the steps would weigh too much.
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

// mean is the mean drift at the corners, along each axis.
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

// corners is the mean drift of one belief.
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

// bend takes what the drift does off a cell's total: Σ w (Δ - μΔt)² = Σ w Δ² - Δt Σ w (2Δ·μ - Δt μ²).
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

// fitted gives back what the drift took of the squares because it was learnt from them: 2D along each axis for every degree of freedom, of which a
// cell has as many as its steps tell of the variance that is left of the drift.
func (l *Law) fitted(t *total, c *cell, at int, d float64) {
	_, sd := l.Drift(l.field.side*(float64(at%(l.field.nx-1))+c.time[3]/c.time[0]), l.field.side*(float64(at/(l.field.nx-1))+c.time[1]/c.time[0]))
	for _, s := range sd {
		t.bent -= min(s*s*t.count/t.steps*t.time, 2*d)
	}
	t.crossbent = t.bent * t.pairs / t.steps
}

// apart is the ln evidence of one mean drift for a square, for the steps that it has and the mean drift of the map there: of every size that a drift
// may have, on average.
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

// describe is a square for others to read.
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

// Release frees what Drift needs, some MB. What was told stays.
func (l *Law) Release() { l.field, l.all = nil, nil }

// Drift is the mean drift at a place and its standard error along each axis, px/s. Both are 0 before there is a step, and after Release.
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

// place is which corners' functions are not 0 at a place, and what they are.
func (r *regression) place(x, y float64) (at [4]int, value [4]float64) {
	u, v := x/r.side, y/r.side
	i, j := min(max(int(u), 0), r.nx-2), min(max(int(v), 0), r.ny-2)
	u, v = u-float64(i), v-float64(j)
	for k, p := range [4]float64{(1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v} {
		at[k], value[k] = r.corner(i, j, k), p
	}
	return at, value
}

// evaluate is a belief's mean of Σ value × drift at the corners, and its variance.
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
