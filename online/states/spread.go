package states

import (
	"math"
)

// Within a state ln D may be spread about its own, by a normal law of the same width in all states: beads differ in size, receptors in what they carry.
//
//	p(track) = Σₖ fₖ ∫ N(x; ln Dₖ, s²) p(track | D = eˣ) dx,
//
// the integral as a sum over a table's grid. A spread has one coordinate more, s, behind the fractions; the noise is the table's.

// narrowest is the least spread that is told from none: below it the sum over the grid is coarse, and a D is known to a twentieth by 400 steps only.
const narrowest = 0.05

// spreadLikelihood is the summit of k states with a spread over a table.
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
			left := 1.0 // of the stick
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

// bell is a normal law at a point of the grid, with its derivatives by mean and sd.
type bell struct{ p, mean, sd float64 }

// prior is the normal law of a state over every point of the grid, every second, and so on.
type prior struct {
	over [levels]ring
	most int // level that it is summed at: 0 where the grid's end cuts it off
}

// A sum over points h apart of what is σ wide is wrong by 2exp(-2π²σ²/h²): for h = σ by 5e-9. A track of n steps under a spread of s has 1/σ² = n + 1/s².
const levels = 3

// coarse is the greatest level that a track of n steps is summed at.
func coarse(n int, s float64) (level int) {
	for wide := 1 / math.Sqrt(float64(n)+1/(s*s)); level < levels-1 && tableStep*float64(int(2)<<level) <= wide; level++ {
	}
	return level
}

// ring is a normal law over points of a grid, which counts from one of them to another.
type ring struct {
	at       []bell
	from, to int
}

// ring lays a normal law over a grid. What is beyond the grid's ends belongs to them.
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

// weigh is the likelihoods of a row, which counts from one point to another, under the law at every stride-th of them, and the derivatives.
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

// spreadFrom fits a mixture with a spread near one without. Its noise climbs the ladder: what stood in the noise may be spread, and the other way about.
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

// sharpen finds the noise between the ladder's rungs: the top of a parabola through three.
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

// spreadAt fits a mixture with a spread, near one, over a table.
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
