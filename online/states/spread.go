package states

import (
	"math"
)

// Within a state, ln D may have a normal law of equal width in all states, because beads differ in size and receptors in their cargo.
//
//	p(track) = Σₖ fₖ ∫ N(x; ln Dₖ, s²) p(track | D = eˣ) dx,
//
// The integral is a sum over the grid of a table. In a mixture with a spread, the coordinate after the fractions is s, and the table fixes the noise.

// narrowest is the smallest spread above zero. Below it, the grid is too coarse for the sum, and only 400 steps give D to a twentieth.
const narrowest = 0.05

// spreadLikelihood returns the summit of k states with a spread over a table.
func (f *fitting) spreadLikelihood(t *table, k int) summit {
	n := len(t.logD)
	priors := make([]prior, k)
	return func(at, gradient []float64) float64 {
		logs, s := stick(at[k:2*k-1]), at[2*k-1]
		for j := range k {
			priors[j].ring(t.logD, at[j], s)
			logs[j] = math.Exp(logs[j])
		}
		if gradient != nil {
			clear(gradient)
			f.begin(2 * k)
		}
		if cap(f.parts) < k*len(f.segments) {
			f.parts = make([]bell, k*len(f.segments))
		}
		f.each(func(i int) {
			row, most := t.likely[i*n:][:n], coarse(len(f.segments[i].Steps), s)
			for j := range k {
				level := min(most, priors[j].most)
				f.parts[i*k+j] = priors[j].over[level].weigh(row, t.from[i], t.to[i], 1<<level)
			}
		})
		total := 0.0
		for i := range f.segments {
			w, parts, sum := f.segments[i].Weight, f.parts[i*k:][:k], math.SmallestNonzeroFloat64
			for j := range k {
				sum += logs[j] * parts[j].p
			}
			total += w * (t.tops[i] + math.Log(sum))
			if gradient == nil {
				continue
			}
			left := 1.0 // remaining probability
			f.score[2*k-1] = 0
			for j := range k {
				scale := logs[j] / sum
				f.score[j] = scale * parts[j].mean
				f.score[2*k-1] += scale * parts[j].sd
				if j < k-1 {
					f.score[k+j] = scale*parts[j].p - left*logistic(at[k+j])
					left -= scale * parts[j].p
				}
			}
			f.collect(gradient, w)
		}
		return total
	}
}

// bell is the value of a normal law at a point of the grid, with its derivatives by mean and sd.
type bell struct{ p, mean, sd float64 }

// prior is the normal law of a state over every point of the grid, over every second point, and over every fourth.
type prior struct {
	over [levels]ring
	most int // coarsest usable level; 0 if the end of the grid cuts the law off
}

// The sum of a bell of width σ over points at distance h has the relative error 2exp(-2π²σ²/h²): 5e-9 for h = σ. For a track of n steps and a spread s, 1/σ²
// = n + 1/s².
const levels = 3

// coarse returns the coarsest level for a track of n steps.
func coarse(n int, s float64) (level int) {
	for wide := 1 / math.Sqrt(float64(n)+1/(s*s)); level < levels-1 && tableStep*float64(int(2)<<level) <= wide; level++ {
	}
	return level
}

// ring is a normal law over the points of a grid, nonzero in [from, to).
type ring struct {
	at       []bell
	from, to int
}

// ring computes a normal law over a grid. The law is normalised over the grid.
func (p *prior) ring(grid []float64, mean, sd float64) {
	if p.over[0].at == nil {
		for level := range p.over {
			p.over[level].at = make([]bell, (len(grid)-1)>>level+1)
		}
	}
	p.most = levels - 1
	for level := range p.over {
		if level > p.most {
			return
		}
		r, sum := &p.over[level], bell{}
		r.from, r.to = len(r.at), 0
		for j := range r.at {
			z := (grid[j<<level] - mean) / sd
			if z*z/2 > negligible {
				r.at[j] = bell{}
				continue
			}
			r.from, r.to = min(r.from, j), j+1
			v := math.Exp(-z * z / 2)
			r.at[j] = bell{v, v * z / sd, v * z * z / sd}
			sum = bell{sum.p + v, sum.mean + r.at[j].mean, sum.sd + r.at[j].sd}
		}
		for j := r.from; j < r.to; j++ { // d(p/S) = (p' - p S'/S)/S
			b := &r.at[j]
			b.mean, b.sd = (b.mean-b.p*sum.mean/sum.p)/sum.p, (b.sd-b.p*sum.sd/sum.p)/sum.p
			b.p /= sum.p
		}
		const cut = 5 // sd
		if end := min(mean-grid[0], grid[len(grid)-1]-mean); end < cut*sd {
			p.most = 0
		}
	}
}

// weigh returns the likelihood of a row under the law at every stride-th point, and its derivatives. The row is nonzero in [from, to).
func (r *ring) weigh(row []float32, from, to, stride int) (sum bell) {
	from, to = max((from+stride-1)/stride, r.from), min((to+stride-1)/stride, r.to)
	for j := from; j < to; j++ {
		v, b := float64(row[j*stride]), &r.at[j]
		sum.p, sum.mean, sum.sd = sum.p+v*b.p, sum.mean+v*b.mean, sum.sd+v*b.sd
	}
	return sum
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// spreadFrom fits a mixture with a spread, starting at m, a mixture without. It also searches over the noise levels of the ladder, because noise and spread
// can replace each other.
func (f *fitting) spreadFrom(m mixture) mixture {
	rung := max(f.rungOf(m.noise), ladderPerDecade*2)
	best := mixture{nats: math.Inf(-1)}
	for _, spread := range []float64{0.15, 0.6} {
		begin := m
		begin.spread = spread
		if got := f.spreadAt(begin, f.tabulate(f.rung(rung))); got.nats > best.nats {
			best = got
		}
	}
	for stride := 8; stride > 0; stride /= 2 {
		for _, way := range []int{-stride, stride} {
			for next := rung + way; next >= 0 && next <= ladderPerDecade*ladderDecades; next += way {
				got := f.spreadAt(best, f.tabulate(f.rung(next)))
				if got.nats <= best.nats {
					break
				}
				best, rung = got, next
			}
		}
	}
	return best
}

// sharpen refines the noise between the rungs of the ladder, to the maximum of a parabola through three rungs.
func (f *fitting) sharpen(m *mixture) {
	rung := f.rungOf(m.table.noise)
	if rung <= 1 || rung >= ladderPerDecade*ladderDecades {
		return
	}
	low, high := f.spreadAt(*m, f.tabulate(f.rung(rung-1))), f.spreadAt(*m, f.tabulate(f.rung(rung+1)))
	bend := low.nats - 2*m.nats + high.nats
	if bend >= 0 {
		return
	}
	off := min(max((low.nats-high.nats)/(2*bend), -0.5), 0.5)
	if got := f.spreadAt(*m, f.tabulate(m.table.noise*math.Pow(10, off/ladderPerDecade))); got.nats > m.nats {
		*m = got
	}
}

// spreadAt fits a mixture with a spread over a table, starting at m.
func (f *fitting) spreadAt(m mixture, t *table) mixture {
	k := len(m.d)
	c := climb{of: f.spreadLikelihood(t, k), least: append(f.bounds(k)[:2*k-1], narrowest), hessian: m.hessian, near: m.hessian != nil, outer: f.outer(2 * k)}
	at := f.coordinates(&m, ascending(k))
	at[2*k-1] = m.spread
	nats := c.maximise(at)
	out := f.mixtureAt(at)
	out.nats, out.spread, out.noise, out.table, out.hessian = nats, at[2*k-1], t.noise, t, c.hessian
	return out
}
