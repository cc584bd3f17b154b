// Uncertainty of the law
//
// The law is an estimate. So a larger D is compared with the upper end of D, three standard deviations above its estimate (1.5 times its 95 % interval), and
// a smaller D with the lower end. The same holds for the odds of a state. If the true D is below the upper end, Λ is smaller on average, so (1) holds while D
// is within the ends. In about one of a few hundred laws it is not:
//
//	Λ = Π p(step | cD) / p(step | D at its end)                                                    (2)
//
// An alternative is tested only if the end is at most half way to it, in ln D or in the logarithm of the odds. Pieces of one track are not independent in
// their spread and state, so these intervals are widened by √(pieces/objects).

package change

import (
	"math"

	"driftscope/online/states"
)

// Alternative laws, and the uncertainty of the law.
var factors = [...]float64{0.5, math.Sqrt2 / 2, math.Sqrt2, 2} // factors on every D

const (
	kinds      = 3 + len(factors) // values of D per node: the law's D, the ends of its interval, and its multiples by factors
	oddsFactor = 4.0              // factor on a state's odds: a fraction of one half becomes four fifths
	wide       = 1.5              // factor on the 95 % interval: three standard deviations
	longTail   = math.Sqrt2 * 1.2247448713915890
)

// Gauss-Hermite nodes of a state: ln D in units of the spread. A spread of a half needs five nodes, so that a node is near every object.
var (
	one   = []node{{prior: 1}}
	three = []node{{d: -longTail, prior: 1.0 / 6}, {d: 0, prior: 2.0 / 3}, {d: longTail, prior: 1.0 / 6}}
	five  = []node{{d: -2.8569700138728, prior: 0.0112574113277}, {d: -1.3556261799743, prior: 0.2220759220056}, {d: 0, prior: 0.5333333333333}, {d: 1.3556261799743, prior: 0.2220759220056}, {d: 2.8569700138728, prior: 0.0112574113277}}
)

// fineSpread is the spread from which a state has five nodes.
const fineSpread = 0.25

// node is one possible D of objects in a state.
type node struct {
	state int
	d     float64        // px²/s
	prior float64        // prior probability within its state
	by    [kinds]float64 // px²/s: the law's D, its lower and upper end, and the changed D
}

// reference is the tested law, as nodes.
type reference struct {
	nodes    []node
	fraction []float64   // per state
	edge     [][]float64 // per state: the fractions if the state has its largest fraction within the interval; nil if the interval is too wide
	raised   [][]float64 // per state: the fractions with the state's odds times oddsFactor
	known    [len(factors)]bool
	noise    float64 // localisation variance at scale 1, px²
	stray    float64 // probability density of a stray step, 1/px²
}

// newReference represents a law by nodes. objects is the number of objects that the law was learnt from; the law itself counts their pieces, which are not
// independent.
func newReference(l *states.Law, objects float64) *reference {
	r := &reference{noise: l.Scale, stray: math.Exp(l.Stray)}
	spread, rule := l.Spread.Value, one
	switch {
	case spread > fineSpread:
		rule = five
	case spread > 0:
		rule = three
	}
	draws := wide * math.Sqrt(max(float64(l.Tracks)/max(objects, 1), 1)) // the law's interval counts every piece as independent
	open := wide
	if l.Spread.Value > 0 {
		open = draws
	}
	lowest, highest := beyond(l.D.Value, l.D.Low, draws), beyond(l.D.Value, l.D.High, draws)
	for j, s := range l.States {
		r.fraction = append(r.fraction, s.Tracked)
		low, high := max(beyond(s.D.Value, s.D.Low, open), lowest), min(beyond(s.D.Value, s.D.High, open), highest) // all states change by the same factor
		var by [kinds]float64
		by[0], by[1], by[2] = 1, low, high
		for k, f := range factors {
			end, at := low, 1
			if f > 1 {
				end, at = high, 2
			}
			if math.Abs(math.Log(end)) < math.Abs(math.Log(f))/2 {
				by[3+k], r.known[k] = f, true
			} else {
				by[3+k] = by[at] // a change of this state cannot be detected yet
			}
		}
		for _, n := range rule {
			n.state, n.d = j, s.D.Value*math.Exp(n.d*spread)
			for k, f := range by {
				n.by[k] = n.d * f
			}
			r.nodes = append(r.nodes, n)
		}
	}
	if len(l.States) > 1 {
		r.weighFractions(l, draws)
	}
	return r
}

// weighFractions computes the largest fractions within the interval, and the raised fractions.
func (r *reference) weighFractions(l *states.Law, draws float64) {
	for j, s := range l.States {
		f := s.Fraction
		odds := f.High / (1 - f.High) / (f.Value / (1 - f.Value))
		edge, raised := math.Pow(odds, draws), []float64(nil)
		if edge > 1 && edge < math.Sqrt(oddsFactor) {
			raised = withOdds(r.fraction, j, oddsFactor)
			r.edge = append(r.edge, withOdds(r.fraction, j, edge))
		} else {
			r.edge = append(r.edge, nil)
		}
		r.raised = append(r.raised, raised)
	}
}

// beyond returns the end of an interval relative to its value, after widening the interval in ln D by a factor.
func beyond(value, end, times float64) float64 {
	if !(end > 0 && value > 0) {
		return math.SmallestNonzeroFloat64 // the interval is open at this end
	}
	return math.Pow(end/value, times)
}

// withOdds returns the fractions with the odds of state j multiplied by times.
func withOdds(fraction []float64, j int, times float64) []float64 {
	out := append([]float64(nil), fraction...)
	sum := 0.0
	out[j] *= times
	for _, v := range out {
		sum += v
	}
	for k := range out {
		out[k] /= sum
	}
	return out
}
