package online

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/alarm"
	"driftscope/online/calibration"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/filter"
	"driftscope/online/refine"
	"driftscope/online/trajectory"
)

// Estimator folds latents into the law of motion, doc.go. Its methods are called from one goroutine.
type Estimator struct {
	config     Config
	worker     *refine.Worker
	forecaster *filter.Forecaster
	law        law
	frozen     bool
}

// law is what an Estimator has learnt: all that a checkpoint holds beside the learner that the slice under way began from.
type law struct {
	frame   uint64 // latents taken
	clock   trajectory.Clock
	banks   *diffusion.Banks
	sde     latent.SDE // as published
	units   *calibration.Calibration
	tangent *drift.Tangent // of field, about the banks' filtered latent
	filter  *filter.Kalman
	alarms  *alarm.Monitor

	field      *drift.Field
	refinement Refinement
	pending    *trajectory.Track // latents since the last hand-over
	given      refine.Job        // to the slice that is under way
	gapped     bool              // latents after pending's last are missing
	inFlight   bool              // a slice has been begun and not applied
	due        uint64            // the frame at which it is to be applied
}

// New gives an estimator that has seen nothing. Its drift is c.Prior's, or zero. Close frees it.
func New(c Config) (*Estimator, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	l, learner := begin(c)
	return &Estimator{
		config: c, law: l, worker: refine.NewWorker(learner, !c.Deterministic && c.Applied == nil), forecaster: filter.NewForecaster(c.Dim, c.Forecast),
	}, nil
}

// begin is the state before the first latent.
func begin(c Config) (law, *refine.Learner) {
	learner := refine.NewLearner(refine.Config{Dim: c.Dim, Replay: c.Replay, Seed: c.Seed, AlarmFrames: c.AlarmFrames, Prior: c.Prior, Forget: c.Forget, Exposure: c.Exposure})
	l := law{
		clock: trajectory.Clock{MaxGap: c.MaxGap}, banks: diffusion.NewBanks(c.Dim, c.Forget, c.Exposure),
		tangent: drift.NewTangent(c.Dim), filter: filter.NewKalman(c.Dim),
		alarms: alarm.NewMonitor(alarm.Config{Dim: c.Dim, Every: c.AlarmFrames, TrainMean: c.TrainMean, TrainSD: c.TrainSD}),
		units:  calibration.New(c.Dim, c.PixelUM, c.Forget), field: drift.NewField(c.Prior, learner.Correction()),
		pending: trajectory.NewTrack(c.Dim, c.Replay),
		given:   refine.Job{In: trajectory.NewTrack(c.Dim, c.Replay), Found: make([]diffusion.Estimate, c.Dim), Activity: make([]latent.Activity, c.Dim)},
	}
	l.banks.Describe(&l.sde)
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
	if err := trajectory.Check(z, e.config.Dim); err != nil {
		return err
	}
	l := &e.law
	dt, err := l.clock.Advance(z)
	if err != nil {
		return err
	}
	l.frame++
	if !e.frozen {
		e.apply(z.Seq)
		l.fold(z, dt)
		e.beginWhenWorth()
		if l.frame%e.config.Refresh == 0 {
			l.refresh()
		}
	} else {
		l.clock.Cut()
		l.alarms.Look(z.Mean, z.SD)
		l.filter.Start(z.Mean, z.SD, l.banks.Found, l.banks.Transitions > 0)
	}
	l.alarms.Light(z.Light)
	l.alarms.Update(z)
	l.sde.TooFew = l.alarms.TooFew()
	e.report(dst, z)
	return nil
}

// report writes what is published of z into dst.
func (e *Estimator) report(dst *latent.Estimate, z *latent.Latent) {
	l, d := &e.law, e.config.Dim
	dst.Latent.Copy(z)
	dst.Drift = latent.Resize(dst.Drift, d)
	l.field.Drift(dst.Drift, z.Mean)
	dst.Filtered = append(dst.Filtered[:0], l.filter.Mean()...)
	dst.FilteredSD = latent.Resize(dst.FilteredSD, d)
	l.filter.SD(dst.FilteredSD)
	dst.NIS = l.filter.NIS()
	step := 0.0
	if l.banks.Transitions > 0 {
		step = l.banks.Seconds / l.banks.Transitions
	}
	law := filter.Motion{Drift: l.field, Jacobian: l.tangent.Jacobian, Found: l.banks.Found, Step: step}
	e.forecaster.Forecast(dst, l.filter, law)
	if e.config.Lead != nil {
		dst.Lead = e.config.Lead()
		e.forecaster.Ahead(dst, l.filter, law)
	}
	dst.SDE.Copy(&l.sde)
	dst.Alarms = l.alarms.Codes(dst.Alarms[:0])
}

// Freeze keeps the law as it stands (true), or lets it learn again (false). Frozen frames form no increments, and are judged by the training
// latents alone: alarms about them begin and end, those about the law stay as they are.
func (e *Estimator) Freeze(frozen bool) {
	e.frozen = frozen
	e.law.clock.Cut()
}

// Reset forgets all that was learnt, as before the first Update; only SDE.Revision goes on growing, and the alarms that were on are over
// when there is no cause for them. A frozen estimator stays frozen. A slice of refinement that is under way is not waited for but dropped.
func (e *Estimator) Reset() {
	l, learner := begin(e.config)
	l.sde.Revision = e.law.sde.Revision
	l.alarms.Forgotten(e.law.alarms)
	e.law = l
	e.worker.Replace(learner)
}

// Drift writes the published drift at z into dst, latent/s. Both have Dim entries.
func (e *Estimator) Drift(dst, z []float64) { e.law.field.Drift(dst, z) }

// Alarms are the alarms that began or ended with the last Update, as events. They are lent until the next one.
func (e *Estimator) Alarms() []latent.Event { return e.law.alarms.Events() }

// Evidence is how strongly the latents up to the last Update speak for a law that has changed.
func (e *Estimator) Evidence() alarm.Evidence { return e.law.alarms.Evidence() }

// Close ends refinement, once a slice that is running has ended. The estimator is not used again, but for Refinement and Close.
func (e *Estimator) Close() error {
	e.worker.Close()
	return nil
}
