package online

import (
	"errors"
	"fmt"
	"math"
	"time"

	"driftscope/internal/latent"
)

// ErrTimeOrder is what Update returns for a latent that was not taken later than the one before it in its trajectory.
var ErrTimeOrder = errors.New("acquisition times must increase")

// ErrLatent is what Update returns for a latent that no law can be fitted to: of another dimension, not finite, or absurdly large.
var ErrLatent = errors.New("unusable latent")

// A slice begins when this many latents are new, or this part of the memory.
const (
	firstSlice = 50
	sliceShare = 16
)

// maxLatent bounds |z|: beyond it sums of squares lose their meaning. Trained latents are of order one.
const maxLatent = 1e9

// Refinement says how far the drift has been refined.
type Refinement struct {
	Revision uint64 // slices applied so far; 0 is the model's own drift
	Frame    uint64 // Seq of the frame at which the last one was applied
	Changes  uint64 // changes of the drift found so far; what came before the last one is forgotten
	Failed   uint64 // slices whose sums were beyond floating point
	Unused   uint64 // latents never offered to refinement, because slices came back too late for memory to hold them
}

// Estimator folds latents into the law of motion, doc.go. Its methods are called from one goroutine.
type Estimator struct {
	config  Config
	refiner *refiner
	law
	frozen bool

	profile   profile
	mu, jac   []float64 // working memory, d and d×d
	linearise []float64 // working memory, d: where the drift is linearised
}

// law is what an Estimator has learnt, all that a checkpoint holds beside the learner.
type law struct {
	frame      uint64 // latents taken
	linked     bool   // the last latent may be paired with the next
	trajectory uint64
	time       time.Time

	banks   []*bank
	found   []diffusion // at the last refresh
	n       float64     // transitions then
	seconds float64     // their time
	sde     latent.SDE
	units   *calibration

	field      *field
	refinement Refinement
	pending    *track // since the last hand-over
	lent       *track // to the running slice, with what was found of the dimensions
	lentFound  []diffusion
	lentActive []latent.Activity
	broken     bool   // latents after pending's last are missing
	inFlight   bool   // a slice has been begun and not applied
	due        uint64 // the frame at which it is to be applied
}

// New gives an estimator that has seen nothing. Its drift is c.Prior's, or zero. Close frees it.
func New(c Config) (*Estimator, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	l, learner := begin(c)
	return &Estimator{
		config: c, law: l, refiner: newRefiner(learner), linearise: make([]float64, c.Dim),
		mu: make([]float64, c.Dim), jac: make([]float64, c.Dim*c.Dim),
	}, nil
}

// begin is the state before the first latent.
func begin(c Config) (law, *learner) {
	learner := newLearner(c.Prior, c.Dim, c.Replay, c.Seed)
	l := law{
		found: make([]diffusion, c.Dim), lentFound: make([]diffusion, c.Dim), lentActive: make([]latent.Activity, c.Dim),
		units: newCalibration(c), field: newField(c.Prior, learner.added), pending: newTrack(c.Dim, c.Replay), lent: newTrack(c.Dim, c.Replay),
	}
	psi := psiGrid()
	for range c.Dim {
		l.banks = append(l.banks, newBank(psi, c.Forget))
	}
	l.describe()
	return l, learner
}

// Update folds z in and writes the estimate at z into dst, reusing dst's memory: z itself, the drift at z.Mean by the current
// weights, and the SDE as of the last refresh. z pairs with the latent before it when both are of one trajectory and at most
// MaxGap apart; Δt comes from their times. Update keeps no reference to z.
//
// It returns ErrLatent, having changed nothing, or ErrTimeOrder, having cut the trajectory, so that one bad clock reading
// costs one increment; dst is then unspecified.
func (e *Estimator) Update(dst *latent.Estimate, z *latent.Latent) error {
	if err := e.check(z); err != nil {
		return err
	}
	dt, err := e.advance(z)
	if err != nil {
		return err
	}
	e.frame++
	if !e.frozen {
		e.apply(z.Seq)
		e.fold(z.Mean, dt)
		e.units.add(z.Centroid, z.Mean, dt)
		e.handOver()
		if e.frame%e.config.Refresh == 0 {
			e.refresh()
		}
	}
	dst.Latent.Copy(z)
	dst.Drift = latent.Resize(dst.Drift, e.config.Dim)
	e.field.drift(dst.Drift, z.Mean)
	dst.SDE.Copy(&e.sde)
	return nil
}

// Freeze keeps the law as it stands (true), or lets it learn again (false). Frozen frames form no increments.
func (e *Estimator) Freeze(frozen bool) {
	e.frozen = frozen
	e.linked = false
}

// Reset forgets all that was learnt, as before the first Update; only SDE.Revision goes on growing. A frozen estimator stays frozen.
func (e *Estimator) Reset() {
	l, learner := begin(e.config)
	l.sde.Revision = e.sde.Revision
	e.refiner.idle(true)
	e.law, e.refiner.learner = l, learner
}

// Drift writes the published drift at z into dst, latent/s. Both have Dim entries.
func (e *Estimator) Drift(dst, z []float64) { e.field.drift(dst, z) }

// Refinement says how far the drift has been refined.
func (e *Estimator) Refinement() Refinement { return e.refinement }

// Close ends refinement, after the slice that is running. The estimator is not used again, but for Refinement and Close.
func (e *Estimator) Close() error {
	e.refiner.close()
	return nil
}

// check refuses latents that no law can be fitted to.
func (e *Estimator) check(z *latent.Latent) error {
	if len(z.Mean) != e.config.Dim {
		return fmt.Errorf("frame %d: %w: %d dimensions, expected %d: use the encoder that the estimator was made for", z.Seq, ErrLatent, len(z.Mean), e.config.Dim)
	}
	for i, v := range z.Mean {
		if !(math.Abs(v) <= maxLatent) {
			return fmt.Errorf("frame %d: %w: coordinate %d is %g, expected a number within ±%g: check the picture and the preprocessing", z.Seq, ErrLatent, i, v, maxLatent)
		}
	}
	return nil
}

// advance moves the clock to z and gives the time since the latent that z pairs with, 0 where there is none.
func (e *Estimator) advance(z *latent.Latent) (dt float64, err error) {
	same, before := e.linked && z.Trajectory == e.trajectory, e.time
	e.trajectory, e.time, e.linked = z.Trajectory, z.Time, !e.frozen
	if !same {
		return 0, nil
	}
	gap := z.Time.Sub(before)
	if gap <= 0 {
		e.linked = false
		return 0, fmt.Errorf("frame %d: %w: taken at %s, %v before the previous frame: check the source's clock", z.Seq, ErrTimeOrder, z.Time.Format(time.RFC3339Nano), -gap)
	}
	if e.config.MaxGap > 0 && gap > e.config.MaxGap {
		return 0, nil
	}
	return gap.Seconds(), nil
}

// fold takes in m, dt after the last latent, or as the beginning of a trajectory where dt is 0.
func (e *Estimator) fold(m []float64, dt float64) {
	if dt > 0 {
		e.learn(m, dt)
	} else {
		for i, b := range e.banks {
			b.start(m[i])
		}
	}
	e.remember(m, dt)
}

// learn folds in the transition from the last latent to m.
func (e *Estimator) learn(m []float64, dt float64) {
	centre := e.linearise
	for i, b := range e.banks {
		centre[i] = b.z[b.best]
	}
	e.field.linearise(e.mu, e.jac, centre)
	for i, b := range e.banks {
		b.step(m[i], dt, e.mu[i], e.jac[i*len(m)+i], centre[i])
	}
}

// remember sets m aside for refinement.
func (e *Estimator) remember(m []float64, dt float64) {
	if e.pending.room() == 0 {
		e.refinement.Unused++
		e.broken = true
		return
	}
	if e.broken {
		dt = 0
	}
	e.pending.add(m, dt)
	e.broken = false
}

// apply publishes the drift of the slice that is due.
func (e *Estimator) apply(seq uint64) {
	if !e.inFlight || !e.ripe(seq) {
		return
	}
	l := e.refiner.learner
	e.field.added = l.added
	e.inFlight = false
	e.refinement.Revision++
	e.refinement.Frame, e.refinement.Changes, e.refinement.Failed = seq, l.changes, l.failed
	e.sde.DriftRevision, e.sde.DriftFrame, e.sde.Field = e.refinement.Revision, seq, l.field
}

// ripe says whether the slice that is out is to be put to use at this frame.
func (e *Estimator) ripe(seq uint64) bool {
	if next := e.refinement.Revision; next < uint64(len(e.config.Applied)) {
		return seq >= e.config.Applied[next] && e.refiner.idle(true)
	}
	return e.frame >= e.due && e.refiner.idle(e.config.Deterministic)
}

// handOver begins a slice on what has been set aside, once that is enough to be worth it: a slice takes as long as the memory is.
func (e *Estimator) handOver() {
	if e.inFlight || e.n == 0 || e.pending.len() < max(firstSlice, e.refiner.learner.memory.len()/sliceShare) {
		return
	}
	e.pending, e.lent = e.lent, e.pending
	e.pending.clear()
	e.broken = false
	copy(e.lentFound, e.found)
	copy(e.lentActive, e.sde.Activity)
	e.refiner.begin(job{in: e.lent, found: e.lentFound, activity: e.lentActive})
	e.inFlight, e.due = true, e.frame+e.config.RefineLag
}

// refresh renews the SDE's figures.
func (e *Estimator) refresh() {
	if e.banks[0].n < leastFigures-0.5 {
		return
	}
	for i, b := range e.banks {
		e.found[i] = e.profile.figures(b)
	}
	e.n, e.seconds = e.banks[0].n, e.banks[0].seconds
	e.sde.Revision++
	e.describe()
	e.units.solve(e.found, e.sde.Activity)
	e.units.describe(&e.sde.Units)
}

// describe writes what was found into the SDE.
func (l *law) describe() {
	s, d := &l.sde, len(l.found)
	s.Transitions, s.Seconds = uint64(math.Round(l.n)), l.seconds
	s.Sigma, s.SigmaLow, s.SigmaHigh = latent.Resize(s.Sigma, d), latent.Resize(s.SigmaLow, d), latent.Resize(s.SigmaHigh, d)
	s.Diffusion, s.Noise = latent.Resize(s.Diffusion, d), latent.Resize(s.Noise, d)
	if len(s.Activity) != d {
		s.Activity = make([]latent.Activity, d)
	}
	s.CRLB = 0
	for i, f := range l.found {
		s.Sigma[i], s.SigmaLow[i], s.SigmaHigh[i] = math.Sqrt(f.v), math.Sqrt(f.low), math.Sqrt(f.high)
		s.Diffusion[i], s.Noise[i] = f.v/2, math.Sqrt(f.noise)
		if l.seconds > 0 {
			s.CRLB += f.v / l.seconds
		}
	}
	s.ActiveCount = decide(s.Activity, l.found, l.n)
}
