package maps

import "driftscope/internal/kit/archive"

// Archive reads or writes the sums of a map of this field.
func (m *Map) Archive(c *archive.Codec) {
	c.ExpectFloat("width of the field", m.config.Width)
	c.ExpectFloat("height of the field", m.config.Height)
	c.Magnitudes(&m.gain, &m.outside)
	c.Require(m.gain >= 1, "a gain is %g", m.gain)
	for i := range m.cells {
		m.cells[i].archive(c)
	}
}

// archive reads or writes the sums of a cell. An empty cell takes one number.
func (c *cell) archive(a *archive.Codec) {
	a.Magnitudes(&c.steps)
	if c.steps == 0 {
		return
	}
	for i := range c.time {
		a.Magnitudes(&c.time[i])
	}
	for i := range c.moved {
		a.Floats(c.moved[i][:])
	}
	a.Magnitudes(&c.squares, &c.second, &c.pairs, &c.located)
	a.Float(&c.crossed)
	a.Require(c.squares > 0 && c.time[0] > 0, "%g steps with squares of %g in %g s", c.steps, c.squares, c.time[0])
}
