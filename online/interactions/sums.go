package interactions

import "math/bits"

// table holds a number for every pair of knots, row by row.
type table [Knots * Knots]float64

// sums are the sums of (5), over steps and axes.
type sums struct {
	spread   table   // M, of an instrument with itself
	response table   // A, of an instrument with a response
	pull     values  // b, of an instrument with an innovation
	near     values  // ordered pairs, weighted by the hats at their distances
	heard    float64 // Σ |h|²/S
	missed   float64 // Σ |h|²/S e²/2S: heard, weighted by the squared innovations
	shown    float64 // number of steps
	ideal    float64 // Σ over movers of the density of all other objects, px⁻²
}

// fade multiplies all sums by a factor.
func (s *sums) fade(by float64) {
	for i := range s.spread {
		s.spread[i] *= by
		s.response[i] *= by
	}
	for i := range s.pull {
		s.pull[i] *= by
		s.near[i] *= by
	}
	s.heard, s.missed, s.shown, s.ideal = s.heard*by, s.missed*by, s.shown*by, s.ideal*by
}

// add adds the innovation of a step.
func (s *sums) add(m *mover) {
	w := m.innovation.weight / m.innovation.variance
	ex, ey := m.innovation.x, m.innovation.y
	length := 0.0
	for rows := m.by.shown; rows != 0; rows &= rows - 1 {
		i := bits.TrailingZeros32(rows)
		x, y := w*m.by.x[i], w*m.by.y[i]
		s.pull[i] += x*ex + y*ey
		length += x*m.by.x[i] + y*m.by.y[i]
		spread, response := s.spread[i*Knots:][:Knots], s.response[i*Knots:][:Knots]
		for columns := m.by.shown & (2<<i - 1); columns != 0; columns &= columns - 1 {
			j := bits.TrailingZeros32(columns)
			spread[j] += x*m.by.x[j] + y*m.by.y[j]
		}
		for columns := m.mid.shown; columns != 0; columns &= columns - 1 {
			j := bits.TrailingZeros32(columns)
			response[j] += x*m.mid.x[j] + y*m.mid.y[j]
		}
	}
	s.heard += length
	s.missed += length * (ex*ex + ey*ey) / (2 * m.innovation.variance)
}

// counted adds pairs between knots k and k+1.
func (s *sums) counted(k int, low, high float64) {
	s.near[k] += low
	if k+1 < Knots {
		s.near[k+1] += high
	}
}

// excess returns the mean square of the innovations over S.
func (s *sums) excess() float64 {
	if s.heard == 0 {
		return 1
	}
	return s.missed / s.heard
}
