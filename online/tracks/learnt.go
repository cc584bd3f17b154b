package tracks

import (
	"math"

	"driftscope/internal/kit/archive"
)

// Learnt is the state of a tracker besides its live objects: the common properties of the objects, and the next number.
type Learnt struct {
	next       uint64
	template   float64 // px
	population population
}

// Learnt returns the current state.
func (t *Tracker) Learnt() Learnt { return Learnt{t.next, t.o.Template, t.population} }

// Reserve skips numbers that another tracker may have used since then.
func (l *Learnt) Reserve(numbers uint64) { l.next += numbers }

// Inherit continues the numbers of another tracker, and its population if the templates are similar.
func (t *Tracker) Inherit(l Learnt) {
	t.next = max(t.next, l.next)
	const alike = 1.5 // ratio of template widths; beyond it, specimen or magnification differs
	if ratio := l.template / t.o.Template; ratio < alike && ratio > 1/alike {
		t.population = l.population
	}
}

// Clear ends all tracks before a new film. Numbers are not reused.
func (t *Tracker) Clear() {
	t.free = append(t.free, t.live...)
	t.live, t.rivals, t.n, t.unseen = t.live[:0], t.rivals[:0], 0, 0
}

// Archive reads or writes the state; without a tracker, only the next number.
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
		"impossible probabilities or widths of objects")
	p.speeds.settle()
}

// numbers lists the scalar estimates, which are never negative.
func (p *population) numbers() [12]*float64 {
	return [...]*float64{&p.shape, &p.step, &p.directed, &p.starts, &p.stops, &p.turns, &p.detected, &p.deaths, &p.births, &p.steady, &p.score, &p.spread}
}

// numbers lists the scalar sums, which are never negative.
func (n *counts) numbers() [20]*float64 {
	return [...]*float64{&n.frames, &n.found, &n.hits, &n.gaps, &n.ends, &n.lives, &n.began, &n.scores, &n.squares, &n.scored, &n.logSquares, &n.logNoise, &n.logged,
		&n.starts, &n.stops, &n.diffused, &n.ran, &n.turns, &n.firsts, &n.begins}
}
