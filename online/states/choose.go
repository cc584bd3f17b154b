package states

import (
	"math"
	"slices"
)

// MostStates is how many a mixture has at most. Six D with their fractions are more than films of today tell apart.
const MostStates = 6

// evidence is the log likelihood less half of the logarithm of the number of tracks for each number that was fitted (Schwarz, Annals of Statistics 6, 461,
// 1978): whole tracks, not steps, are what a state is told by.
func (f *fitting) evidence(m *mixture) float64 {
	numbers := 2 * float64(len(m.d))
	if m.spread > 0 {
		numbers++
	}
	return m.nats - numbers/2*math.Log(max(f.tracks(), 2))
}

// tracks is how many there are, by their weights.
func (f *fitting) tracks() (sum float64) {
	for i := range f.segments {
		sum += f.segments[i].Weight
	}
	return sum
}

// choose fits mixtures of more and more states, each without a spread and with one, and takes that of the greatest evidence. One state more that gains
// nothing ends it.
func (f *fitting) choose(most int) mixture {
	bare := f.one()
	best, bestEvidence := bare, math.Inf(-1)
	for k := 1; ; k++ {
		found := false
		for _, spread := range []bool{false, true} {
			m := bare
			if spread {
				if !f.spreads(&bare) {
					continue
				}
				m = f.spreadFrom(bare)
			}
			if e := f.evidence(&m); e > bestEvidence && slices.Min(m.fraction)*f.tracks() >= leastTracks {
				best, bestEvidence, found = m, e, true
			}
		}
		if !found || k == most || float64(k) >= f.tracks()/leastTracks {
			best = f.simplify(best)
			if best.table != nil {
				f.sharpen(&best)
			}
			return best
		}
		bare = f.split(bare)
	}
}

// leastTracks are a state: one track alone has any D, and is a track of something else as likely as an object's.
const leastTracks = 2

// simplify tries two neighbouring states as one, as long as the evidence gains by it: a climb from two may end where one would do.
func (f *fitting) simplify(m mixture) mixture {
	for j := 0; j+1 < len(m.d); j++ {
		one := mixture{spread: m.spread, noise: m.noise}
		for i := range m.d {
			if i != j+1 {
				one.d, one.fraction = append(one.d, m.d[i]), append(one.fraction, m.fraction[i])
			}
		}
		both := m.fraction[j] + m.fraction[j+1]
		one.d[j] = math.Exp((m.fraction[j]*math.Log(m.d[j]) + m.fraction[j+1]*math.Log(m.d[j+1])) / both)
		one.fraction[j] = both
		if m.table != nil {
			one = f.spreadAt(one, m.table)
		} else {
			one = f.climbFrom(one, 0)
		}
		if f.evidence(&one) > f.evidence(&m) {
			m, j = one, -1
		}
	}
	return m
}

// spreads says whether a spread may be worth its number, by the score of its variance at zero: the derivative of a track's likelihood is half of l″ + l′², l by
// ln D, and the square of its sum over its variance is twice what a spread gains while it is small.
func (f *fitting) spreads(m *mixture) bool {
	score, square := 0.0, 0.0
	likely := f.responsibilities(m)
	for i := range f.segments {
		s, each := &f.segments[i], 0.0
		for j, r := range likely.RawRowView(i) {
			_, at := s.slopes(law{m.d[j], m.noise, f.exposure, f.stray})
			_, beyond := s.slopes(law{m.d[j] * math.Exp(difference), m.noise, f.exposure, f.stray})
			each += r * ((beyond.d-at.d)/difference + at.d*at.d) / 2
		}
		score, square = score+s.Weight*each, square+s.Weight*each*each
	}
	return score > 0 && score*score > square*math.Log(max(f.tracks(), 2))
}
