// D and noise
//
// The residuals e = Δ - μΔt, with the noise R = -E ee'/2 of successive steps in all cells (online/population), give
//
//	D = (E e² / 2 - R) / Δt  along each axis
//
// in the squares of a tree. A square is split if four values of D have more evidence than one. As in online/regression, the evidence uses a sum of squares
// with the degrees of freedom of D. A cell counts less if drift makes longer steps than diffusion. D and μ are computed alternately, three times.

package maps

import (
	"math"
	"math/bits"
)

// total holds the sums of a cell that determine its diffusion. A new step has weight one.
type total struct {
	steps     float64 // Σ w
	count     float64 // effective number of steps: (Σ w)²/Σ w², or less if the steps are old
	squares   float64 // Σ w²
	time      float64 // Σ w Δt, s
	second    float64 // Σ w Δ², px², both axes
	crossed   float64 // Σ w ΔΔ', px², both axes
	pairs     float64
	located   float64 // Σ w σ², px²
	bent      float64 // Σ w (2Δ·μ - Δt μ²), px²/s, both axes: the contribution of the drift to Σ w Δ²/Δt
	drift     float64 // Σ w Δt μ², px²/s, both axes
	crossbent float64 // the share of bent for steps with a pair
}

// list returns the additive sums.
func (t *total) list() [10]*float64 {
	return [...]*float64{&t.steps, &t.count, &t.time, &t.second, &t.crossed, &t.pairs, &t.located, &t.bent, &t.crossbent, &t.drift}
}

// scale multiplies the weight of every step by the factor by.
func (t *total) scale(by float64) {
	for _, p := range t.list() {
		*p *= by
	}
}

// spare reduces the weight of a cell if drift makes longer steps than diffusion, because the drift then also changes between two frames. usual is the mean
// square of a step without its drift.
func (t *total) spare(usual float64) {
	long := t.drift / t.steps * t.time / t.steps / usual
	t.scale(1 / (1 + long*long))
}

// residual returns the mean square of a step without its drift, px², over both axes.
func (t *total) residual() float64 { return (t.second - t.time/t.steps*t.bent) / t.steps }

func (t *total) add(o *total) {
	other := o.list()
	for i, p := range t.list() {
		*p += *other[i]
	}
}

// total returns the sums of a cell, divided by the gain.
func (c *cell) total(gain, ratio float64) total {
	t := total{steps: c.steps / gain, squares: c.squares / (gain * gain), time: c.time[0] / gain, second: c.second / gain, crossed: c.crossed / gain,
		pairs: c.pairs / gain, located: c.located / gain}
	if t.squares > 0 {
		t.count = t.steps * min(t.steps/t.squares, ratio*gain)
	}
	if n := t.count; n > 1 {
		// while the drift is unknown, use the mean step of the cell: |ΣΔ|²/n contains nμ²Δt², and the rest is chance
		x, y := c.moved[0][0]/gain, c.moved[1][0]/gain
		t.bent = (n*(x*x+y*y)/t.steps - t.second) / (n - 1) / (t.time / t.steps)
	} else if n > 0 { // a single step may be pure drift
		t.bent = t.second / (t.time / t.steps)
	}
	if t.steps > 0 {
		t.drift = max(t.bent, 0)
		t.crossbent = t.bent * t.pairs / t.steps
	}
	return t
}

// noise returns the localisation variance per axis, without blur, from the covariance of successive steps. Without pairs it returns the mean reported
// variance.
func (t *total) noise() float64 {
	if t.pairs < 1 {
		return t.located / max(t.steps, math.SmallestNonzeroFloat64)
	}
	dt := t.time / t.steps
	return -(t.crossed - dt*t.crossbent) / t.pairs / axes
}

// diffusion returns D, px²/s per axis, given the noise, and the variance of D from the steps alone.
func (t *total) diffusion(noise float64) (d, variance float64) {
	if t.steps == 0 {
		return 0, math.Inf(1)
	}
	dt := t.time / t.steps
	d = (t.residual()/(2*axes) - noise) / dt
	p, e := max(d, 0), max(noise, 0)/dt
	return d, (2*p*p + 4*p*e + 3*e*e) / (axes * t.count)
}

// axes is the number of axes of the picture.
const axes = 2

// tree holds nested dyadic grids over the cells: level 0 has one square around the field, level k has 4^k squares.
type tree struct {
	levels [][]total // of squares row by row, 2^k per side
	scale  float64   // mean D, px²/s
	noise  float64   // px²
	wander float64   // variance of noise, px⁴
}

// node is a square of the tree.
type node struct{ level, i, j int }

// at returns the sums of a node, lent.
func (t *tree) at(n node) *total { return &t.levels[n.level][n.j<<n.level+n.i] }

// children returns the four squares of a node.
func (n node) children() [4]node {
	i, j, k := 2*n.i, 2*n.j, n.level+1
	return [4]node{{k, i, j}, {k, i + 1, j}, {k, i, j + 1}, {k, i + 1, j + 1}}
}

// depth returns the depth of the tree. The smallest squares of the tree are the cells.
func (m *Map) depth() int { return bits.Len(uint(max(m.nx, m.ny) - 1)) }

// grow sums the cells, level by level.
func (m *Map) grow() *tree {
	depth := m.depth()
	ratio := m.ratio()
	t := &tree{levels: make([][]total, depth+1)}
	for k := range t.levels {
		t.levels[k] = make([]total, 1<<(2*k))
	}
	for i := range m.cells {
		*t.at(node{depth, i % m.nx, i / m.nx}) = m.cells[i].total(m.gain, ratio)
	}
	t.sum()
	return t
}

// sum computes every level from the one below.
func (t *tree) sum() {
	for k := len(t.levels) - 2; k >= 0; k-- {
		for i := range t.levels[k] {
			n := node{k, i & (1<<k - 1), i >> k}
			sum := t.at(n)
			*sum = total{}
			for _, c := range n.children() {
				sum.add(t.at(c))
			}
		}
	}
	all := t.at(node{})
	if all.steps == 0 {
		return
	}
	t.noise = all.noise()
	t.scale, _ = all.diffusion(t.noise)
	dt := all.time / all.steps
	// for R = -ΔΔ'/2: Var ΔΔ' per axis is (2DΔt + 2R)² plus the covariance of neighbours, (6+4ε+2ε²) - (2+4ε+3ε²) times D² to first order
	d, e := max(t.scale, 0), max(t.noise, 0)/dt
	t.wander = dt * dt * (4*d*d + 4*d*e + 2*e*e) / (axes * max(all.count, 1))
}

// cost is the evidence that a split needs, nats: a priori a split is as likely as none.
const cost = math.Ln2

// prune cuts the tree at squares whose children do not have more evidence than the whole square. It returns the remaining squares with steps.
func (t *tree) prune(evidence func(node) float64) []node {
	var visit func(n node) (score float64, leaves []node)
	visit = func(n node) (float64, []node) {
		whole := t.at(n)
		if whole.steps == 0 {
			return 0, nil
		}
		one := evidence(n)
		if n.level == len(t.levels)-1 {
			return one, []node{n}
		}
		parts, leaves := -cost, []node(nil)
		for _, c := range n.children() {
			score, below := visit(c)
			parts, leaves = parts+score, append(leaves, below...)
		}
		if one-cost >= parts {
			return one - cost, []node{n}
		}
		return parts, leaves
	}
	_, leaves := visit(node{})
	return leaves
}

// spread returns the ln evidence for one D in a square, without terms that no split changes. The squared steps count as a sum of squares around 0, with the
// degrees of freedom of D.
func (t *tree) spread(n node) float64 {
	s := t.at(n)
	d, variance := s.diffusion(t.noise)
	dt := s.time / s.steps
	unit := max(t.scale, 0) + max(t.noise, 0)/dt
	if !(unit > 0) || !(variance > 0) {
		return 0
	}
	e := max(d, 0) + max(t.noise, 0)/dt
	freedom := 2 * e * e / variance
	if whole, v := t.at(node{}).diffusion(t.noise); v > 0 { // use the degrees of freedom per step of the whole field; a number from the square's own D would affect its evidence
		all := max(whole, 0) + max(t.noise, 0)/dt
		freedom = 2 * all * all / v * s.count / t.at(node{}).count
	}
	gamma, _ := math.Lgamma(1 + freedom/2)
	return gamma - (1+freedom/2)*math.Log(1+freedom/2*e/unit)
}
