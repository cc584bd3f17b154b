package population

import "driftscope/internal/kit/archive"

// Archive passes on the velocity; the tracks that it was made of are not part of it.
func (c *Common) Archive(a *archive.Codec) {
	a.Float(&c.X)
	a.Float(&c.Y)
	a.Magnitudes(&c.SD)
}
