package switching

import "math"

// mostLevels is how many D an object that does not switch may have.
const mostLevels = MostStates + between*(MostStates-1)

// still is an object that keeps its D: one filter for each level.
type still struct {
	where  [mostLevels]belief
	shares [2][mostLevels]float64 // probability of each level, where it is a state's, and where it is any
}

// begin has a first place.
func (s *still) begin(m *Model, p Place) {
	for l, d := range m.levels {
		s.where[l] = m.begin(p, d)
		s.shares[0][l], s.shares[1][l] = 0, 1/float64(len(m.levels))
		if l < m.states {
			s.shares[0][l] = m.share[l]
		}
	}
}

// add takes in a place, and counts its ln likelihood by an object that switches against that by this one; doc.go (5).
func (s *still) add(m *Model, at *step, switches float64) {
	var likely [mostLevels]float64 // ln, then beside the likeliest level
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
		if !(total > 0) { // all levels have become impossible, as by an exchange of objects: it says nothing more
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
