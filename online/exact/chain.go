package exact

import (
	"math"
	"slices"
)

// class is a state of objects: a Gaussian in the cube root of K (nearly a gamma law in K) and in the exponent.
type class struct{ unit, unitSD, alpha, alphaSD float64 }

// chain models objects that switch between classes. An object picks a random cell at the start of each visit to a class and stays in this cell.
type chain struct {
	classes []class
	as      []int       // the class of each room; a class may have one room for long visits and one for brief visits
	begin   []float64   // probability of each room at the start of a series
	leave   [][]float64 // from each room to each other, per step
	nats    float64
	stays   []float64 // expected number of steps in each room
	share   []float64 // fraction of the steps in each class
	k       []float64 // mean K over the steps of each class
	alpha   []float64
}

// passed holds the sums of the forward and backward passes over all series.
type passed struct {
	nats   float64
	enter  []float64 // visits that start in each cell of the list
	jumps  []float64 // visits that change room, [from][to]
	stays  []float64 // steps in each room
	within []float64 // steps in each cell of the list
	told   func(t int, class []float64, k float64)
}

// list holds the cells with a weight in each room: index, room (class) and weight within the room.
type list struct {
	cell, class []int
	weight      []float64
	from        []int // first entry of each room, and the end
}

// weigh returns the list of the cells of rooms; as[k] is the class of room k.
func (c *cells) weigh(classes []class, as []int) *list {
	l := &list{}
	w := make([]float64, len(c.lnK))
	for k, j := range as {
		of := classes[j]
		top, sum := 0.0, 0.0
		for s, u := range c.unit {
			a, b := (u-of.unit)/of.unitSD, (c.alpha[s]-of.alpha)/of.alphaSD
			w[s] = u*math.Exp(-a*a/2-b*b/2) + 1e-14
			top = max(top, w[s])
		}
		l.from = append(l.from, len(l.cell))
		for s := range w {
			if w[s] > 3e-5*top {
				sum += w[s]
				l.cell, l.class, l.weight = append(l.cell, s), append(l.class, k), append(l.weight, w[s])
			}
		}
		for i := l.from[k]; i < len(l.weight); i++ {
			l.weight[i] /= sum
		}
	}
	l.from = append(l.from, len(l.cell))
	return l
}

// pass runs over the steps of one series, at indices from to to-1. Unless sum.told is nil, pass calls it with the class probabilities and the mean K of each
// step, last step first.
func (c *cells) pass(from, to int, l *list, ch *chain, sum *passed) {
	m, n, rooms := len(l.cell), to-from, len(ch.as)
	forward, scales, mass := make([]float64, n*m), make([]float64, n), make([]float64, n*rooms)
	stay := make([]float64, rooms)
	for k := range stay {
		stay[k] = 1
		for j, p := range ch.leave[k] {
			if j != k {
				stay[k] -= p
			}
		}
	}
	cellCount := len(c.lnK)
	for t := range n {
		row, at := c.likely[(from+t)*cellCount:][:cellCount], forward[t*m:(t+1)*m]
		total := 1e-300
		for k := range rooms {
			in := ch.begin[k]
			if t > 0 {
				in = 0
				for j := range rooms {
					if j != k {
						in += mass[(t-1)*rooms+j] * ch.leave[j][k]
					}
				}
			}
			for i := l.from[k]; i < l.from[k+1]; i++ {
				v := in * l.weight[i]
				if t > 0 {
					v += stay[k] * forward[(t-1)*m+i]
				}
				v *= float64(row[l.cell[i]])
				at[i] = v
				total += v
			}
		}
		scales[t] = total
		sum.nats += math.Log(total) + c.tops[from+t]
		for i := range at {
			at[i] /= total
			mass[t*rooms+l.class[i]] += at[i]
		}
	}
	back, inside := make([]float64, m), make([]float64, rooms)
	for i := range back {
		back[i] = 1
	}
	class := make([]float64, len(ch.classes))
	for t := n - 1; t >= 0; t-- {
		row, at := c.likely[(from+t)*cellCount:][:cellCount], forward[t*m:(t+1)*m]
		clear(class)
		meanK := 0.0
		for i := range at {
			g := at[i] * back[i]
			class[ch.as[l.class[i]]] += g
			sum.stays[l.class[i]] += g
			sum.within[i] += g
			if sum.told != nil {
				meanK += g * math.Exp(c.lnK[l.cell[i]])
			}
		}
		clear(inside)
		for i := range back {
			k := l.class[i]
			back[i] *= float64(row[l.cell[i]]) / scales[t]
			f := back[i] * l.weight[i]
			inside[k] += f
			in := ch.begin[k]
			if t > 0 {
				in = 0
				for j := range rooms {
					if j != k {
						in += mass[(t-1)*rooms+j] * ch.leave[j][k]
					}
				}
			}
			sum.enter[i] += in * f
		}
		if sum.told != nil {
			sum.told(from+t, class, meanK)
		}
		for k := range rooms {
			for j := range rooms {
				if j != k && t > 0 {
					sum.jumps[k*rooms+j] += mass[(t-1)*rooms+k] * ch.leave[k][j] * inside[j]
				}
			}
		}
		if t == 0 {
			break
		}
		for i := range back {
			k := l.class[i]
			back[i] *= stay[k]
			for j := range rooms {
				if j != k {
					back[i] += ch.leave[k][j] * inside[j]
				}
			}
		}
	}
}

// parts is the number of partial sums. It is constant, so the result does not depend on the number of cores.
const parts = 32

// sweep runs pass over all series.
func (c *cells) sweep(first []int, l *list, ch *chain, cores crew) *passed {
	rooms := len(ch.as)
	sums := make([]*passed, parts)
	spread(parts, cores, func(j int) {
		s := &passed{enter: make([]float64, len(l.cell)), jumps: make([]float64, rooms*rooms), stays: make([]float64, rooms), within: make([]float64, len(l.cell))}
		for i := j; i < len(first)-1; i += parts {
			c.pass(first[i], first[i+1], l, ch, s)
		}
		sums[j] = s
	})
	total := sums[0]
	for _, s := range sums[1:] {
		total.nats += s.nats
		for _, pair := range [][2][]float64{{total.enter, s.enter}, {total.jumps, s.jumps}, {total.stays, s.stays}, {total.within, s.within}} {
			for i, v := range pair[1] {
				pair[0][i] += v
			}
		}
	}
	return total
}

// begin initialises k classes from the logarithms of squared steps, averaged over nine steps.
func (c *cells) begin(m *steps, k int) ([]class, []float64) {
	const half = 4
	level := make([]float64, len(m.move))
	for i := range len(m.first) - 1 {
		for t := m.first[i]; t < m.first[i+1]; t++ {
			sum, n := 0.0, 0.0
			for u := max(t-half, m.first[i]); u < min(t+half+1, m.first[i+1]); u++ {
				sum, n = sum+(m.move[u][0]*m.move[u][0]+m.move[u][1]*m.move[u][1])/float64(m.gap[u]), n+c.dims
			}
			level[t] = math.Log(sum/n + 1e-300)
		}
	}
	sorted := slices.Clone(level)
	slices.Sort(sorted)
	centre := make([]float64, k)
	for j := range centre {
		centre[j] = sorted[int((float64(j)+0.5)/float64(k)*float64(len(sorted)))]
	}
	share := make([]float64, k)
	for range 20 {
		sum := make([]float64, k)
		clear(share)
		for _, v := range level {
			at := 0
			for j := range centre {
				if math.Abs(v-centre[j]) < math.Abs(v-centre[at]) {
					at = j
				}
			}
			sum[at] += v
			share[at]++
		}
		for j := range centre {
			if share[j] > 0 {
				centre[j] = sum[j] / share[j]
			}
			share[j] = max(share[j]/float64(len(level)), 0.02)
		}
	}
	mixed := c.alpha[0] != c.alpha[len(c.alpha)-1]
	classes, total := make([]class, k), 0.0
	for j, v := range centre {
		e := math.Exp(v)
		classes[j] = class{math.Cbrt(max(e-2*c.noise, 0.02*e)), 0.15 * math.Cbrt(e), 1, 0.4}
		if mixed {
			classes[j].alpha = 0.9
		}
		total += share[j]
	}
	for j := range share {
		share[j] /= total
	}
	return classes, share
}

// moments fits a class to the counts of its cells.
func (of *class) moments(c *cells, cell []int, counts []float64) {
	var n, u, uu, a, aa float64
	for i, s := range cell {
		w := counts[i]
		n, u, uu, a, aa = n+w, u+w*c.unit[s], uu+w*c.unit[s]*c.unit[s], a+w*c.alpha[s], aa+w*c.alpha[s]*c.alpha[s]
	}
	if n < 1e-3 {
		return
	}
	u, a = u/n, a/n
	*of = class{u, math.Sqrt(max(uu/n-u*u, 0.045*0.045*u*u, 1e-8)), a, math.Sqrt(max(aa/n-a*a, 0.06*0.06))}
}

// still fits k classes to series that never switch. It returns the largest ln L and the classes.
func (c *cells) still(m *steps, k int, cores crew) (nats float64, classes []class) {
	table, tops := c.whole(m.first)
	n := len(c.lnK)
	classes, share := c.begin(m, k)
	nats = math.Inf(-1)
	for range 60 {
		cores.rest()
		l := c.weigh(classes, identity(k))
		counts, sum := make([]float64, len(l.cell)), 0.0
		for i, top := range tops {
			row, z := table[i*n:(i+1)*n], 1e-300
			for j, s := range l.cell {
				z += row[s] * l.weight[j] * share[l.class[j]]
			}
			sum += top + math.Log(z)
			for j, s := range l.cell {
				counts[j] += row[s] * l.weight[j] * share[l.class[j]] / z
			}
		}
		if sum-nats < 0.01 {
			return max(sum, nats), classes
		}
		nats = sum
		for j := range classes {
			own := counts[l.from[j]:l.from[j+1]]
			total := 0.0
			for _, v := range own {
				total += v
			}
			share[j] = max(total/float64(len(tops)), 1e-4)
			classes[j].moments(c, l.cell[l.from[j]:l.from[j+1]], own)
		}
	}
	return nats, classes
}

// peaked returns the largest ln L of series that never leave their cell, over all distributions of cells with one peak. Such a distribution is a mixture of
// uniform distributions that begin or end at the peak (Khinchin).
func (c *cells) peaked(first []int, cores crew) float64 {
	table, tops := c.whole(first)
	n, best := len(c.lnK), math.Inf(-1)
	means, weights, counts := make([]float64, len(table)), make([]float64, n), make([]float64, n)
	for peak := 1; peak < n; peak += 2 {
		for i := range tops {
			row, out := table[i*n:(i+1)*n], means[i*n:(i+1)*n]
			for _, way := range []int{1, -1} {
				sum := 0.0
				for s := peak; s >= 0 && s < n; s += way {
					sum += row[s]
					out[s] = sum / float64(max(s-peak, peak-s)+1)
				}
			}
		}
		for s := range weights {
			weights[s] = 1 / float64(n)
		}
		was := math.Inf(-1)
		for range 400 {
			cores.rest()
			nats := 0.0
			clear(counts)
			for i, top := range tops {
				row, z := means[i*n:(i+1)*n], 1e-300
				for s, w := range weights {
					z += w * row[s]
				}
				nats += top + math.Log(z)
				for s, w := range weights {
					counts[s] += w * row[s] / z
				}
			}
			for s := range weights {
				weights[s] = counts[s] / float64(len(tops))
			}
			if best = max(best, nats); nats-was < 0.01 || nats < best-100 && nats-was < 1 {
				break
			}
			was = nats
		}
	}
	return best
}

// identity returns 0 to n-1.
func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// switching fits k classes with switching objects, by expectation and maximisation.
func (c *cells) switching(m *steps, k, rounds int, cores crew) *chain {
	ch := &chain{as: identity(k)}
	ch.classes, ch.begin = c.begin(m, k)
	for j := range k {
		row := make([]float64, k)
		for i := range row {
			if i != j {
				row[i] = 0.03 / float64(k-1)
			}
		}
		ch.leave = append(ch.leave, row)
	}
	c.learn(m, ch, rounds, cores)
	return ch
}

// brief fits a chain of two classes with a second room each, for visits of a few steps. Without these rooms, a visit of one step would count as part of the
// other class and bias its D.
func (c *cells) brief(m *steps, of *chain, cores crew) *chain {
	const left, entered = 0.4, 0.005
	ch := &chain{classes: slices.Clone(of.classes), as: []int{0, 1, 0, 1}}
	a, b := of.leave[0][1], of.leave[1][0]
	ch.begin = []float64{of.begin[0] * 0.98, of.begin[1] * 0.98, of.begin[0] * 0.02, of.begin[1] * 0.02}
	ch.leave = [][]float64{{0, a, 0, entered}, {b, 0, entered, 0}, {0, left, 0, 0}, {left, 0, 0, 0}}
	c.learn(m, ch, 40, cores)
	return ch
}

// blurs returns ln L of the most likely law of objects with constant D that are temporarily localised badly, and the factor on the variance of the noise.
func blurs(m *steps, square, noise float64, by look) (nats, times float64) {
	nats = math.Inf(-1)
	s := newScale(square)
	n := s.n
	var both kinds
	for _, bad := range []float64{1, 1} {
		for k := range n {
			both.lnK, both.alpha, both.bad = append(both.lnK, s.at(k)), append(both.alpha, 1), append(both.bad, bad)
		}
	}
	table := make([]float64, (len(m.first)-1)*n)
	for _, bad := range []float64{4, 12, 40, 150} {
		for k := n; k < 2*n; k++ {
			both.bad[k] = bad
		}
		c := newCells(m, both, noise, by)
		for _, turn := range [][2]float64{{0.003, 0.03}, {0.01, 0.05}, {0.03, 0.1}} {
			spread(len(m.first)-1, by.cores, func(i int) { c.keeps(m.first[i], m.first[i+1], turn, table[i*n:(i+1)*n]) })
			if v, _ := population(table, s); v > nats {
				nats, times = v, bad
			}
		}
	}
	return nats, times
}

// keeps computes ln L of steps for each K if the localisation turns bad with probability turn[0] per step, and good with turn[1]. The first half of the cells
// has good localisation, the second half bad.
func (c *cells) keeps(from, to int, turn [2]float64, out []float64) {
	n := len(out)
	good, bad := make([]float64, n), make([]float64, n)
	share := turn[0] / (turn[0] + turn[1])
	for k := range out {
		good[k], bad[k], out[k] = 1-share, share, 0
	}
	for t := from; t < to; t++ {
		row := c.likely[t*2*n : (t+1)*2*n]
		for k := range out {
			g, b := good[k], bad[k]
			if t > from {
				g, b = g*(1-turn[0])+b*turn[1], g*turn[0]+b*(1-turn[1])
			}
			g, b = g*float64(row[k]), b*float64(row[n+k])
			sum := g + b + 1e-300
			good[k], bad[k] = g/sum, b/sum
			out[k] += math.Log(sum) + c.tops[t]
		}
	}
}

// learn fits a chain by expectation and maximisation.
func (c *cells) learn(m *steps, ch *chain, rounds int, cores crew) {
	k, rooms := len(ch.classes), len(ch.as)
	was := math.Inf(-1)
	for round := range rounds {
		l := c.weigh(ch.classes, ch.as)
		s := c.sweep(m.first, l, ch, cores)
		ch.nats, ch.stays = s.nats, s.stays
		ch.share, ch.k, ch.alpha = make([]float64, k), make([]float64, k), make([]float64, k)
		for i, w := range s.within {
			j := ch.as[l.class[i]]
			ch.share[j] += w / float64(c.n)
			ch.k[j] += w * math.Exp(c.lnK[l.cell[i]])
			ch.alpha[j] += w * c.alpha[l.cell[i]]
		}
		for j := range k {
			n := max(ch.share[j]*float64(c.n), 1e-9)
			ch.k[j], ch.alpha[j] = ch.k[j]/n, ch.alpha[j]/n
		}
		if round == rounds-1 || math.Abs(s.nats-was) < 0.3 {
			break
		}
		was = s.nats
		for r := range rooms {
			ch.begin[r] = (s.stays[r] + 1e-6) / (float64(c.n) + 1e-6*float64(rooms))
			for i, p := range ch.leave[r] {
				if p > 0 {
					ch.leave[r][i] = min(max(s.jumps[r*rooms+i]/(s.stays[r]+1e-9), 1e-6), mostLeft(ch.leave[r]))
				}
			}
		}
		for j := range k {
			var cell []int
			var enter []float64
			for r, as := range ch.as {
				if as == j {
					cell, enter = append(cell, l.cell[l.from[r]:l.from[r+1]]...), append(enter, s.enter[l.from[r]:l.from[r+1]]...)
				}
			}
			ch.classes[j].moments(c, cell, enter)
		}
	}
}

// d returns the mean D of a class over its visits: E K/2 if the cube root of K is Gaussian.
func (of *class) d() float64 {
	return (of.unit*of.unit*of.unit + 3*of.unit*of.unitSD*of.unitSD) / 2
}

// mostLeft returns the upper bound of each rate of leaving a room, so some objects always stay.
func mostLeft(row []float64) float64 {
	n := 0.0
	for _, p := range row {
		if p > 0 {
			n++
		}
	}
	return 0.8 / max(n, 1)
}
