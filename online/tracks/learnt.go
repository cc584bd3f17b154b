package tracks

import (
	"math"

	"driftscope/internal/kit/archive"
)

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

// Archive passes on what is learnt: the numbers alone where no tracker ran.
func (l *Learnt) Archive(c *archive.Codec) {
	c.Uint(&l.next)
	if c.Magnitudes(&l.template); l.template == 0 {
		return
	}
	p := &l.population
	if c.Reading() {
		p.speeds = newSpeeds(l.template)
	}
	n := &p.n
	for _, v := range p.numbers() {
		c.Magnitudes(v)
	}
	for _, v := range n.numbers() {
		c.Magnitudes(v)
	}
	for i := range p.turning {
		c.Magnitudes(&p.turning[i], &n.turning[i])
	}
	for i := range p.speeds.count {
		c.Magnitudes(&p.speeds.count[i])
	}
	c.Float(&n.logs)
	sum := 0.0
	for _, v := range p.turning {
		sum += v
	}
	c.Require(max(p.detected, p.deaths, p.directed, p.starts, p.stops+p.turns) <= 1 && math.Abs(sum-1) < 1e-6 && p.spread > 0 && p.shape > 0 && p.step > 0,
		"probabilities and widths of objects that cannot be")
	p.speeds.settle()
}

// numbers are the estimates that are one number each, none of them negative.
func (p *population) numbers() [12]*float64 {
	return [...]*float64{&p.shape, &p.step, &p.directed, &p.starts, &p.stops, &p.turns, &p.detected, &p.deaths, &p.births, &p.steady, &p.score, &p.spread}
}

// numbers are the sums that are one number each and none of them negative.
func (n *counts) numbers() [20]*float64 {
	return [...]*float64{&n.frames, &n.found, &n.hits, &n.gaps, &n.ends, &n.lives, &n.began, &n.scores, &n.squares, &n.scored, &n.logSquares, &n.logNoise, &n.logged,
		&n.starts, &n.stops, &n.diffused, &n.ran, &n.turns, &n.firsts, &n.begins}
}
