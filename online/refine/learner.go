package refine

import (
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/floats"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/regression"
	"driftscope/online/trajectory"
)

// leastOdds are those of a change of the drift against none at which it is believed, at the very least; a priori there is one somewhere or
// none, as likely.
const leastOdds = 200

// Config is what a Learner is made from.
type Config struct {
	Dim         int
	Replay      int            // transitions remembered
	Seed        uint64         // of the networks
	AlarmFrames float64        // frames between false changes of the drift, at least
	Prior       *drift.Network // the model's own drift, nil for none; never written
	Forget      float64        // γ of the banks; 0: 1, none is forgotten
	Exposure    time.Duration  // of a frame
}

// Learner is what one slice of refinement leaves to the next. It is not written after, so that reading it waits for no slice.
type Learner struct {
	prior      *drift.Network
	alarms     float64 // frames between false changes
	seed       uint64
	memory     *trajectory.Track
	buffer     *trajectory.Track // the next one's memory is made here; not used otherwise
	longest    float64           // s, that memory has been
	before     *diffusion.Banks  // of all latents up to memory's first, each about the drift that was in use when memory gave it up; replaced, never written
	banks      *diffusion.Banks  // of all latents up to memory's last, those in memory about the drift of this slice; replaced at every slice
	correction *drift.Correction // of prior, replaced at every slice
	field      *latent.Field     // the drift laid out, nil where nothing moves
	nonlinear  *drift.Network    // that part of the correction, as Posterior.Network gives it; nil at first
	hidden     float64           // likelihood ratio of a coordinate that the latents do not show
	changes    uint64            // of the drift found so far; what came before one is forgotten
	failed     uint64            // slices whose numbers were beyond floating point, or a network's bounds; they leave the drift as it was
}

// Job is one slice of work: new latents to take in, and what was found of the dimensions. All are lent, to be read only, until it is done.
type Job struct {
	In       *trajectory.Track
	Found    []diffusion.Estimate
	Activity []latent.Activity
	cancel   *drift.Cancel
}

// NewLearner remembers nothing yet.
func NewLearner(c Config) *Learner {
	if c.Forget == 0 {
		c.Forget = 1
	}
	return &Learner{
		before: diffusion.NewBanks(c.Dim, c.Forget, c.Exposure),
		prior:  c.Prior, alarms: c.AlarmFrames, seed: c.Seed, memory: trajectory.NewTrack(c.Dim, c.Replay+1), buffer: trajectory.NewTrack(c.Dim, c.Replay+1),
		correction: drift.NoCorrection(c.Dim),
	}
}

// Correction is what the drift is beyond the model's own.
func (l *Learner) Correction() *drift.Correction { return l.correction }

// Field is the drift laid out, nil where nothing moves.
func (l *Learner) Field() *latent.Field { return l.field }

// Hidden is the likelihood ratio of a coordinate that the latents do not show.
func (l *Learner) Hidden() float64 { return l.hidden }

// Changes counts the changes of the drift found so far.
func (l *Learner) Changes() uint64 { return l.changes }

// Failed counts the slices that left the drift as it was, because numbers were out of bounds.
func (l *Learner) Failed() uint64 { return l.failed }

// After is the learner that has taken in what is new, forgotten what came before the drift last changed, and learnt anew from all that is
// left what the drift is beyond the model's own. One slice at a time begins from l, and none once one begins from what it gave.
func (l *Learner) After(j Job) *Learner {
	next := *l
	next.memory, next.buffer = l.buffer, l.memory
	next.memory.Copy(l.memory)
	next.take(j.In)
	next.slice(j)
	next.banks = next.before.Clone()
	next.banks.Follow(next.memory, 1, next.memory.Len(), drift.NewField(l.prior, next.correction), drift.NewTangent(l.memory.Dim()))
	return &next
}

// take has memory take in what is new. The banks before it go on to its first latent.
func (l *Learner) take(in *trajectory.Track) {
	before := l.memory.Len()
	l.giveUp(max(0, in.Len()-l.memory.Room()))
	if l.memory.Len() == 0 && in.Len() > 0 {
		l.before = l.before.Clone()
		if before == 0 {
			l.before.Start(in.Row(0))
		} else {
			l.before.Follow(in, 0, 1, drift.NewField(l.prior, l.correction), drift.NewTangent(in.Dim()))
		}
	}
	l.memory.Take(in)
}

// giveUp forgets the first n latents of memory. Their transitions stay in the banks as the drift in use has them.
func (l *Learner) giveUp(n int) {
	if n == 0 {
		return
	}
	l.before = l.before.Clone()
	l.before.Follow(l.memory, 1, min(1+n, l.memory.Len()), drift.NewField(l.prior, l.correction), drift.NewTangent(l.memory.Dim()))
	l.memory.Drop(n)
}

// Banks are those of all latents taken in, as if the drift of this slice had been in use as long as memory reaches. They are lent, to be read only.
func (l *Learner) Banks() *diffusion.Banks { return l.banks }

// slice learns from what memory holds, of which j.In are the latest.
func (l *Learner) slice(j Job) {
	w := regression.NewWhitener(j.Found, j.Activity, l.prior)
	p, hidden := regression.NewPosterior(w, l.memory.Dim(), j.cancel), 0.0
	if len(w.Active()) > 0 {
		s := w.Steps(l.memory)
		if s.Len() < 2 { // latents that each began a trajectory have no scale: the drift stays as it was
			return
		}
		s, err := l.learn(p, s, max(leastOdds, l.alarms/float64(j.In.Len())))
		if err != nil {
			l.failed++
			return
		}
		hidden = p.Hidden(s)
	}
	n, nonlinear := p.Network(l.memory, l.nonlinear, l.seed)
	if n.Validate() != nil {
		l.nonlinear = nil
		l.failed++
		return
	}
	low, high := l.memory.Box()
	l.correction, l.nonlinear, l.hidden = &drift.Correction{Network: n, Low: low, High: high, Affine: nonlinear == nil}, nonlinear, hidden
	l.field = layOut(p, l.memory, drift.NewField(l.prior, l.correction), rand.New(rand.NewPCG(l.seed, 4)))
}

// learn has p learn from those steps of memory since the drift last changed, which it believes at these odds, and forgets the rest. It
// returns the steps that p was learnt from.
func (l *Learner) learn(p *regression.Posterior, s *regression.Steps, odds float64) (*regression.Steps, error) {
	l.longest = max(l.longest, floats.Sum(l.memory.DT()))
	s.PartOf(l.longest)
	at, s, err := p.LearnSinceChange(s, odds)
	if at > 0 {
		l.giveUp(l.memory.Began(at))
		l.changes++
	}
	return s, err
}

// Archive passes on what a slice begins from.
func (l *Learner) Archive(a *archive.Codec) {
	l.memory.Archive(a)
	if l.memory.Len() > 0 {
		a.Require(l.memory.DT()[0] == 0, "a memory that begins %g s after nothing", l.memory.DT()[0])
	}
	a.Magnitudes(&l.longest)
	before := l.before.Clone() // a slice may be reading it, and Archive derives what is not kept anew
	before.Archive(a, make([]latent.Activity, l.memory.Dim()))
	if a.Reading() {
		l.before = before
	}
	l.correction = l.correction.Archive(a)
	l.field = ArchiveField(a, l.field, l.memory.Dim())
	dim := uint64(0)
	if l.nonlinear != nil {
		dim = uint64(l.nonlinear.Dim)
	}
	a.Uint(&dim)
	a.Require(dim <= uint64(l.memory.Dim()), "%d dimensions of a network for %d", dim, l.memory.Dim())
	if dim > 0 && a.Err() == nil {
		if l.nonlinear == nil {
			l.nonlinear = drift.NewNetwork(int(dim), rand.New(rand.NewPCG(0, 0)))
		}
		l.nonlinear = l.nonlinear.Archive(a)
	}
	a.Magnitudes(&l.hidden)
	a.Uint(&l.seed)
	a.Uint(&l.changes)
	a.Uint(&l.failed)
}
