package online

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// When a change of the drift is believed, doc.go (13).
const (
	changeBlock  = 20  // steps between two places where the law may change
	changeOdds   = 200 // of a change against none, from which the past is forgotten; a priori there is one somewhere or none, as likely
	changeDoubt  = -3  // ln odds, below which it is as if there were none
	changePlaces = 3   // that are looked at more closely,
	changeApart  = 5   // this many blocks from each other
	changeEnd    = 5   // blocks on either side, at least: fewer steps than decideAfter give no drift elsewhere either
)

// ledger holds, up to every changeBlock steps, the sums by which affine drifts are judged: G and b of 1 and u, for each dimension alike.
type ledger struct {
	d      int
	normal []*mat.SymDense // Σ Δt [1,u][1,u]', (1+d)×(1+d)
	cross  []*mat.Dense    // Σ [1,u]Δx', (1+d)×d
	clip   float64         // of the recording
}

// newLedger adds up the steps in units of the basis b, the last block's remainder included.
func newLedger(s *steps, b *basis) *ledger {
	l := &ledger{d: s.dim}
	normal, cross := mat.NewSymDense(1+s.dim, nil), mat.NewDense(1+s.dim, s.dim, nil)
	keep := func() {
		n := mat.NewSymDense(1+s.dim, nil)
		n.CopySym(normal)
		l.normal, l.cross = append(l.normal, n), append(l.cross, mat.DenseCopyOf(cross))
	}
	seconds := 0.0
	keep()
	for k, u := range s.averaged(1+s.dim, func(dst, x []float64) { dst[0] = 1; b.scaled(dst[1:], x) }) {
		dx, dt := s.row(k)
		normal.SymRankOne(normal, dt, mat.NewVecDense(len(u), u))
		cross.RankOne(cross, 1, mat.NewVecDense(len(u), u), mat.NewVecDense(s.dim, dx))
		seconds += dt
		if (k+1)%changeBlock == 0 || k+1 == s.len() {
			keep()
		}
	}
	l.clip = max(s.clip, seconds)
	return l
}

// evidence is the ln evidence of affine drifts between two entries of the ledger, in units of these steps' own mean and spread.
func (l *ledger) evidence(from, to int) float64 {
	d := l.d
	m := &moments{push: make([]float64, d), skew: make([]float64, d),
		turn: mat.NewDense(d, d, nil), spread: mat.NewDense(d, d, nil), curl: mat.NewDense(d, d, nil)}
	normal := func(i, j int) float64 { return l.normal[to].At(i, j) - l.normal[from].At(i, j) }
	cross := func(i, j int) float64 { return l.cross[to].At(i, j) - l.cross[from].At(i, j) }
	m.seconds = normal(0, 0)
	m.clip = max(l.clip, m.seconds)
	for i := range d {
		m.push[i] = cross(0, i)
		for j := range d {
			m.turn.Set(i, j, cross(1+j, i)-m.push[i]*normal(0, 1+j)/m.seconds)
			m.spread.Set(i, j, normal(1+i, 1+j)-normal(0, 1+i)*normal(0, 1+j)/m.seconds)
		}
	}
	if square := mat.Trace(m.spread) / (m.seconds * float64(d)); square > 0 {
		m.turn.Scale(1/math.Sqrt(square), m.turn)
		m.spread.Scale(1/square, m.spread)
	}
	q, lambda, err := m.axes()
	if err != nil {
		return math.Inf(-1)
	}
	return affineEvidence(m, &linear{q: q, lambda: lambda})
}

// affineEvidence is the ln evidence of constants and linear fields, over all combinations.
func affineEvidence(m *moments, l *linear) float64 {
	constants, slopes := constantOptions(m), linearOptions(m, l)
	groups := mostOn(constants) + mostOn(slopes)
	var logs []float64
	for i := range constants {
		for j := range slopes {
			c, s := &constants[i], &slopes[j]
			logs = append(logs, (c.bb+s.bb-c.logDet-s.logDet)/2+logPrior(c.on+s.on, groups))
		}
	}
	return floats.LogSumExp(logs)
}

// gains is by how much two affine drifts explain the steps better than one, in nats, for each place that the law may have changed at,
// from changeEnd blocks on.
func (l *ledger) gains() (gains []float64) {
	last := len(l.normal) - 1
	whole := l.evidence(0, last)
	for k := changeEnd; k < last-changeEnd; k++ {
		gains = append(gains, l.evidence(0, k)+l.evidence(k, last)-whole)
	}
	return gains
}

// likeliest are the places of the largest gains, none near another.
func likeliest(gains []float64) (places []int) {
	left := slices.Clone(gains)
	for range changePlaces {
		if len(left) == 0 || math.IsInf(slices.Max(left), -1) {
			break
		}
		k := highest(left)
		places = append(places, k)
		for near := max(0, k-changeApart); near <= min(len(left)-1, k+changeApart); near++ {
			left[near] = math.Inf(-1)
		}
	}
	return places
}

// change is a place where the drift may have changed: the step after it, and how likely that is beside none, given the latents.
type change struct {
	at      int
	logOdds float64
}

// changesOf are the places where a change is likely enough to matter, given the ln evidence of one drift for all steps. Affine drifts say
// where that may have been; what is bent looks to them like a change, so where bumps can tell, all fields must say so as well.
func changesOf(s *steps, whole float64) (found []change, err error) {
	gains := newLedger(s, newBasis(s)).gains()
	places := math.Log(float64(len(gains)))
	for _, k := range likeliest(gains) {
		gain, at := gains[k], (changeEnd+k)*changeBlock
		if gain-places > changeDoubt && s.dim <= maxBumpDim {
			apart, err := evidenceApart(s, at)
			if err != nil {
				return nil, err
			}
			gain = min(gain, apart-whole)
		}
		if gain-places > changeDoubt {
			found = append(found, change{at, gain - places})
		}
	}
	return found, nil
}

// evidenceApart is the ln evidence of a drift before a step and another one from it on.
func evidenceApart(s *steps, at int) (sum float64, err error) {
	all := *s
	all.clip = max(s.clip, floats.Sum(s.dt))
	for _, part := range []*steps{all.part(0, at), all.part(at, all.len())} {
		p := &posterior{dim: s.dim}
		if err := p.learn(part); err != nil {
			return 0, err
		}
		sum += p.evidence
	}
	return sum, nil
}

// certain is the step after the likeliest change, 0 where none is certain.
func certain(found []change) (at int) {
	least := math.Log(changeOdds)
	for _, c := range found {
		if c.logOdds >= least {
			at, least = c.at, c.logOdds
		}
	}
	return at
}

// fade makes every step tell as much as it is likely that the drift has not changed since.
func (s *steps) fade(found []change) {
	all, standing := 1.0, 1.0
	for _, c := range found {
		all += math.Exp(c.logOdds)
	}
	slices.SortFunc(found, func(a, b change) int { return a.at - b.at })
	from := 0
	for _, c := range append(found, change{at: s.len()}) {
		s.scale(from, c.at, standing/all)
		standing += math.Exp(c.logOdds)
		from = c.at
	}
}
