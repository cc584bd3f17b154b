package switching

import (
	"math"

	"driftscope/internal/kit/archive"
)

// Archive reads or writes the learnt rates of the states. A restored model must have the same number of states. Tracks are not included.
func (m *Model) Archive(c *archive.Codec) {
	c.Expect("number of states", uint64(m.states))
	c.Floats(m.config.D)
	c.Magnitudes(&m.config.Noise, &m.steps)
	c.Floats(m.versus[:])
	c.Count(&m.harvests, math.MaxInt)
	for i := range m.states {
		c.Magnitudes(&m.stayed[i])
		for j := range m.states {
			c.Magnitudes(&m.switched[i][j])
		}
	}
	if c.Require(m.check() == nil, "states of D %v px²/s", m.config.D); c.Reading() {
		m.level()
		m.refresh()
	}
}
