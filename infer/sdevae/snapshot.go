package sdevae

import (
	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/network"
	"driftscope/internal/kit/archive"
)

// The methods below write the state of a training to an archive, or read it into a new job for the same clip and settings. The following steps are then the
// same to the bit.

// archive reads or writes the candidates and the running restart.
func (j *job) archive(a *archive.Codec) {
	a.Count(&j.taken, j.config.TotalSteps())
	a.Count(&j.restart, j.config.Restarts)
	a.Count(&j.finished, j.config.finalists())
	archiveLooks(a, &j.looks, j.config.TotalSteps())
	n := len(j.candidates)
	a.Count(&n, j.config.finalists())
	if !a.Writing() {
		j.candidates = make([]parked, n)
	}
	for i := range j.candidates {
		j.candidates[i].archive(a, j.config.Restarts)
	}
	working := j.current != nil
	if a.Bool(&working); working {
		j.archiveCurrent(a)
	}
	a.Require(working || n > 0 || j.restart < j.config.Restarts, "no restart is left")
}

// archiveCurrent reads or writes the running session. Before reading, it creates the session.
func (j *job) archiveCurrent(a *archive.Codec) {
	restart := 0
	if a.Writing() {
		restart = j.current.restart
	}
	a.Count(&restart, j.config.Restarts-1)
	if a.Reading() {
		var err error
		if j.current, err = newSession(j, restart); err != nil {
			a.Fail(err)
		}
	}
	if a.Err() == nil {
		j.current.archive(a)
	}
}

// parked is the archive of a waiting restart. Only the running restart has networks and a graph in memory.
type parked struct {
	restart int
	best    Look
	state   []byte
}

func (p *parked) archive(a *archive.Codec, restarts int) {
	a.Count(&p.restart, restarts-1)
	archiveLook(a, &p.best)
	a.Blob(&p.state, MaxCheckpoint)
}

// park appends the running restart to the candidates.
func (j *job) park() error {
	a := archive.NewWriter(ErrCheckpoint)
	j.current.archive(a)
	j.candidates = append(j.candidates, parked{j.current.restart, j.current.best, a.Bytes()})
	j.current.discard()
	j.current = nil
	return a.Err()
}

// resumeBest makes the first candidate the running restart, unless a restart is already running.
func (j *job) resumeBest() (err error) {
	if j.current != nil {
		return nil
	}
	first := j.candidates[0]
	if j.current, err = newSession(j, first.restart); err != nil {
		return err
	}
	a := archive.NewReader(first.state, ErrCheckpoint)
	j.current.archive(a)
	j.candidates = j.candidates[1:]
	return a.End()
}

func (s *session) archive(a *archive.Codec) {
	a.Random(s.source)
	if a.Bool(&s.reinitialising); s.reinitialising && !a.Writing() {
		s.beginReinitialised()
	}
	steps := s.job.config.Steps + max(s.job.config.ReinitSteps, 0)
	a.Count(&s.done, steps)
	archiveAdam(s.optimiser, a, s.graph.Machine.Params, steps)
	if s.q == nil {
		s.q = make([]float64, s.model.Dim)
	}
	a.BitsList(s.q)
	a.Singles(s.graph.Gain.Data().([]float32))
	s.archivePass(a)
	a.Bits(&s.sum)
	a.Count(&s.since, steps)
	a.Count(&s.stale, steps)
	archiveLook(a, &s.best)
	s.archiveWeights(a, &s.kept)
	s.archiveSleep(a)
	s.archiveWeights(a, &s.before)
	archiveLook(a, &s.beforeLook)
}

// archivePass reads or writes the session's position among the training pairs.
func (s *session) archivePass(a *archive.Codec) {
	n := len(s.permutation)
	a.Count(&n, len(s.job.train))
	a.Require(n == 0 || n == len(s.job.train), "an order of %d of %d pairs", n, len(s.job.train))
	if a.Err() != nil {
		return
	}
	if !a.Writing() {
		s.permutation = make([]int, n)
	}
	for i := range s.permutation {
		a.Count(&s.permutation[i], len(s.job.train)-1)
	}
	a.Count(&s.at, n)
}

// archiveWeights reads or writes stored weights, if there are any.
func (s *session) archiveWeights(a *archive.Codec, kept **network.Model) {
	some := *kept != nil
	if a.Bool(&some); a.Err() != nil || !some {
		return
	}
	if !a.Writing() {
		*kept = s.model.Clone()
		(*kept).EncoderStats, (*kept).DecoderStats = blank(s.model.Encoder.Stats()), blank(s.model.Decoder.Stats())
	}
	archiveModel((*kept), a)
}

// archiveSleep reads or writes the training on synthetic frames, if it has begun.
func (s *session) archiveSleep(a *archive.Codec) {
	begun := s.synthetic != nil
	if a.Bool(&begun); a.Err() != nil || !begun {
		return
	}
	if a.Require(s.kept != nil || s.job.tracked != nil, "synthetic frames before any look"); a.Reading() {
		if err := s.beginSynthetic(); err != nil {
			a.Fail(err)
		}
	}
	if a.Err() != nil {
		return
	}
	a.Count(&s.synthetic.done, s.synthetic.steps)
	archiveAdam(s.synthetic.optimiser, a, s.synthetic.graph.Machine.Params, s.synthetic.steps)
}

// archiveAdam reads or writes an optimiser and its parameters.
func archiveAdam(a *network.Adam, to *archive.Codec, params []network.Parameter, limit int) {
	to.Count(&a.Steps, limit)
	for i, p := range params {
		to.Singles(p.Weight)
		to.Singles(a.First[i])
		to.Singles(a.Second[i])
	}
}

// archiveModel reads or writes the stored parts of an evaluated model.
func archiveModel(m *network.Model, a *archive.Codec) {
	for _, w := range m.Weights() {
		a.Singles(*w)
	}
	for _, stats := range [][]dnnl.Moments{m.EncoderStats, m.DecoderStats} {
		for _, s := range stats {
			a.Singles(s.Mean)
			a.Singles(s.Var)
		}
	}
	a.BitsList(m.Drift.Weights)
}

// blank returns moments of the same shape.
func blank(like []dnnl.Moments) []dnnl.Moments {
	out := make([]dnnl.Moments, len(like))
	for i, m := range like {
		out[i] = dnnl.Moments{Mean: make([]float32, len(m.Mean)), Var: make([]float32, len(m.Var))}
	}
	return out
}

// archiveLook reads or writes a look.
func archiveLook(a *archive.Codec, l *Look) {
	const any = 1 << 31
	a.Count(&l.Restart, any)
	a.Count(&l.Step, any)
	a.Bits(&l.Loss)
	a.Bits(&l.HeldOut)
	a.Bits(&l.Explained)
}

// archiveLooks reads or writes at most limit looks.
func archiveLooks(a *archive.Codec, v *[]Look, limit int) {
	const size = 5 * 8 // bytes per look
	n := len(*v)
	a.Count(&n, limit)
	a.Require(a.Writing() || n <= len(a.Bytes())/size, "%d looks announced", n)
	if a.Err() != nil {
		return
	}
	if !a.Writing() {
		*v = make([]Look, n)
	}
	for i := range *v {
		archiveLook(a, &(*v)[i])
	}
}
