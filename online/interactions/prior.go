package interactions

import "math"

// Priors of a force, (6).
var (
	lengths  = [...]float64{1. / 16, 1. / 8, 1. / 4, 1. / 2} // length over which a force changes, in reaches; the smallest is one and a half knots
	cutoffs  = [...]float64{1, 1. / 2, 1. / 4}               // distance at which the force ends, in reaches
	energies = [...]float64{8, 32, 128}                      // work over the reach, kT
)

// noForcePrior is the prior probability that there is no force.
const noForcePrior = 0.5

// prior is the prior for one length, cutoff and scale of distances: S = LL' for a force of unit size.
type prior struct {
	root  table // L, lower triangle
	knots int   // knots within the cutoff
	whole bool  // the cutoff is the reach
}

// newPriors returns the priors for all lengths, cutoffs and scales.
func newPriors() []prior {
	var all []prior
	for _, cutoff := range cutoffs {
		for _, length := range lengths {
			for _, scale := range [...]func(float64) float64{even, contact} {
				all = append(all, newPrior(cutoff, length, scale))
			}
		}
	}
	return all
}

// even is the scale for a force that changes equally at all distances.
func even(r float64) float64 { return r }

// contact is the scale for a force that changes nine times faster at contact than at the reach, as most forces do. r is the distance in reaches; the knee is
// at an eighth.
func contact(r float64) float64 { return math.Log1p(8*r) / math.Log(9) }

// newPrior returns the prior of a cutoff and a length, both in reaches.
func newPrior(cutoff, length float64, scale func(float64) float64) prior {
	p := prior{whole: cutoff == 1, knots: int(math.Ceil(cutoff * Knots))}
	var s table
	for i := range p.knots {
		for j := range p.knots {
			ri, rj := float64(i)/Knots, float64(j)/Knots
			d := (scale(ri) - scale(rj)) / length
			s[i*Knots+j] = taper(ri/cutoff) * taper(rj/cutoff) * math.Exp(-d*d/2)
		}
		s[i*Knots+i] += jitter
	}
	cholesky(&s, p.knots)
	p.root = s
	return p
}

// jitter prevents a singular covariance of a smooth force. It is the variance of a thousandth of the force's size.
const jitter = 1e-6

// taper reduces a force to zero over the last quarter before its cutoff.
func taper(of float64) float64 {
	const flat = 0.75
	if of <= flat {
		return 1
	}
	c := math.Cos(math.Pi / 2 * (min(of, 1) - flat) / (1 - flat))
	return c * c
}

// cholesky overwrites the lower triangle of the first n rows with L of LL'; it does not read the upper triangle.
func cholesky(a *table, n int) {
	for i := range n {
		row := a[i*Knots:][:n]
		for j := range i {
			other := a[j*Knots:][:n]
			v := row[j]
			for k := range j {
				v -= row[k] * other[k]
			}
			row[j] = v / other[j]
		}
		v := row[i]
		for k := range i {
			v -= row[k] * row[k]
		}
		row[i] = math.Sqrt(max(v, math.SmallestNonzeroFloat64))
	}
}

// forward solves Ly = x in place of x.
func forward(l *table, x *values, n int) {
	for i := range n {
		v := x[i]
		for k := range i {
			v -= l[i*Knots+k] * x[k]
		}
		x[i] = v / l[i*Knots+i]
	}
}

// backward solves L'y = x in place of x.
func backward(l *table, x *values, n int) {
	for i := n - 1; i >= 0; i-- {
		v := x[i]
		for k := i + 1; k < n; k++ {
			v -= l[k*Knots+i] * x[k]
		}
		x[i] = v / l[i*Knots+i]
	}
}
