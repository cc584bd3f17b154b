// A drift that changes
//
// Let E be the ln evidence of (8) and (10) for some of the K blocks of 20 steps. The drift has changed after block k if
//
//	E(1..k) + E(k+1..K) - E(1..K) > ln(n · odds)                                              (13)
//
// A priori a change is as likely as none, and equally likely at each of the n candidate positions, at least 100 steps from either end. Affine drifts select
// the three likeliest candidates, by prefix sums. In up to four dimensions all fields then decide, because a jump between wells looks like a change to affine
// drifts. All fields are compared only if the odds by affine drifts are at least e^-6. Noise is removed to first order only, hence the long odds.
//
// These are results of a single test at odds of 200 to 1. If the centre of a spring moves by 1.7 of its spreads in both dimensions, the change is found in 7
// of 40 paths after 300 latents and in 24 after 1000; for 2.8 spreads, in 24 and 36. If a circle reverses, it is found in 35 of 40 paths after 200 latents
// and in 39 after 300. Of 520 noiseless paths of the laws of online/onlinetest, with 500 or 2000 latents and no change, 2 had a false change (1 in 200 is
// allowed). Of 120 paths in which σ of a spring becomes 1.5, 3 or ½, none had.

package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Limits for a change of the drift, (13).
const (
	changeBlock  = 20 // steps between two candidates for a change
	changeDoubt  = -6 // ln odds by affine drifts below which the other fields are not tried
	changePlaces = 3  // number of candidates that all fields examine,
	changeApart  = 5  // at least this many blocks apart
	changeEnd    = 5  // least number of blocks on either side: a hundred steps, the least from which a drift can be learnt
)

// prefixSums holds the sums for the evidence of affine drifts after every changeBlock steps: G and b of 1 and u. G is the same for all dimensions.
type prefixSums struct {
	d      int
	normal []*mat.SymDense // Σ Δt [1,u][1,u]', (1+d)×(1+d)
	cross  []*mat.Dense    // Σ [1,u]Δx', (1+d)×d
	taus   [1 + priorLevels]float64
}

// newPrefixSums adds up the steps in units of the basis b. The last entry includes an incomplete block.
func newPrefixSums(s *Steps, b *basis) *prefixSums {
	p := &prefixSums{d: s.dim}
	normal, cross := mat.NewSymDense(1+s.dim, nil), mat.NewDense(1+s.dim, s.dim, nil)
	keep := func() {
		n := mat.NewSymDense(1+s.dim, nil)
		n.CopySym(normal)
		p.normal, p.cross = append(p.normal, n), append(p.cross, mat.DenseCopyOf(cross))
	}
	seconds := 0.0
	keep()
	for k, u := range s.averaged(1+s.dim, func(dst, x []float64) { dst[0] = 1; b.scaled(dst[1:], x) }) {
		dx, dt := s.row(k)
		normal.SymRankOne(normal, dt, mat.NewVecDense(len(u), u))
		cross.RankOne(cross, 1, mat.NewVecDense(len(u), u), mat.NewVecDense(s.dim, dx))
		seconds += dt
		if (k+1)%changeBlock == 0 || k+1 == s.Len() {
			keep()
		}
	}
	p.taus = priorVariances(max(s.longest, seconds))
	return p
}

// evidence returns the ln evidence of one affine drift between two entries, averaged over the prior variances of the constants and of the slopes.
func (p *prefixSums) evidence(from, to int) float64 {
	var normal mat.SymDense
	var cross mat.Dense
	minus := mat.NewSymDense(1+p.d, nil)
	minus.ScaleSym(-1, p.normal[from])
	normal.AddSym(p.normal[to], minus)
	cross.Sub(p.cross[to], p.cross[from])
	var logs []float64
	for _, constant := range p.taus {
		for _, slope := range p.taus {
			prior := math.Log((1 - noDriftPrior) / ((1+priorLevels)*(1+priorLevels) - 1))
			if constant == 0 && slope == 0 {
				prior = math.Log(noDriftPrior)
			}
			logs = append(logs, prior+p.logEvidence(&normal, &cross, constant, slope))
		}
	}
	return floats.LogSumExp(logs)
}

// logEvidence returns ½b'Vb - ½ ln det K of (8) for the given prior variances.
func (p *prefixSums) logEvidence(normal *mat.SymDense, cross *mat.Dense, constant, slope float64) float64 {
	root := func(i int) float64 {
		if i == 0 {
			return math.Sqrt(constant)
		}
		return math.Sqrt(slope)
	}
	k, b := mat.NewSymDense(1+p.d, nil), mat.NewDense(1+p.d, p.d, nil)
	for i := range 1 + p.d {
		for j := i; j < 1+p.d; j++ {
			k.SetSym(i, j, root(i)*root(j)*normal.At(i, j))
		}
		k.SetSym(i, i, 1+k.At(i, i))
		for j := range p.d {
			b.Set(i, j, root(i)*cross.At(i, j))
		}
	}
	var factor mat.Cholesky
	var solved mat.Dense
	if !factor.Factorize(k) || factor.SolveTo(&solved, b) != nil {
		return math.Inf(-1)
	}
	solved.MulElem(&solved, b)
	return (mat.Sum(&solved) - float64(p.d)*factor.LogDet()) / 2
}

// gains returns the gain in ln evidence of two affine drifts over one for each candidate of a change, from changeEnd blocks on.
func (p *prefixSums) gains() (gains []float64) {
	last := len(p.normal) - 1
	whole := p.evidence(0, last)
	for k := changeEnd; k < last-changeEnd; k++ {
		gains = append(gains, p.evidence(0, k)+p.evidence(k, last)-whole)
	}
	return gains
}

// likeliest returns the indices of the largest gains, at least changeApart apart.
func likeliest(gains []float64) (places []int) {
	left := slices.Clone(gains)
	for range changePlaces {
		if len(left) == 0 || math.IsInf(slices.Max(left), -1) {
			break
		}
		k := floats.MaxIdx(left)
		places = append(places, k)
		for near := max(0, k-changeApart); near <= min(len(left)-1, k+changeApart); near++ {
			left[near] = math.Inf(-1)
		}
	}
	return places
}

// changed returns the step before which the drift changed at the given odds, or 0 if it did not change. whole is the ln evidence of one drift for all steps.
// Affine drifts find the candidates. To them, a nonlinear drift looks like a change, so in up to maxRBFDim dimensions all fields decide.
func changed(s *Steps, whole, odds float64) (at int, err error) {
	gains := newPrefixSums(s, newBasis(s)).gains()
	places := math.Log(float64(len(gains)))
	least := places + math.Log(odds)
	for _, k := range likeliest(gains) {
		gain, place := gains[k], (changeEnd+k)*changeBlock
		if gain-places > changeDoubt && s.dim <= maxRBFDim {
			apart, err := evidenceApart(s, place)
			if err != nil {
				return 0, err
			}
			gain = apart - whole
		}
		if gain >= least {
			at, least = place, gain
		}
	}
	return at, nil
}

// evidenceApart returns the ln evidence of two drifts, one before step at and one from this step on.
func evidenceApart(s *Steps, at int) (sum float64, err error) {
	all := *s
	all.longest = max(s.longest, floats.Sum(s.dt))
	for _, part := range []*Steps{all.part(0, at), all.part(at, all.Len())} {
		p := &Posterior{dim: s.dim}
		if err := p.learn(part); err != nil {
			return 0, err
		}
		sum += p.evidence
	}
	return sum, nil
}
