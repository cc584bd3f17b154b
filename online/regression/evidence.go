package regression

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"driftscope/internal/kit/numbers"
)

// Prior of the groups, (10).
const (
	priorLevels  = 3      // possible sizes of a group, besides zero
	noDriftPrior = 1. / 3 // probability that there is no drift
)

// priorVariances returns 0 and the prior variances of a group's coefficients, for a recording of the given length.
func priorVariances(seconds float64) [1 + priorLevels]float64 {
	unit := 10 / seconds
	return [1 + priorLevels]float64{0, 0.2 * unit, 2 * unit, 20 * unit}
}

// logPrior returns the ln prior probability that a particular choice of k of n groups is on, each with a particular variance above 0.
func logPrior(k, n int) float64 {
	if k == 0 {
		return math.Log(noDriftPrior)
	}
	choices := float64(n) * float64(combin.Binomial(n, k)) * math.Pow(priorLevels, float64(k))
	return math.Log(1-noDriftPrior) - math.Log(choices)
}

// option is one choice of prior variances for fields that are coupled to the radial field only: the constants, the linear fields, or the radial basis
// functions of one length scale. Its V, b and G exclude the radial field. g is G between its fields and the radial field.
type option struct {
	on             int       // number of groups that are on
	prior          float64   // ln probability of its length scale
	rbf            *rbf      // nil without radial basis functions
	logDet         float64   // ln det K
	mean, coupling []float64 // Vb, Vg
	bb, bg, gg     float64   // b'Vb, b'Vg, g'Vg
	share          float64   // posterior probability
	radialMean     float64   // Σ over combinations of probability × radial coefficient

	sample func(dst []float64, rng *rand.Rand) // adds a draw of N(0, V); nil if all groups are off
}

// complete computes bb, bg and gg of an option from its mean and coupling.
func (o option) complete(b, g []float64) option {
	o.bb, o.bg, o.gg = floats.Dot(b, o.mean), floats.Dot(b, o.coupling), floats.Dot(g, o.coupling)
	return o
}

// constantOptions returns the priors of the constants, whose G is T·I.
func constantOptions(m *moments) []option {
	var options []option
	for _, tau := range priorVariances(m.longest) {
		v := tau / (1 + tau*m.seconds)
		o := option{on: count(tau), logDet: float64(len(m.constantB)) * math.Log(1+tau*m.seconds)}
		for i := range m.constantB {
			o.mean, o.coupling = append(o.mean, v*m.constantB[i]), append(o.coupling, v*m.constantRadial[i])
		}
		o.sample = func(dst []float64, rng *rand.Rand) {
			for i := range dst {
				dst[i] += math.Sqrt(v) * rng.NormFloat64()
			}
		}
		options = append(options, o.complete(m.constantB, m.constantRadial))
	}
	return options
}

// linearOptions returns the priors of dilation, rotations and shears. One dimension has only the dilation.
func linearOptions(m *moments, l *linear) []option {
	turn, curl := numbers.Congruent(m.linearB, l.q).RawMatrix().Data, numbers.Congruent(m.linearRadial, l.q).RawMatrix().Data
	taus := priorVariances(m.longest)
	plane := taus[:]
	if len(m.constantB) == 1 {
		plane = taus[:1]
	}
	var options []option
	for _, dilation := range taus {
		for _, rotation := range plane {
			for _, shear := range plane {
				o := option{on: count(dilation, rotation, shear), mean: make([]float64, len(turn)), coupling: make([]float64, len(turn))}
				t := variances{dilation, rotation, shear}
				o.logDet = l.solve(o.mean, turn, t)
				l.solve(o.coupling, curl, t)
				o.sample = func(dst []float64, rng *rand.Rand) { l.sample(dst, t, rng) }
				options = append(options, o.complete(turn, curl))
			}
		}
	}
	return options
}

// rbfOptions returns the option without radial basis functions, and one option per length scale and variance.
func rbfOptions(clip float64, all []*rbf) []option {
	options := []option{{}}
	taus := priorVariances(clip)
	for _, f := range all {
		b, g := f.b.RawMatrix().Data, f.g.RawMatrix().Data
		for _, tau := range taus[1:] {
			o := option{on: 1, prior: -math.Log(float64(len(all))), rbf: f}
			for k := range b {
				k1 := 1 + tau*f.lambda[k/f.d]
				o.mean, o.coupling = append(o.mean, tau/k1*b[k]), append(o.coupling, tau/k1*g[k])
				o.logDet += math.Log(k1)
			}
			o.sample = func(dst []float64, rng *rand.Rand) {
				for k := range dst {
					dst[k] += math.Sqrt(tau/(1+tau*f.lambda[k/f.d])) * rng.NormFloat64()
				}
			}
			options = append(options, o.complete(b, g))
		}
	}
	return options
}

// count returns the number of variances that are not 0.
func count(tau ...float64) int {
	return len(slices.DeleteFunc(tau, func(t float64) bool { return t == 0 }))
}

// mostOn returns the largest number of groups that are on in an option.
func mostOn(options []option) int {
	return slices.MaxFunc(options, func(a, b option) int { return a.on - b.on }).on
}

// average adds o's contribution to the mean coefficients over all combinations to dst.
func (o *option) average(dst []float64) {
	if o.on > 0 {
		floats.AddScaled(dst, o.share, o.mean)
		floats.AddScaled(dst, -o.radialMean, o.coupling)
	}
}

// mixture holds all combinations of options with a prior of the radial field.
type mixture struct {
	options          [3][]option // options of the constants, the linear fields and the radial basis functions
	taus             [1 + priorLevels]float64
	radialB, radialG float64   // b and G of the radial field
	radial           float64   // posterior mean of the radial coefficient
	evidence         float64   // ln evidence over all combinations
	logs             []float64 // ln evidence plus ln prior of each combination
}

// newMixture weighs every combination by its evidence.
func newMixture(m *moments, l *linear, all []*rbf) *mixture {
	x := &mixture{
		options: [3][]option{constantOptions(m), linearOptions(m, l), rbfOptions(m.longest, all)},
		taus:    priorVariances(m.longest), radialB: m.radialB, radialG: m.radialG,
	}
	x.weigh()
	return x
}

// combination is one member of a mixture. The radial coefficient has this mean, and the options' mean is reduced by mean·coupling.
type combination struct {
	at          [3]int // its options
	on          int    // number of groups that are on
	mean        float64
	variance    float64 // variance of the radial coefficient
	logEvidence float64
}

// all yields every combination, always in the same order.
func (x *mixture) all(yield func(c combination) bool) {
	for i := range x.options[0] {
		for j := range x.options[1] {
			for k := range x.options[2] {
				for _, tau := range x.taus {
					if !yield(x.combine([3]int{i, j, k}, tau)) {
						return
					}
				}
			}
		}
	}
}

// combine eliminates all coefficients except the radial one, whose K is then a number.
func (x *mixture) combine(at [3]int, tau float64) combination {
	c, l, b := &x.options[0][at[0]], &x.options[1][at[1]], &x.options[2][at[2]]
	k := 1 + tau*max(0, x.radialG-c.gg-l.gg-b.gg)
	pull := x.radialB - c.bg - l.bg - b.bg
	mean := tau / k * pull
	return combination{at: at, on: c.on + l.on + b.on + count(tau), mean: mean, variance: tau / k,
		logEvidence: (c.bb + l.bb + b.bb - c.logDet - l.logDet - b.logDet + mean*pull - math.Log(k)) / 2}
}

// weigh computes the posterior probability of each option.
func (x *mixture) weigh() {
	groups := 1
	for _, options := range x.options {
		groups += mostOn(options)
	}
	priors := make([]float64, 1+groups)
	for k := range priors {
		priors[k] = logPrior(k, groups)
	}
	x.logs = make([]float64, 0, len(x.options[0])*len(x.options[1])*len(x.options[2])*len(x.taus))
	for c := range x.all {
		x.logs = append(x.logs, c.logEvidence+priors[c.on]+x.options[2][c.at[2]].prior)
	}
	x.evidence = floats.LogSumExp(x.logs)
	k := 0
	for c := range x.all {
		weight := math.Exp(x.logs[k] - x.evidence)
		k++
		x.radial += weight * c.mean
		for part, i := range c.at {
			x.options[part][i].share += weight
			x.options[part][i].radialMean += weight * c.mean
		}
	}
}
