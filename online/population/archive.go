package population

import "driftscope/internal/archive"

// Archive passes on the velocity; the tracks that it was made of are not part of it.
func (m *Common) Archive(c *archive.Codec) {
	c.Float(&m.X)
	c.Float(&m.Y)
	c.Magnitudes(&m.SD)
}
