// One latent
//
// Estimator.Update (estimator.go) runs these steps in order:
//
//	check and clock       diffusion.Clock       is z usable, and which latent precedes it by which Δt
//	refined drift         refinement.go         a slice that is due takes effect
//	believed or held      law.go                compares z with the filter's forecast; the next steps see only believed latents
//	has the law changed?  Monitor.Weigh
//	Kalman banks          diffusion.Banks       one step per dimension, about the drift's tangent
//	memory                diffusion.Track       stores the latent for refinement
//	figures               diffusion.Banks.Refresh   every Refresh frames
//	pixels                calibration           the object's centroid beside the latent
//	alarms                Monitor.Update        begin or end
//	drift at the latent   drift.Field
//	forecasts             Forecaster

package online

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/regression"
)

// Estimator learns the law of motion from latents. Call its methods from one goroutine.
type Estimator struct {
	config     Config
	worker     *regression.Worker
	forecaster *Forecaster
	law        law
	frozen     bool
}

// law contains everything that an Estimator has learnt. A checkpoint contains the law and the learner at the start of the running slice.
type law struct {
	frame   uint64 // latents so far
	clock   diffusion.Clock
	banks   *diffusion.Banks
	sde     latent.SDE // as last published
	units   *Calibration
	tangent *drift.Tangent // tangent of field at the banks' filtered latent
	filter  *Kalman
	alarms  *Monitor

	field      *drift.Field
	refinement Refinement
	pending    *diffusion.Track // latents since the last slice began
	given      regression.Job   // the running slice's input
	gapped     bool             // latents after pending's last one are missing
	inFlight   bool             // a slice has begun and has not been applied
	due        uint64           // the frame at which the slice is applied
}

// New returns an estimator without latents. Its drift is c.Prior, or zero. Close frees it.
func New(c Config) (*Estimator, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	l, learner := begin(c)
	return &Estimator{
		config: c, law: l, worker: regression.NewWorker(learner, !c.Deterministic && c.Applied == nil), forecaster: NewForecaster(c.Dim, c.Forecast),
	}, nil
}

// begin returns the state before the first latent.
func begin(c Config) (law, *regression.Learner) {
	learner := regression.NewLearner(regression.Config{Dim: c.Dim, Replay: c.Replay, Seed: c.Seed, AlarmFrames: c.AlarmFrames, Prior: c.Prior, Forget: c.Forget, Exposure: c.Exposure})
	l := law{
		clock: diffusion.Clock{MaxGap: c.MaxGap}, banks: diffusion.NewBanks(c.Dim, c.Forget, c.Exposure),
		tangent: drift.NewTangent(c.Dim), filter: NewKalman(c.Dim),
		alarms: NewMonitor(AlarmConfig{Dim: c.Dim, Every: c.AlarmFrames, TrainMean: c.TrainMean, TrainSD: c.TrainSD}),
		units:  NewCalibration(c.Dim, c.PixelUM, c.Forget), field: drift.NewField(c.Prior, learner.Correction()),
		pending: diffusion.NewTrack(c.Dim, c.Replay),
		given:   regression.Job{In: diffusion.NewTrack(c.Dim, c.Replay), Found: make([]diffusion.Estimate, c.Dim), Activity: make([]latent.Activity, c.Dim)},
	}
	l.banks.Describe(&l.sde)
	return l, learner
}

// Update learns from z and writes the estimate at z into dst, reusing dst's memory: z itself, z filtered and forecast, the drift at z.Mean by the current
// weights, and the SDE of the last refresh. z forms an increment with the latent before it if both belong to one trajectory and are at most MaxGap apart. Δt
// is the difference of their times. Update keeps no reference to z. It does not learn from a held frame but counts it in SDE.Held. Update may change the
// result of Alarms.
//
// If z is not usable, Update changes nothing and returns ErrLatent. If z's time is not after the last, Update cuts the trajectory, so that
// one bad clock reading costs one increment, and returns ErrTimeOrder. dst is then unspecified.
func (e *Estimator) Update(dst *latent.Estimate, z *latent.Latent) error {
	if err := diffusion.Check(z, e.config.Dim); err != nil {
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

// report writes the estimate at z into dst.
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
	law := Motion{Drift: l.field, Jacobian: l.tangent.Jacobian, Found: l.banks.Found, Step: step}
	e.forecaster.Forecast(dst, l.filter, law)
	if e.config.Lead != nil {
		dst.Lead = e.config.Lead()
		e.forecaster.Ahead(dst, l.filter, law)
	}
	dst.SDE.Copy(&l.sde)
	dst.Alarms = l.alarms.Codes(dst.Alarms[:0])
}

// Freeze stops learning (true), or resumes it (false). Frozen frames form no increments and are compared only with the training latents and the encoder's
// usual sd. Alarms about frames still begin and end; alarms about the law keep their state.
func (e *Estimator) Freeze(frozen bool) {
	e.frozen = frozen
	e.law.clock.Cut()
}

// Reset restores the state before the first Update, except that SDE.Revision keeps growing. Active alarms end once they have no cause. A
// frozen estimator stays frozen. Reset drops a running slice of refinement without waiting for it.
func (e *Estimator) Reset() {
	l, learner := begin(e.config)
	l.sde.Revision = e.law.sde.Revision
	l.alarms.Forgotten(e.law.alarms)
	e.law = l
	e.worker.Replace(learner)
}

// Drift writes the published drift at z into dst, latent/s. Both have length Dim.
func (e *Estimator) Drift(dst, z []float64) { e.law.field.Drift(dst, z) }

// Alarms returns, as events, the alarms that began or ended with the last Update. The events are lent until the next Update.
func (e *Estimator) Alarms() []latent.Event { return e.law.alarms.Events() }

// Evidence returns the evidence, up to the last Update, that the law has changed.
func (e *Estimator) Evidence() Evidence { return e.law.alarms.Evidence() }

// Close ends refinement after the running slice. Afterwards only Refinement and Close may be called.
func (e *Estimator) Close() error {
	e.worker.Close()
	return nil
}
