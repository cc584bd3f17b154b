package states

import (
	"math"
	"slices"
)

// MostStates is the largest number of states of a mixture. Current films do not resolve more than six values of D with their fractions.
const MostStates = 6

// evidence returns the log likelihood minus half the logarithm of the number of tracks per fitted number (Schwarz, Annals of Statistics 6, 461, 1978): the
// independent evidence for a state is a track, not a step.
func (f *fitting) evidence(m *mixture) float64 {
	numbers := 2 * float64(len(m.d))
	if m.spread > 0 {
		numbers++
	}
	return m.nats - numbers/2*math.Log(max(f.tracks(), 2))
}

// tracks returns the summed weight of the tracks.
func (f *fitting) tracks() (sum float64) {
	for i := range f.segments {
		sum += f.segments[i].Weight
	}
	return sum
}

// choose fits mixtures of more and more states, each without and with a spread, and returns the mixture with the greatest evidence. It stops when another
// state gains nothing.
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

// leastTracks is the least size of a state in tracks. A single track fits any D and may show something other than an object.
const leastTracks = 2

// simplify merges neighbouring states as long as the evidence grows, because a fit of two states may end where one is enough.
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

// spreads reports whether a spread may be worth its parameter, by a score test at zero variance. The score of a track is ½(l″ + l′²), with derivatives of its
// log likelihood l by ln D. The squared sum of the scores over their variance is twice the gain of a small spread.
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
