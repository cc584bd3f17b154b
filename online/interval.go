package online

import "math"

// profile is the memory in which one dimension's σ² is read off its bank: the likelihood along ψ, refined between the
// grid's points where it is narrower than they are. One serves every dimension in turn.
type profile struct {
	lnA, ll []float64 // on the grid: ln A; profile log-likelihood, R at its maximum
	v, fine []float64 // on the refined grid: σ² at that maximum; log-likelihood
}

const (
	finest  = 200 // points of the refined grid, about
	densest = 32  // of them between two of the grid's
	depth   = 12. // log-likelihood below the top at which a ψ no longer counts

	unresolved = 1e3 // ψ from which the bank sees no noise at all, and perhaps less than none
)

// figures reads off σ², R, their intervals and the likelihood ratio, and renews b.best. It needs one transition at least.
func (q *profile) figures(b *bank) diffusion {
	q.scan(b)
	if !finite(q.ll) { // A = 0: the measurement never changed
		return diffusion{}
	}
	still, top := q.ll[0], q.ll[1+highest(q.ll[1:])]
	b.best = highest(q.ll)
	if b.psi[b.best] > unresolved {
		if d, ok := b.estimate(); ok {
			d.ratio = 2 * max(0, top-still)
			return d
		}
	}
	q.refine(b, top)
	peak := highest(q.fine)
	top = max(q.fine[peak], still)
	d := diffusion{ratio: 2 * (top - still)}
	if still < top {
		d.v = q.v[peak]
	}
	d.noise = math.Exp(q.lnA[b.best]) / b.n
	d.low, d.high = q.interval(b, top)
	if top-still < half95 {
		d.low = 0
	}
	return d
}

// scan fills q.lnA and q.ll: ll = (n/n₂)(-n/2 ln(A/n) - L/2); n/n₂ makes forgotten transitions count for what they carry.
func (q *profile) scan(b *bank) {
	q.lnA, q.ll = q.lnA[:0], q.ll[:0]
	for k, a := range b.a {
		lnA := math.Log(a)
		q.lnA = append(q.lnA, lnA)
		q.ll = append(q.ll, -b.n/b.n2*(b.n*(lnA-math.Log(b.n))+b.l[k])/2)
	}
}

// refine fills q.v and q.fine around the likelihood's top, interpolating ln A and L (smooth in ln ψ) by cubics.
func (q *profile) refine(b *bank, top float64) {
	first, last := len(q.ll), 0
	for k := 1; k < len(q.ll); k++ {
		if q.ll[k] > top-depth {
			first, last = min(first, k), max(last, k)
		}
	}
	first, last = max(1, first-1), min(len(q.ll)-1, last+1)
	between := max(1, min(densest, finest/(last-first)))
	step := math.Log(gridHigh/gridLow) / (gridSize - 1)
	q.v, q.fine = q.v[:0], q.fine[:0]
	for j := range (last-first)*between + 1 {
		k, x := first+j/between, float64(j%between)/float64(between)
		base := min(max(k-1, 1), len(q.ll)-4)
		w := cubic(float64(k-base) + x)
		lnA, l := 0.0, 0.0
		for i, wi := range w {
			lnA += wi * q.lnA[base+i]
			l += wi * b.l[base+i]
		}
		lnPsi := math.Log(gridLow) + step*(float64(k-1)+x)
		q.v = append(q.v, math.Exp(lnPsi+lnA)/(b.n*b.dt0))
		q.fine = append(q.fine, -b.n/b.n2*(b.n*(lnA-math.Log(b.n))+l)/2)
	}
}

// highest is the index of the largest of x, which is not empty.
func highest(x []float64) int {
	best := 0
	for k, v := range x {
		if v > x[best] {
			best = k
		}
	}
	return best
}

// cubic gives the weights of the values at 0, 1, 2, 3 in the cubic through them, at x.
func cubic(x float64) [4]float64 {
	return [4]float64{
		-(x - 1) * (x - 2) * (x - 3) / 6,
		x * (x - 2) * (x - 3) / 2,
		-x * (x - 1) * (x - 3) / 2,
		x * (x - 1) * (x - 2) / 6,
	}
}

// interval is where max over ψ of the log-likelihood of (σ², ψ) lies within half95 of top. At a fixed ψ it falls from its
// maximum, at v, by (n²/n₂)(ρ - 1 - ln ρ)/2 with ρ = v/σ², so that each ψ's share of the interval is known in closed form.
func (q *profile) interval(b *bank, top float64) (low, high float64) {
	low = math.Inf(1)
	for k, ll := range q.fine {
		if room := ll - top + half95; room >= 0 {
			h := 2 * room * b.n2 / (b.n * b.n)
			low = min(low, q.v[k]*math.Exp(-away(h, 1)))
			high = max(high, q.v[k]*math.Exp(-away(h, -1)))
		}
	}
	if math.IsInf(low, 1) { // no motion fits so much better that every ψ > 0 is excluded
		return 0, 0
	}
	return low, high
}

// away solves eˣ - 1 - x = h for the x of the given sign, by Newton's method from the parabola's root.
func away(h, sign float64) float64 {
	x := sign * math.Sqrt(2*h)
	if sign < 0 && h > 1 {
		x = -1 - h
	}
	for range 8 {
		slope := math.Expm1(x)
		if slope == 0 {
			break
		}
		x -= (slope - x - h) / slope
	}
	return x
}
