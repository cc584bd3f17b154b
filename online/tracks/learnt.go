package tracks

import "driftscope/internal/archive"

// Learnt is what a tracker knows beside the objects that are there now: what they have in common, and which numbers were used.
type Learnt struct {
	next       uint64
	template   float64 // px
	population population
}

// Learnt is what the tracker knows now.
func (t *Tracker) Learnt() Learnt { return Learnt{t.next, t.o.Template, t.population} }

// Reserve passes over numbers that somebody else may have given since.
func (l *Learnt) Reserve(numbers uint64) { l.next += numbers }

// Inherit has the tracker go on with what another knew: its numbers, and what its objects had in common where those looked alike.
func (t *Tracker) Inherit(l Learnt) {
	t.next = max(t.next, l.next)
	const alike = 1.5 // of the templates' widths: by then another specimen, or another magnification
	if ratio := l.template / t.o.Template; ratio < alike && ratio > 1/alike {
		t.population = l.population
	}
}

// Clear ends all tracks: what comes is another film. Numbers are not used again.
func (t *Tracker) Clear() {
	t.free = append(t.free, t.live...)
	t.live, t.rivals, t.n, t.unseen = t.live[:0], t.rivals[:0], 0, 0
}

// Archive passes on what is learnt.
func (l *Learnt) Archive(c *archive.Codec) {
	c.Uint(&l.next)
	c.Magnitudes(&l.template)
	p := &l.population
	c.Magnitudes(&p.shape, &p.step, &p.directed, &p.speed, &p.starts, &p.stops, &p.detected, &p.deaths, &p.births, &p.score, &p.spread)
	n := &p.n
	c.Magnitudes(&n.frames, &n.hits, &n.gaps, &n.ends, &n.lives, &n.began, &n.squares, &n.scored, &n.logSquares, &n.logNoise, &n.logged, &n.directed, &n.moving,
		&n.starts, &n.stops, &n.diffused, &n.ran, &n.turns)
	for _, v := range []*float64{&n.scores, &n.logs} {
		c.Float(v)
	}
	c.Require(p.detected <= 1 && p.deaths <= 1 && p.directed <= 1 && p.spread > 0 && p.shape > 0 && p.step > 0, "probabilities and widths of objects that cannot be")
}
