// Refinement
//
// Learner relearns the drift from remembered latents, outside the frame path.
//
//	learner.go   Learner: the state between slices; After runs a slice
//	worker.go    Worker: runs and cancels slices outside the frame path
//	grid.go      the drift on a grid, with its standard errors, for display
//
// A slice is one regression relative to the model's own drift, over all remembered latents. It learns the correction, which is zero without evidence. A
// correct model loses little, and a wrong model is corrected. A slice begins when a sixteenth of the memory is new, which bounds the cost per frame. T in the
// τ² of the regression is the longest time that the memory has ever covered. The network starts from the last slice's weights.
//
// Every slice tests whether the drift has changed, (13) at the odds max(200, A/F), with F frames since the last test. So one change in A frames,
// Config.AlarmFrames, may be false. Latents before a change are forgotten.
//
// A slice also computes the banks of online/diffusion as if its drift had been known for the whole memory. When the drift is applied, these banks replace the
// current ones, after they have learnt from the latents since the slice began.
//
// A Learner is immutable, so the law can be saved, reset and restored while a slice runs. A cancelled slice ends soon, and its result is dropped. In a live
// run the worker's thread yields to the frame path, and after a slice it pauses for nine times the slice's processor time (system.Worker). So refinement uses
// at most a tenth of one core.

package regression

import (
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/floats"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

// leastOdds is the smallest ratio of evidence at which a change of the drift is believed. A priori a change is as likely as none.
const leastOdds = 200

// Config configures a Learner.
type Config struct {
	Dim         int
	Replay      int            // number of transitions remembered
	Seed        uint64         // seed of the networks
	AlarmFrames float64        // least mean number of frames between false changes of the drift
	Prior       *drift.Network // the model's own drift, nil without one; read only
	Forget      float64        // γ of the banks; 0 means 1, which forgets nothing
	Exposure    time.Duration  // exposure of a frame
}

// Learner is the state that one slice of refinement passes to the next. It is immutable, so readers never wait for a slice.
type Learner struct {
	prior      *drift.Network
	alarms     float64 // least mean number of frames between false changes
	seed       uint64
	memory     *diffusion.Track
	buffer     *diffusion.Track  // memory of the next Learner
	longest    float64           // longest time that memory has covered, s
	before     *diffusion.Banks  // banks of all latents up to memory's first, each with the drift in use when it left memory; immutable
	banks      *diffusion.Banks  // banks of all latents up to memory's last; latents in memory use this slice's drift; replaced at every slice
	correction *drift.Correction // correction of prior; replaced at every slice
	field      *latent.Field     // the drift on a grid, nil if nothing moves
	nonlinear  *drift.Network    // nonlinear part of the correction, from Posterior.Network; nil at first
	hidden     float64           // likelihood ratio of a coordinate that the latents do not show
	changes    uint64            // changes of the drift found so far
	failed     uint64            // slices with numbers that were not finite or exceeded a network's bounds; they left the drift unchanged
}

// Job is the input of a slice: new latents, and the known properties of the dimensions. The caller must not change them until the slice ends.
type Job struct {
	In       *diffusion.Track
	Found    []diffusion.Estimate
	Activity []latent.Activity
	cancel   *drift.Cancel
}

// NewLearner returns a Learner with an empty memory.
func NewLearner(c Config) *Learner {
	if c.Forget == 0 {
		c.Forget = 1
	}
	return &Learner{
		before: diffusion.NewBanks(c.Dim, c.Forget, c.Exposure),
		prior:  c.Prior, alarms: c.AlarmFrames, seed: c.Seed, memory: diffusion.NewTrack(c.Dim, c.Replay+1), buffer: diffusion.NewTrack(c.Dim, c.Replay+1),
		correction: drift.NoCorrection(c.Dim),
	}
}

// Correction returns the difference between the drift and the model's own drift.
func (l *Learner) Correction() *drift.Correction { return l.correction }

// Field returns the drift on a grid, nil if nothing moves.
func (l *Learner) Field() *latent.Field { return l.field }

// Hidden returns the likelihood ratio of a coordinate that the latents do not show.
func (l *Learner) Hidden() float64 { return l.hidden }

// Changes returns the number of changes of the drift found so far.
func (l *Learner) Changes() uint64 { return l.changes }

// Failed returns the number of slices that left the drift unchanged because numbers were out of bounds.
func (l *Learner) Failed() uint64 { return l.failed }

// After runs a slice and returns its Learner. It adds the new latents, forgets latents before the drift last changed, and relearns the correction from the
// rest. Only one slice at a time may start from l, and no slice once another has started from the returned Learner.
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

// take adds new latents to memory and extends l.before up to memory's new first latent.
func (l *Learner) take(in *diffusion.Track) {
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

// giveUp forgets the first n latents of memory. l.before learns their transitions with the drift in use.
func (l *Learner) giveUp(n int) {
	if n == 0 {
		return
	}
	l.before = l.before.Clone()
	l.before.Follow(l.memory, 1, min(1+n, l.memory.Len()), drift.NewField(l.prior, l.correction), drift.NewTangent(l.memory.Dim()))
	l.memory.Drop(n)
}

// Banks returns the banks of all latents, as if this slice's drift had been known for the whole memory. The caller must not change them.
func (l *Learner) Banks() *diffusion.Banks { return l.banks }

// slice learns from memory, whose latest latents are j.In.
func (l *Learner) slice(j Job) {
	w := NewWhitener(j.Found, j.Activity, l.prior)
	p, hidden := NewPosterior(w, l.memory.Dim(), j.cancel), 0.0
	if len(w.Active()) > 0 {
		s := w.Steps(l.memory)
		if s.Len() < 2 { // with fewer than two transitions the scale is unknown: the drift stays
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

// learn fits p to the steps of memory since the last change of the drift that is believed at the given odds, and forgets the steps before it. It returns the
// steps used.
func (l *Learner) learn(p *Posterior, s *Steps, odds float64) (*Steps, error) {
	l.longest = max(l.longest, floats.Sum(l.memory.DT()))
	s.PartOf(l.longest)
	at, s, err := p.LearnSinceChange(s, odds)
	if at > 0 {
		l.giveUp(l.memory.Began(at))
		l.changes++
	}
	return s, err
}

// Archive reads or writes the state that a slice starts from.
func (l *Learner) Archive(a *archive.Codec) {
	l.memory.Archive(a)
	if l.memory.Len() > 0 {
		a.Require(l.memory.DT()[0] == 0, "the first latent of the memory is %g s after an earlier latent", l.memory.DT()[0])
	}
	a.Magnitudes(&l.longest)
	before := l.before.Clone() // a slice may be reading l.before, and Archive recomputes values that are not stored
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
	a.Require(dim <= uint64(l.memory.Dim()), "a network of %d dimensions for %d latents", dim, l.memory.Dim())
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
