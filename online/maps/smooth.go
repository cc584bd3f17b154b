// Drift
//
//	μ = affine(m) + f(m);  f at the corners ~ N(0, s²(κ² - ∇²)⁻³) along each axis
//
// The result averages over sizes s and ranges √16/κ, weighted by evidence. In the affine part it also averages over the groups of online/regression:
// constants, dilation, rotation, shears. f is a Matérn field of smoothness 2 with a sparse precision (Lindgren, Rue and Lindström, J. R. Stat. Soc. B 73,
// 423, 2011). A spring is exactly affine; a map of cell means would show it as stairs. Standard errors come from the mixture and include the differences
// between its components.
//
// A localisation error lengthens one step and shortens the next. It remains in b only if the two steps lie in different cells; assemble then increases the
// variance of the cell.

package maps

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Priors of the drift. Ranges differ by factors of two, and sizes by factors of four: a value between two levels increases the error by a tenth. The longest
// range is twice the side of the field. With a longest range of half the side, the drift would bend more than in a wide well, and the errors for the well
// would be a third larger.
const (
	sizes       = 5   // levels of the standard deviation of a drift: from twice the smallest value that all steps together can show, each four times the last,
	sizeRatio   = 4.0 // up to five hundred times this value
	leastSize   = 2.0
	shortest    = 2.0 // shortest correlation range of the drift, cells; each further range is twice as long
	ranges      = 6
	noSmooth    = 0.5    // probability of an affine drift
	noAffine    = 1. / 3 // probability of no affine part, as in (10) of online/regression
	leastShare  = 1e-3   // least weight of a belief; the mean omits beliefs below it
	smoothOrder = 3      // exponent of (κ² - ∇²)
)

// regression holds the sums over the corners of all cells, each divided by the 2D of its cell.
type regression struct {
	nx, ny int           // corners
	side   float64       // px
	gram   *band         // G
	b      [2][]float64  // along x and y
	affine [3][]float64  // 1, (x-c)/ρ and (y-c)/ρ at the corners
	ga     [3][]float64  // G times affine
	flat   square3       // G of affine
	pull   [2][3]float64 // b of affine
	unit   float64       // smallest variance of a drift that all steps together can show, (px/s)²
	parts  []part        // parts of G and b, one per cell; 0 for a cell without steps

	choice combinations // reused
	spare  []*band      // memory of dropped beliefs, for reuse
	full   []float64    // working memory of band.inverse
}

// part is the contribution of one cell to the sums over its corners.
type part struct {
	gram [4][4]float64
	b    [2][4]float64
	info float64 // information about a constant drift along an axis, (s/px)²
}

// corner returns the number of corner k of a cell.
func (r *regression) corner(i, j, k int) int { return (j+k>>1)*r.nx + i + k&1 }

// assemble sums the elements of the cells; d is D of each cell.
func (m *Map) assemble(t *tree, d []float64) *regression {
	r := &regression{nx: m.nx + 1, ny: m.ny + 1, side: m.side, parts: make([]part, len(m.cells))}
	n := r.nx * r.ny
	r.gram, r.b = newBand(n, smoothOrder*r.nx), [2][]float64{make([]float64, n), make([]float64, n)}
	info, ratio := 0.0, m.ratio()
	for at := range m.cells {
		c := &m.cells[at]
		if c.steps == 0 || !(d[at] > 0) {
			continue
		}
		e, i, j := c.element(), at%m.nx, at/m.nx
		weight := c.weight(d[at], ratio) / (1 + m.untaken(t, at, d[at]))
		dt := c.time[0] / c.steps
		bend := max((d[at]*dt-t.noise)/2/(m.side*m.side), -mostBent*e.trace())
		info += weight * c.time[0]
		p := &r.parts[at]
		for k := range 4 {
			from := r.corner(i, j, k)
			for axis := range r.b {
				p.b[axis][k] = weight * (e.moved[axis][k] - d[at]*e.slope[axis][k]/m.side)
				r.b[axis][from] += p.b[axis][k]
			}
			for l := range 4 {
				p.gram[k][l] = weight * (e.mass[k][l] + bend*e.stiff[k][l])
				r.gram.add(from, r.corner(i, j, l), p.gram[k][l])
			}
		}
		p.info = weight * c.time[0]
	}
	if info == 0 {
		return nil
	}
	r.unit = 1 / info
	r.centre(m)
	return r
}

// ratio returns Σw/Σw² over all cells, in the units of the sums: the effective steps per unit of weight.
func (m *Map) ratio() float64 {
	steps, squares := 0.0, 0.0
	for i := range m.cells {
		steps, squares = steps+m.cells[i].steps, squares+m.cells[i].squares
	}
	return steps / max(squares, math.SmallestNonzeroFloat64)
}

// weight returns the information about the drift per second in the cell. It uses the effective number of steps, each of variance 2DΔt. A cell that objects
// left long ago has little information even if it had many steps; hence the bound by the ratio of all cells. The gain cancels.
func (c *cell) weight(d, ratio float64) float64 { return min(c.steps/c.squares, ratio) / (2 * d) }

// untaken returns the noise that remains in the sums of a cell, in units of 2DΔt. A localisation error lengthens one step and shortens the next. Both
// contributions cancel if they count for the same corners: Var Σ ε(ψₙ₋₁ - ψₙ) is at most 2R per step, and grows with the squared distance between the two
// steps, in sides of a cell.
func (m *Map) untaken(t *tree, at int, d float64) float64 {
	s := t.at(node{m.depth(), at % m.nx, at / m.nx})
	dt, noise := s.time/s.steps, max(t.noise, 0)
	way := max(s.drift/s.time, 0)*dt*dt + axes*(d*dt+noise/2)
	return 2 * noise * min(1, way/(2*m.side*m.side)) / (2 * d * dt)
}

// mostBent bounds the noise correction of G, so G stays positive if a cell is hardly larger than the noise.
const mostBent = 0.2

// centre computes the affine functions at the corners, relative to the mean position of the steps and in units of their spread.
func (r *regression) centre(m *Map) {
	var t, x, y, xx float64
	for at := range m.cells {
		c := &m.cells[at].time
		i, j := float64(at%m.nx), float64(at/m.nx)
		t += c[0]
		x, y = x+i*c[0]+c[3], y+j*c[0]+c[1]
		xx += i*i*c[0] + 2*i*c[3] + c[6] + j*j*c[0] + 2*j*c[1] + c[2]
	}
	x, y = x/t, y/t
	scale := math.Sqrt(max((xx/t-x*x-y*y)/axes, 1e-6)) // in cells; at least a thousandth of a cell
	n := r.nx * r.ny
	for k := range r.affine {
		r.affine[k], r.ga[k] = make([]float64, n), make([]float64, n)
	}
	for at := range n {
		r.affine[0][at] = 1
		r.affine[1][at], r.affine[2][at] = (float64(at%r.nx)-x)/scale, (float64(at/r.nx)-y)/scale
	}
	for k := range r.affine {
		r.gram.times(r.ga[k], r.affine[k])
		for l := range k + 1 {
			r.flat[k][l] = floats.Dot(r.ga[k], r.affine[l])
			r.flat[l][k] = r.flat[k][l]
		}
		for axis := range r.b {
			r.pull[axis][k] = floats.Dot(r.affine[k], r.b[axis])
		}
	}
}

// belief is one choice of the smooth part's prior, with its posterior.
type belief struct {
	choice  choice
	weight  float64      // ln evidence, then the posterior probability
	inverse near         // of G + Q; nil for an affine drift
	own     [2][]float64 // (G+Q)⁻¹ b
	cross   [3][]float64 // (G+Q)⁻¹ G a
	affine  affine

	factored *band   // G + Q, until it is inverted
	prior    float64 // ln evidence at b = 0, plus the ln probability of the choice
}

// mostFactored is the largest number of beliefs that wait for their inverse. Some may still be dropped, and each takes 1 MB.
const mostFactored = 4

// size returns the variance of a drift at size level s, (px/s)².
func (r *regression) size(s int) float64 {
	return leastSize * leastSize * r.unit * math.Pow(sizeRatio, 2*float64(s))
}

// choice is a range level and a size level of the smooth part; none means an affine drift.
type choice struct{ reach, size int }

var none = choice{-1, -1}

func choices() []choice {
	all := []choice{none}
	for k := range ranges {
		for s := range sizes {
			all = append(all, choice{k, s})
		}
	}
	return all
}

// learn weighs the drifts of the choices by their evidence and returns those with at least leastShare of it. Priors are computed once for all passes.
func (r *regression) learn(of []choice, priors *[ranges]*matern, pause func()) (kept []belief) {
	sum := math.Inf(-1)
	take := func(b belief) {
		sum = floats.LogSumExp([]float64{sum, b.weight})
		kept = r.settle(append(kept, b), sum, mostFactored, pause)
	}
	for _, c := range of {
		pause()
		if c == none {
			take(r.plain())
			continue
		}
		if priors[c.reach] == nil {
			priors[c.reach] = r.prior(math.Sqrt(8*(smoothOrder-1)) / (shortest * math.Exp2(float64(c.reach))))
		}
		if b, ok := r.with(priors[c.reach], r.size(c.size)); ok {
			b.choice = c
			take(b)
		}
	}
	if len(kept) == 0 { // no remaining choice is solvable with the D of this pass: use the affine drift only
		take(r.plain())
	}
	kept = r.settle(kept, sum, 0, pause)
	for i := range kept {
		kept[i].weight = math.Exp(kept[i].weight - sum)
	}
	return kept
}

// settle drops the beliefs below leastShare of the evidence sum, and inverts the oldest until at most most wait.
func (r *regression) settle(all []belief, sum float64, most int, pause func()) []belief {
	free := func(b *belief) {
		if b.factored != nil {
			r.spare, b.factored = append(r.spare, b.factored), nil
		}
	}
	waiting := 0
	all = slices.DeleteFunc(all, func(b belief) bool {
		little := b.weight-sum <= math.Log(leastShare)
		if little {
			free(&b)
		} else if b.factored != nil {
			waiting++
		}
		return little
	})
	for i := 0; i < len(all) && waiting > most; i++ {
		if b := &all[i]; b.factored != nil {
			pause()
			r.full = b.factored.inverse(r.full)
			b.inverse = b.factored.near(r.nx)
			free(b)
			waiting--
		}
	}
	return all
}

func (r *regression) plain() belief {
	b := belief{choice: none, prior: math.Log(noSmooth)}
	r.read(&b, &r.flat)
	return b
}

// read fills in the posterior of a belief. flat is the information about its affine part.
func (r *regression) read(b *belief, flat *square3) {
	own, pull, square := r.ask(b)
	r.choice.combine(flat, r.size(0))
	b.own, b.affine = own, r.choice.affine(pull)
	b.weight = b.prior + square/2 + b.affine.evidence
}

// ask returns the smooth part of a belief for b, the remaining vector b of the affine part, and b'(G+Q)⁻¹b.
func (r *regression) ask(b *belief) (own [2][]float64, pull [2][3]float64, square float64) {
	pull = r.pull
	if b.factored == nil {
		return own, pull, 0
	}
	for axis := range r.b {
		own[axis] = b.factored.solved(r.b[axis])
		square += floats.Dot(own[axis], r.b[axis])
		for k := range b.cross {
			pull[axis][k] -= floats.Dot(b.cross[k], r.b[axis])
		}
	}
	return own, pull, square
}

// matern is the prior precision of the corners and its ln determinant: (κ² + L)³ with the Laplacian L of the grid, scaled to a mean variance of 1 (Lindgren,
// Rue and Lindström, J. R. Stat. Soc. B 73, 423, 2011).
type matern struct {
	q      *band
	logDet float64
}

// prior computes the Matérn prior for kappa, 1/cells. L has the eigenvalues 2 - 2cos(πi/n) along each axis.
func (r *regression) prior(kappa float64) *matern {
	n, k2 := r.nx*r.ny, kappa*kappa
	p := &matern{q: newBand(n, r.gram.width)}
	mean := 0.0
	for i := range r.nx {
		for j := range r.ny {
			lambda := k2 + 4 - 2*math.Cos(math.Pi*float64(i)/float64(r.nx)) - 2*math.Cos(math.Pi*float64(j)/float64(r.ny))
			mean += math.Pow(lambda, -smoothOrder) / float64(n)
			p.logDet += smoothOrder * math.Log(lambda)
		}
	}
	row, next := make([]float64, n), make([]float64, n)
	for at := range n {
		clear(row)
		row[at] = mean
		low, high := at, at
		for range smoothOrder {
			low, high = max(low-r.nx, 0), min(high+r.nx, n-1)
			for x := low; x <= high; x++ {
				next[x] = r.diffused(row, x, k2)
			}
			copy(row[low:high+1], next[low:high+1])
		}
		for x := low; x <= at; x++ {
			p.q.add(at, x, row[x])
		}
	}
	p.logDet += float64(n) * math.Log(mean)
	return p
}

// diffused returns the value of (κ² + L) f at corner at.
func (r *regression) diffused(f []float64, at int, k2 float64) float64 {
	sum := k2 * f[at]
	i, j := at%r.nx, at/r.nx
	if i > 0 {
		sum += f[at] - f[at-1]
	}
	if i < r.nx-1 {
		sum += f[at] - f[at+1]
	}
	if j > 0 {
		sum += f[at] - f[at-r.nx]
	}
	if j < r.ny-1 {
		sum += f[at] - f[at+r.nx]
	}
	return sum
}

// with returns the drift with a smooth part of the given variance. ok is false if the matrix is not positive definite.
func (r *regression) with(p *matern, variance float64) (b belief, ok bool) {
	n := r.nx * r.ny
	var sum *band
	if last := len(r.spare) - 1; last >= 0 {
		sum, r.spare = r.spare[last], r.spare[:last]
	} else {
		sum = newBand(n, r.gram.width)
	}
	for i, v := range r.gram.at {
		sum.at[i] = v + p.q.at[i]/variance
	}
	logDet, ok := sum.factor()
	if !ok {
		r.spare = append(r.spare, sum)
		return b, false
	}
	b.factored = sum
	flat := r.flat
	for k := range r.ga {
		b.cross[k] = sum.solved(r.ga[k])
		for l := range k + 1 {
			flat[k][l] -= floats.Dot(b.cross[k], r.ga[l])
			flat[l][k] = flat[k][l]
		}
	}
	b.prior = math.Log(1-noSmooth) - math.Log(ranges*sizes) - (logDet - p.logDet + float64(n)*math.Log(variance))
	r.read(&b, &flat)
	return b, true
}
