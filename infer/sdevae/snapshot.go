package sdevae

import (
	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/network"
)

// The methods below write the state of a training to an archive, or read it into a job that was newly made from the same clip and settings. The
// steps that follow are the same bit for bit.

// archive goes through the candidates and the restart at work.
func (j *job) archive(a *archive) {
	a.count(&j.taken, j.config.TotalSteps())
	a.count(&j.restart, j.config.Restarts)
	a.count(&j.finished, j.config.finalists())
	a.looks(&j.looks, j.config.TotalSteps())
	n := len(j.candidates)
	a.count(&n, j.config.finalists())
	if !a.writing {
		j.candidates = make([]parked, n)
	}
	for i := range j.candidates {
		j.candidates[i].archive(a, j.config.Restarts)
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

// parked is a restart that waits, as its archive: only the one at work has networks and a graph in memory.
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

// park appends the restart at work to the candidates.
func (j *job) park() error {
	a := archive{writing: true}
	j.current.archive(&a)
	j.candidates = append(j.candidates, parked{j.current.restart, j.current.best, a.buf})
	j.current.discard()
	j.current = nil
	return a.err
}

// resumeBest puts the first candidate to work, unless a restart is.
func (j *job) resumeBest() (err error) {
	if j.current != nil {
		return nil
	}
	first := j.candidates[0]
	if j.current, err = newSession(j, first.restart); err != nil {
		return err
	}
	a := archive{buf: first.state}
	j.current.archive(&a)
	a.require(len(a.buf) == 0, "%d bytes too many", len(a.buf))
	j.candidates = j.candidates[1:]
	return a.err
}

func (s *session) archive(a *archive) {
	a.random(s.source)
	if a.flag(&s.reinitialising); s.reinitialising && !a.writing {
		s.beginReinitialised()
	}
	steps := s.job.config.Steps + max(s.job.config.ReinitSteps, 0)
	a.count(&s.done, steps)
	archiveAdam(s.optimiser, a, s.graph.Machine.Params, steps)
	if s.q == nil {
		s.q = make([]float64, s.model.Dim)
	}
	a.doubles(s.q)
	a.floats(s.graph.Gain.Data().([]float32))
	s.archivePass(a)
	a.float(&s.sum)
	a.count(&s.since, steps)
	a.count(&s.stale, steps)
	a.look(&s.best)
	s.archiveWeights(a, &s.kept)
	s.archiveSleep(a)
	s.archiveWeights(a, &s.before)
	a.look(&s.beforeLook)
}

// archivePass goes through where the session stands among the training pairs.
func (s *session) archivePass(a *archive) {
	n := len(s.permutation)
	a.count(&n, len(s.job.train))
	a.require(n == 0 || n == len(s.job.train), "an order of %d of %d pairs", n, len(s.job.train))
	if a.err != nil {
		return
	}
	if !a.writing {
		s.permutation = make([]int, n)
	}
	for i := range s.permutation {
		a.count(&s.permutation[i], len(s.job.train)-1)
	}
	a.count(&s.at, n)
}

// archiveWeights goes through weights that are kept, if any are.
func (s *session) archiveWeights(a *archive, kept **network.Model) {
	some := *kept != nil
	if a.flag(&some); a.err != nil || !some {
		return
	}
	if !a.writing {
		*kept = s.model.Clone()
		(*kept).EncoderStats, (*kept).DecoderStats = blank(s.model.Encoder.Stats()), blank(s.model.Decoder.Stats())
	}
	archiveModel((*kept), a)
}

// archiveSleep goes through the training on synthetic frames, once it has begun.
func (s *session) archiveSleep(a *archive) {
	begun := s.synthetic != nil
	if a.flag(&begun); a.err != nil || !begun {
		return
	}
	if a.require(s.kept != nil || s.job.tracked != nil, "synthetic frames before any look"); !a.writing && a.err == nil {
		a.err = s.beginSynthetic()
	}
	if a.err != nil {
		return
	}
	a.count(&s.synthetic.done, s.synthetic.steps)
	archiveAdam(s.synthetic.optimiser, a, s.synthetic.graph.Machine.Params, s.synthetic.steps)
}

// archiveAdam goes through an optimiser and the parameters that it moves.
func archiveAdam(a *network.Adam, to *archive, params []network.Parameter, limit int) {
	to.count(&a.Steps, limit)
	for i, p := range params {
		to.floats(p.Weight)
		to.floats(a.First[i])
		to.floats(a.Second[i])
	}
}

// archiveModel goes through what a look keeps.
func archiveModel(m *network.Model, a *archive) {
	for _, w := range m.Weights() {
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
