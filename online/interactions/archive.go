package interactions

import "driftscope/internal/kit/archive"

// Archive reads or writes the learnt sums with their picture size and reach, but without the objects.
func (e *Estimator) Archive(c *archive.Codec) {
	c.ExpectFloat("picture's width, px,", e.config.Width)
	c.ExpectFloat("picture's height, px,", e.config.Height)
	c.ExpectFloat("reach of a force, px,", e.config.Reach)
	c.Expect("number of knots", Knots)
	l, s := &e.law, &e.sums
	c.Magnitudes(&l.squares, &l.steps, &l.seconds, &l.pairs, &l.variances, &s.heard, &s.missed, &s.shown, &s.ideal)
	c.Float(&l.crossed)
	c.Floats(s.spread[:])
	c.Floats(s.response[:])
	c.Floats(s.pull[:])
	for k := range s.near {
		c.Magnitudes(&s.near[k])
	}
	c.Floats(e.known[:])
	c.Uint(&e.frame)
}
