package sdevae

import "driftscope/infer/sdevae/dnnl"

// The methods below write a training's state to an archive or read it into a job that was newly made from the same clip and
// settings, so that the steps that follow are the same bit for bit.

// archive goes through the race: the field, and the restart at work.
func (j *job) archive(a *archive) {
	a.count(&j.taken, j.config.TotalSteps())
	a.count(&j.restart, j.config.Restarts)
	a.count(&j.finished, j.config.finalists())
	a.looks(&j.looks, j.config.TotalSteps())
	n := len(j.field)
	a.count(&n, j.config.finalists())
	if !a.writing {
		j.field = make([]parked, n)
	}
	for i := range j.field {
		j.field[i].archive(a, j.config.Restarts)
	}
	working := j.current != nil
	if a.flag(&working); working {
		j.archiveCurrent(a)
	}
	a.require(working || n > 0 || j.restart < j.config.Restarts, "no restart is left")
}

// archiveCurrent makes the session first where it reads.
func (j *job) archiveCurrent(a *archive) {
	restart := 0
	if a.writing {
		restart = j.current.restart
	}
	a.count(&restart, j.config.Restarts-1)
	if !a.writing && a.err == nil {
		j.current, a.err = newSession(j, restart)
	}
	if a.err == nil {
		j.current.archive(a)
	}
}

// parked is a restart that waits, as its archive: networks and graph are in memory for the one at work alone.
type parked struct {
	restart int
	best    Look
	state   []byte
}

func (p *parked) archive(a *archive, restarts int) {
	a.count(&p.restart, restarts-1)
	a.look(&p.best)
	a.bytes(&p.state, MaxCheckpoint)
}

// park puts the restart at work at the back of the field.
func (j *job) park() error {
	a := archive{writing: true}
	j.current.archive(&a)
	j.field = append(j.field, parked{j.current.restart, j.current.best, a.buf})
	j.current.discard()
	j.current = nil
	return a.err
}

// wake puts the first of the field to work, unless one is.
func (j *job) wake() (err error) {
	if j.current != nil {
		return nil
	}
	first := j.field[0]
	if j.current, err = newSession(j, first.restart); err != nil {
		return err
	}
	a := archive{buf: first.state}
	j.current.archive(&a)
	a.require(len(a.buf) == 0, "%d bytes too many", len(a.buf))
	j.field = j.field[1:]
	return a.err
}

func (s *session) archive(a *archive) {
	a.random(s.source)
	if a.flag(&s.redrawing); s.redrawing && !a.writing {
		s.beginRedrawing()
	}
	steps := s.job.config.Steps + max(s.job.config.Redraw, 0)
	a.count(&s.done, steps)
	s.optimiser.archive(a, s.graph.machine.params, steps)
	if s.q == nil {
		s.q = make([]float64, s.model.Dim)
	}
	a.doubles(s.q)
	a.floats(s.graph.gain.Data().([]float32))
	s.archivePass(a)
	a.float(&s.sum)
	a.count(&s.since, steps)
	a.count(&s.stale, steps)
	a.look(&s.best)
	s.archiveWeights(a, &s.kept)
	s.archiveSleep(a)
	s.archiveWeights(a, &s.aside)
	a.look(&s.drew)
}

// archivePass goes through where the session stands among the training pairs.
func (s *session) archivePass(a *archive) {
	n := len(s.order)
	a.count(&n, len(s.job.train))
	a.require(n == 0 || n == len(s.job.train), "an order of %d of %d pairs", n, len(s.job.train))
	if a.err != nil {
		return
	}
	if !a.writing {
		s.order = make([]int, n)
	}
	for i := range s.order {
		a.count(&s.order[i], len(s.job.train)-1)
	}
	a.count(&s.at, n)
}

// archiveWeights goes through weights that are kept, if any are.
func (s *session) archiveWeights(a *archive, kept **Model) {
	some := *kept != nil
	if a.flag(&some); a.err != nil || !some {
		return
	}
	if !a.writing {
		*kept = s.model.clone()
		(*kept).EncoderStats, (*kept).DecoderStats = blank(s.model.Encoder.Stats()), blank(s.model.Decoder.Stats())
	}
	(*kept).archive(a)
}

// archiveSleep goes through the sleep phase, once it has begun.
func (s *session) archiveSleep(a *archive) {
	asleep := s.asleep != nil
	if a.flag(&asleep); a.err != nil || !asleep {
		return
	}
	if a.require(s.kept != nil || s.job.trail != nil, "asleep before any look"); !a.writing && a.err == nil {
		a.err = s.fallAsleep()
	}
	if a.err != nil {
		return
	}
	a.count(&s.asleep.done, s.asleep.steps)
	s.asleep.optimiser.archive(a, s.asleep.graph.machine.params, s.asleep.steps)
}

// archive goes through an optimiser and the parameters that it moves.
func (a *adam) archive(to *archive, params []parameter, limit int) {
	to.count(&a.step, limit)
	for i, p := range params {
		to.floats(p.weight)
		to.floats(a.m[i])
		to.floats(a.v[i])
	}
}

// archive goes through what a look keeps.
func (m *Model) archive(a *archive) {
	for _, w := range m.weights() {
		a.floats(*w)
	}
	for _, stats := range [][]dnnl.Moments{m.EncoderStats, m.DecoderStats} {
		for _, s := range stats {
			a.floats(s.Mean)
			a.floats(s.Var)
		}
	}
	a.doubles(m.Drift.Weights)
}

// blank is moments of the same shape.
func blank(like []dnnl.Moments) []dnnl.Moments {
	out := make([]dnnl.Moments, len(like))
	for i, m := range like {
		out[i] = dnnl.Moments{Mean: make([]float32, len(m.Mean)), Var: make([]float32, len(m.Var))}
	}
	return out
}

func (a *archive) look(l *Look) {
	const any = 1 << 31
	a.count(&l.Restart, any)
	a.count(&l.Step, any)
	a.float(&l.Loss)
	a.float(&l.HeldOut)
	a.float(&l.Explained)
}

// looks passes on at most limit looks.
func (a *archive) looks(v *[]Look, limit int) {
	const size = 5 * 8 // bytes a look
	n := len(*v)
	a.count(&n, limit)
	a.require(a.writing || n <= len(a.buf)/size, "%d looks announced", n)
	if a.err != nil {
		return
	}
	if !a.writing {
		*v = make([]Look, n)
	}
	for i := range *v {
		a.look(&(*v)[i])
	}
}
