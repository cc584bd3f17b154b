package maps

import "driftscope/internal/archive"

// Archive passes on the sums of a map of this field.
func (m *Map) Archive(c *archive.Codec) {
	c.ExpectFloat("width of the field", m.config.Width)
	c.ExpectFloat("height of the field", m.config.Height)
	c.Magnitudes(&m.gain, &m.outside)
	c.Require(m.gain >= 1, "a gain is %g", m.gain)
	for i := range m.cells {
		m.cells[i].archive(c)
	}
}

// archive passes on the sums of a cell. One that has seen nothing is one number.
func (s *cell) archive(c *archive.Codec) {
	c.Magnitudes(&s.steps)
	if s.steps == 0 {
		return
	}
	for i := range s.time {
		c.Magnitudes(&s.time[i])
	}
	for i := range s.moved {
		c.Floats(s.moved[i][:])
	}
	c.Magnitudes(&s.squares, &s.second, &s.pairs, &s.located)
	c.Float(&s.crossed)
	c.Require(s.squares > 0 && s.time[0] > 0, "%g steps have squares of %g and took %g s", s.steps, s.squares, s.time[0])
}
