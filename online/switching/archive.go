package switching

import (
	"math"

	"driftscope/internal/kit/archive"
)

// Archive passes on what was learnt of the states; their number is what it may only be restored under. The tracks are not part of it.
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
