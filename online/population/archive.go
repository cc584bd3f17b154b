package population

import "driftscope/internal/kit/archive"

// Archive reads or writes the velocity, without the tracks behind it.
func (c *Common) Archive(a *archive.Codec) {
	a.Float(&c.X)
	a.Float(&c.Y)
	a.Magnitudes(&c.SD)
}
