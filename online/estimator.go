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

// maxLatent bounds |z|: beyond it sums of squares lose their meaning. Trained latents are of order one.
const maxLatent = 1e9

// Estimator folds latents into the law of motion, doc.go. Its methods are called from one goroutine.
type Estimator struct {
	config     Config
	refiner    *refiner
	forecaster *forecaster
	law
	frozen bool

	profile profile
}

// law is what an Estimator has learnt, all that a checkpoint holds beside the learner from which the slice that is out began.
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

	linearise []float64 // where the drift is linearised
	mu, jac   []float64 // the drift there, and its Jacobian as it was last found, d×d
	turned    uint64    // frames for which they were wanted
	filter    *kalman
	alarms    *alarms

	field      *field
	refinement Refinement
	pending    *track // since the last hand-over
	lent       *track // to the slice that is out, with what was found of the dimensions
	lentFound  []diffusion
	lentActive []latent.Activity
	broken     bool   // latents after pending's last are missing
	inFlight   bool   // a slice is out: it has been begun and not applied
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
		config: c, law: l, refiner: newRefiner(learner, !c.Deterministic && c.Applied == nil), forecaster: newForecaster(c.Dim, c.Forecast),
	}, nil
}

// begin is the state before the first latent.
func begin(c Config) (law, *learner) {
	learner := newLearner(c)
	l := law{
		found: make([]diffusion, c.Dim), lentFound: make([]diffusion, c.Dim), lentActive: make([]latent.Activity, c.Dim),
		linearise: make([]float64, c.Dim), mu: make([]float64, c.Dim), jac: make([]float64, c.Dim*c.Dim),
		filter: newKalman(c.Dim), alarms: newAlarms(c), units: newCalibration(c),
		field: newField(c.Prior, learner.added), pending: newTrack(c.Dim, c.Replay), lent: newTrack(c.Dim, c.Replay),
	}
	psi := psiGrid()
	for range c.Dim {
		b := newBank(psi, c.Forget)
		b.expose(c.Exposure.Seconds())
		l.banks = append(l.banks, b)
	}
	l.describe()
	return l, learner
}

// Update folds z in and writes the estimate at z into dst, reusing dst's memory: z itself, z filtered and forecast, the drift at z.Mean
// by the current weights, and the SDE as of the last refresh. z pairs with the latent before it when both are of one trajectory and at
// most MaxGap apart; Δt comes from their times. Update keeps no reference to z. A frame unlike the others is counted in SDE.Held and not
// learnt from; what Alarms tells may have changed.
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
		e.take(z, dt)
		e.handOver()
		if e.frame%e.config.Refresh == 0 {
			e.refresh()
		}
	} else {
		e.alarms.frames.look(z.Mean, z.SD)
		e.filter.start(z.Mean, z.SD, e.found, e.n > 0)
	}
	e.alarms.shine(z.Light)
	e.alarms.ring(z)
	e.sde.TooFew = e.alarms.on[tooFewDimensions]
	e.report(dst, z)
	return nil
}

// Freeze keeps the law as it stands (true), or lets it learn again (false). Frozen frames form no increments, and are judged by the training
// latents alone: alarms about them begin and end, those about the law stay as they are.
func (e *Estimator) Freeze(frozen bool) {
	e.frozen = frozen
	e.linked = false
}

// Reset forgets all that was learnt, as before the first Update; only SDE.Revision goes on growing, and the alarms that were on are over
// when there is no cause for them. A frozen estimator stays frozen. A slice of refinement that is under way is not waited for but dropped.
func (e *Estimator) Reset() {
	l, learner := begin(e.config)
	l.sde.Revision, l.alarms.on, l.alarms.told = e.sde.Revision, e.alarms.on, e.alarms.told
	e.law = l
	e.refiner.replace(learner)
}

// Drift writes the published drift at z into dst, latent/s. Both have Dim entries.
func (e *Estimator) Drift(dst, z []float64) { e.field.drift(dst, z) }

// Close ends refinement, once a slice that is running has ended. The estimator is not used again, but for Refinement and Close.
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
		e.tangent()
		e.learn(m, dt)
	} else {
		e.restart(m)
	}
}

// restart begins a trajectory at m.
func (e *Estimator) restart(m []float64) {
	for i, b := range e.banks {
		b.start(m[i])
	}
	e.turned = 0
	e.remember(m, 0)
}

// tangent linearises the drift at the banks' filtered latent. The network, which costs a frame more than all else where there are many
// dimensions, is asked every d/2 frames; in between the drift follows its Jacobian.
func (e *Estimator) tangent() {
	d := e.config.Dim
	renew := e.turned%uint64(max(1, d/2)) == 0
	e.turned++
	for j, b := range e.banks {
		c := b.z[b.best]
		for i := range e.mu {
			e.mu[i] += e.jac[i*d+j] * (c - e.linearise[j])
		}
		e.linearise[j] = c
	}
	if renew {
		e.field.linearise(e.mu, e.jac, e.linearise)
	}
}

// learn folds in the transition from the last latent to m, under the drift's tangent.
func (e *Estimator) learn(m []float64, dt float64) {
	for i, b := range e.banks {
		b.step(m[i], dt, e.mu[i], e.jac[i*len(m)+i], e.linearise[i])
	}
	e.remember(m, dt)
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
		s.Diffusion[i], s.Noise[i] = f.v/2, math.Sqrt(f.spot)
		if l.seconds > 0 {
			s.CRLB += f.v / l.seconds
		}
	}
	s.ActiveCount = decide(s.Activity, l.found, l.n)
}
