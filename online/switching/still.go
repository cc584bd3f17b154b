package switching

import "math"

// mostLevels bounds the number of levels of D for an object that does not switch.
const mostLevels = MostStates + between*(MostStates-1)

// still models an object that keeps its D: one filter per level.
type still struct {
	where  [mostLevels]belief
	shares [2][mostLevels]float64 // probability of each level: among states only, and among all levels
}

func (s *still) begin(m *Model, p Place) {
	for l, d := range m.levels {
		s.where[l] = m.begin(p, d)
		s.shares[0][l], s.shares[1][l] = 0, 1/float64(len(m.levels))
		if l < m.states {
			s.shares[0][l] = m.share[l]
		}
	}
}

// add updates the filters with a place. It adds the ln likelihood ratio of a switching object against this one to the evidence; doc.go (5).
func (s *still) add(m *Model, at *step, switches float64) {
	var likely [mostLevels]float64 // ln, then relative to the likeliest level
	most := math.Inf(-1)
	for l, d := range m.levels {
		s.where[l], likely[l] = m.advance(s.where[l], at, d)
		most = max(most, likely[l])
	}
	for l := range m.levels {
		likely[l] = math.Exp(at.place.Weight * (likely[l] - most))
	}
	for k := range s.shares {
		total := 0.0
		for l := range m.levels {
			s.shares[k][l] *= likely[l]
			total += s.shares[k][l]
		}
		if !(total > 0) { // no level is possible any more, for example after an exchange of objects: stop counting
			s.shares[k] = [mostLevels]float64{}
			continue
		}
		for l := range m.levels {
			s.shares[k][l] = max(s.shares[k][l]/total, 1e-300)
		}
		m.versus[k] += switches - at.place.Weight*most - math.Log(total)
	}
	m.steps += at.place.Weight
}
