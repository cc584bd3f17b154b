package pooled

import (
	"math"

	"driftscope/internal/kit/archive"
	"driftscope/online/states"
)

// Archive reads or writes the remembered steps in single precision, followed by the steps of live objects and the sums of the map. Reading drops a law that
// is being learnt, and learning starts again.
func (l *Learner) Archive(c *archive.Codec, live []states.Segment) {
	m := memory{pieces: l.memory.with(live)}
	n := len(m.pieces)
	c.Count(&n, mostPieces)
	if !c.Writing() {
		m.pieces = make([]states.Segment, 0, n)
	}
	total := 0
	for i := 0; i < n && c.Err() == nil; i++ {
		var s states.Segment
		if c.Writing() {
			s = m.pieces[i]
		}
		archiveSegment(c, &s)
		total += len(s.Steps)
		c.Require(total <= mostSteps+longest*mostPieces, "%d steps in pieces of tracks", total)
		if c.Reading() {
			m.pieces = append(m.pieces, s)
		}
	}
	if c.Reading() {
		l.Reset()
		for _, s := range m.pieces {
			l.Keep(s)
			l.Count(len(s.Steps))
		}
	}
	l.archiveField(c)
}

// archiveField reads or writes the size of the field and the sums of the map.
func (l *Learner) archiveField(c *archive.Codec) {
	there := l.field != nil
	c.Bool(&there)
	if !there || c.Err() != nil {
		return
	}
	var width, height float64
	moves := uint64(l.moves)
	if c.Writing() {
		width, height = l.field.Size()
	}
	c.Magnitudes(&width, &height)
	c.Uint(&moves)
	if c.Require(moves <= math.MaxInt64, "%d steps in a map", moves); c.Err() != nil {
		return
	}
	if c.Reading() {
		if err := l.Begin(width, height); err != nil {
			c.Require(false, "%v", err)
			return
		}
		l.moves = int(moves)
	}
	l.field.Archive(c)
}

func archiveSegment(c *archive.Codec, s *states.Segment) {
	n, scaled := len(s.Steps), s.Scale != nil
	c.Count(&n, longest)
	c.Bool(&scaled)
	row := make([]float32, 3*n)
	for i, step := range s.Steps {
		row[3*i], row[3*i+1], row[3*i+2] = float32(step.X), float32(step.Y), float32(step.DT)
	}
	c.Singles(row)
	scale := make([]float32, n+1)
	for i, v := range s.Scale {
		scale[i] = float32(v)
	}
	if scaled {
		c.Singles(scale)
	}
	if !c.Reading() {
		return
	}
	*s = states.Segment{Weight: 1}
	for i := range n {
		step := states.Step{X: float64(row[3*i]), Y: float64(row[3*i+1]), DT: float64(row[3*i+2])}
		c.Require(step.DT > 0, "a step of %g s", step.DT)
		s.Steps = append(s.Steps, step)
	}
	if scaled {
		for _, v := range scale {
			c.Require(v > 0, "a position with variance %g", v)
			s.Scale = append(s.Scale, float64(v))
		}
	}
}
