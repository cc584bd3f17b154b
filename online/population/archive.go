package population

import "driftscope/internal/archive"

// Archive passes on the sums of a pool.
func (p *Pool) Archive(c *archive.Codec) {
	c.Floats(p.total[:])
	for i := range p.products {
		c.Floats(p.products[i][:])
	}
	c.Magnitudes(&p.tracks)
}

// Archive passes on the steps of a spectrum.
func (s *Spectrum) Archive(c *archive.Codec) {
	for i := range s.steps {
		c.Magnitudes(&s.steps[i])
	}
}

// Archive passes on the velocity; the tracks that it was made of are not part of it.
func (m *Common) Archive(c *archive.Codec) {
	c.Float(&m.X)
	c.Float(&m.Y)
	c.Magnitudes(&m.SD)
}
