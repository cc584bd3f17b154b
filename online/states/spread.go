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
	priors := make([]bell, k*n)
	each, byMean, bySpread := make([]float64, k), make([]float64, k), make([]float64, k)
	return func(at, gradient []float64) float64 {
		logs, s := stick(at[k:2*k-1]), at[2*k-1]
		for j := range k {
			ring(priors[j*n:][:n], t.logD, at[j], s)
			logs[j] = math.Exp(logs[j])
		}
		if gradient != nil {
			clear(gradient)
			f.begin(2 * k)
		}
		total := 0.0
		for i := range f.segments {
			from, to, w := t.from[i], t.to[i], f.segments[i].Weight
			row, sum := t.likely[i*n:][from:to], math.SmallestNonzeroFloat64
			for j := range k {
				each[j], byMean[j], bySpread[j] = weigh(row, priors[j*n:][from:to])
				sum += logs[j] * each[j]
			}
			total += w * (t.tops[i] + math.Log(sum))
			if gradient == nil {
				continue
			}
			left := 1.0 // of the stick
			f.score[2*k-1] = 0
			for j := range k {
				scale := logs[j] / sum
				f.score[j] = scale * byMean[j]
				f.score[2*k-1] += scale * bySpread[j]
				if j < k-1 {
					f.score[k+j] = scale*each[j] - left*logistic(at[k+j])
					left -= scale * each[j]
				}
			}
			f.collect(gradient, w)
		}
		return total
	}
}

// bell is a normal law at a point of the grid, with its derivatives by mean and sd.
type bell struct{ p, mean, sd float64 }

// weigh is the likelihoods of a row under a normal law, and the derivatives.
func weigh(row []float64, prior []bell) (p, mean, sd float64) {
	for q, v := range row {
		b := &prior[q]
		p, mean, sd = p+v*b.p, mean+v*b.mean, sd+v*b.sd
	}
	return p, mean, sd
}

// ring lays a normal law over a grid. What is beyond the grid's ends belongs to them.
func ring(out []bell, grid []float64, mean, sd float64) {
	var sum bell
	for j, x := range grid {
		z := (x - mean) / sd
		p := math.Exp(-z * z / 2)
		out[j] = bell{p, p * z / sd, p * z * z / sd}
		sum = bell{sum.p + p, sum.mean + out[j].mean, sum.sd + out[j].sd}
	}
	for j := range out { // d(p/S) = (p' - p S'/S)/S
		b := &out[j]
		b.mean, b.sd = (b.mean-b.p*sum.mean/sum.p)/sum.p, (b.sd-b.p*sum.sd/sum.p)/sum.p
		b.p /= sum.p
	}
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
