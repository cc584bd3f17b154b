package diffusion

import (
	"math"
	"slices"

	"driftscope/internal/flow/latent"
)

// profile is the working memory for the estimate of one dimension: the likelihood along ψ, with refined points if its peak is narrower than the grid's
// spacing. One profile serves all dimensions in turn.
type profile struct {
	lnA, l, ll []float64 // on the grid: ln A and L in units of σ²Δt₀; profile log-likelihood, with R at its maximum, -∞ if it was not requested
	lnV, fine  []float64 // on the refined grid: ln σ² with R at its maximum; log-likelihood

	n, lnN, carried float64 // n, ln n and n/2n₂ of the bank
}

const (
	coarseStride  = 4  // step of the first scan over the grid, which is dense only around the maximum, because logarithms dominate the cost of an estimate
	refinedPoints = 64 // approximate number of points of the refined grid
	mostBetween   = 32 // largest number of refined points between two points of the grid

	noNoise = 1e3 // ψ from which the bank finds no noise, or negative noise
)

// estimate returns σ², R, their intervals and the likelihood ratio, and renews b.best. It needs at least one transition.
func (q *profile) estimate(b *bank) Estimate {
	q.scan(b)
	b.best = 1 + argmax(q.ll[1:])
	still, top := q.ll[0], q.ll[b.best]
	if !isFinite(still) || !isFinite(top) { // A = 0, because the measurement never changed, or the drift overflowed
		return Estimate{}
	}
	if still >= top {
		b.best = 0
	}
	if b.exposure == 0 && b.psi[b.best] > noNoise {
		if d, ok := b.covarianceBased(); ok {
			d.Ratio = 2 * max(0, top-still)
			return d
		}
	}
	q.refine(b, top)
	peak := argmax(q.fine)
	top = max(q.fine[peak], still)
	d := Estimate{Ratio: 2 * (top - still)}
	if still < top {
		d.V = math.Exp(q.lnV[peak])
	}
	d.FilterNoise, d.Noise = b.noises(math.Exp(q.lnA[b.best]-b.lnPsi[b.best])/b.n, d.V)
	d.Low, d.High = q.interval(b, top)
	if top-still < halfChi95 {
		d.Low = 0
	}
	return d
}

// scan fills q.lnA, q.l and q.ll at ψ = 0, at every coarse point, and densely over the interval and two coarse steps beyond.
func (q *profile) scan(b *bank) {
	n := len(b.psi)
	q.n, q.lnN, q.carried = b.n, math.Log(b.n), b.n/b.n2/2
	q.lnA, q.l, q.ll = latent.Resize(q.lnA, n), latent.Resize(q.l, n), latent.Resize(q.ll, n)
	for k := range q.ll {
		q.ll[k] = math.Inf(-1)
	}
	q.look(b, 0, 1, 1)
	q.look(b, 1, n, coarseStride)
	first, last := q.within(q.ll[1+argmax(q.ll[1:])])
	q.look(b, max(1, first-2*coarseStride), min(n, last+2*coarseStride+1), 1)
}

// look fills q.lnA, q.l and q.ll at indices from to to - 1.
func (q *profile) look(b *bank, from, to, step int) {
	for k := from; k < to; k += step {
		q.lnA[k], q.l[k] = math.Log(b.a[k])+b.lnPsi[k], b.logS(k)-b.n*b.lnPsi[k]
		q.ll[k] = q.likelihood(q.lnA[k], q.l[k])
	}
}

// likelihood returns the log-likelihood at the best R, (n/n₂)(-n/2 ln(A/n) - L/2). The factor n/n₂ counts forgotten transitions by weight.
func (q *profile) likelihood(lnA, l float64) float64 { return -q.carried * (q.n*(lnA-q.lnN) + l) }

// within returns the first and the last ψ > 0 in the interval below top.
func (q *profile) within(top float64) (first, last int) {
	first = len(q.ll)
	for k := 1; k < len(q.ll); k++ {
		if q.ll[k] > top-halfChi95 {
			first, last = min(first, k), k
		}
	}
	return first, last
}

// refine fills q.lnV and q.fine from the grid point below the interval to the grid point above it. Cubics interpolate ln A and L, which are smooth in ln ψ.
// top is the grid's maximum; the refined maximum is at least top.
func (q *profile) refine(b *bank, top float64) {
	first, last := q.within(top)
	first, last = max(1, first-1), min(len(q.ll)-1, last+1)
	between := max(1, min(mostBetween, refinedPoints/(last-first)))
	lnTime := q.lnN + math.Log(b.dt0)
	q.lnV, q.fine = q.lnV[:0], q.fine[:0]
	for k := first; k <= last; k++ {
		base := min(max(k-1, 1), len(q.ll)-4)
		lnA, l := through(q.lnA[base:]), through(q.l[base:])
		if k == last {
			between = 1
		}
		for j := range between {
			x := float64(k-base) + float64(j)/float64(between)
			a := lnA.at(x)
			q.lnV = append(q.lnV, a-lnTime)
			q.fine = append(q.fine, q.likelihood(a, l.at(x)))
		}
	}
}

// isFinite reports whether x is neither NaN nor infinite.
func isFinite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// argmax returns the index of the largest of x, which is not empty.
func argmax(x []float64) int {
	best := 0
	for k, v := range x {
		if v > x[best] {
			best = k
		}
	}
	return best
}

// cubic holds the coefficients of a polynomial, the constant first.
type cubic [4]float64

// through returns the cubic with the values y[0] to y[3] at 0, 1, 2 and 3.
func through(y []float64) cubic {
	first, second, third := y[1]-y[0], y[2]-2*y[1]+y[0], y[3]-3*y[2]+3*y[1]-y[0]
	return cubic{y[0], first - second/2 + third/3, (second - third) / 2, third / 6}
}

func (c cubic) at(x float64) float64 { return c[0] + x*(c[1]+x*(c[2]+x*c[3])) }

// interval returns the σ² whose log-likelihood, maximised over ψ, lies within halfChi95 of top. At a fixed ψ the log-likelihood falls from its maximum, at v,
// by (n²/n₂)(ρ - 1 - ln ρ)/2 with ρ = v/σ², so the part of the interval that each ψ contributes has a closed form. v grows with ψ, so few parts extend the
// interval beyond the earlier ones, on either side. For the others a bound is enough.
func (q *profile) interval(b *bank, top float64) (low, high float64) {
	lnLow, lnHigh := math.Inf(1), math.Inf(-1)
	scale := 2 * b.n2 / (b.n * b.n)
	for k, ll := range q.fine {
		h := scale * (ll - top + halfChi95)
		if h >= 0 && q.lnV[k]-math.Sqrt(2*h) < lnLow {
			lnLow = min(lnLow, q.lnV[k]-ExcessRoot(h, 1))
		}
	}
	for k, ll := range slices.Backward(q.fine) {
		h := scale * (ll - top + halfChi95)
		if h >= 0 && q.lnV[k]+math.Sqrt(2*h)+h > lnHigh {
			lnHigh = max(lnHigh, q.lnV[k]-ExcessRoot(h, -1))
		}
	}
	if math.IsInf(lnLow, 1) { // rest fits so much better that every ψ > 0 is excluded
		return 0, 0
	}
	return math.Exp(lnLow), math.Exp(lnHigh)
}

// ExcessRoot solves eˣ - 1 - x = h for the x of the given sign, by Newton's method from the parabola's root. For h ≥ 0, the root on the right is at most
// √(2h), and the root on the left is at least -√(2h) - h.
func ExcessRoot(h, sign float64) float64 {
	x := sign * math.Sqrt(2*h)
	if sign < 0 && h > 1 {
		x = -1 - h
	}
	for range 8 {
		slope := math.Expm1(x)
		if slope == 0 {
			break
		}
		step := (slope - x - h) / slope
		x -= step
		if math.Abs(step) < 1e-9 { // in ln σ²; the remaining error is its square
			break
		}
	}
	return x
}
