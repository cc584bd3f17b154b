package online

import "driftscope/internal/latent"

// take folds z in, dt after the last latent or as the beginning of a trajectory where dt is 0 or that waits for one, unless it is held back.
func (e *Estimator) take(z *latent.Latent, dt float64) {
	if f := e.alarms.frames; dt == 0 || f.waits() {
		if f.begin(z.Mean, z.SD, e.alarms.limit(e.n), dt, e.found) == hold {
			e.sde.Held++
			e.filter.start(z.Mean, z.SD, e.found, e.n > 0)
			return
		}
		e.begin(z)
		return
	}
	e.tangent()
	if e.n > 0 {
		e.filter.predict(dt, e.mu, e.jac, e.linearise, e.found)
		e.filter.correct(z.Mean, e.found)
	} else {
		e.filter.start(z.Mean, z.SD, e.found, false)
	}
	switch e.alarms.frames.judge(z.Mean, z.SD, e.filter.nis, e.alarms.limit(e.n), dt, e.found) {
	case hold:
		e.sde.Held++
		if e.n > 0 {
			e.filter.uncorrect()
		}
	case restart:
		e.begin(z)
	default:
		e.believe(z, dt)
	}
}

// begin starts a trajectory at z.
func (e *Estimator) begin(z *latent.Latent) {
	e.alarms.frames.held = 0
	e.restart(z.Mean)
	e.units.add(z.Centroid, z.Mean, 0)
	e.filter.start(z.Mean, z.SD, e.found, e.n > 0)
	e.alarms.changes.start(z.Mean, e.found)
}

// believe learns from z, dt after the last frame; what was held back since the last that was learnt from makes the step longer.
func (e *Estimator) believe(z *latent.Latent, dt float64) {
	a, m := e.alarms, z.Mean
	dt += a.frames.held
	a.frames.held = 0
	if e.config.MaxGap > 0 && dt > e.config.MaxGap.Seconds() {
		e.restart(m)
		e.units.add(z.Centroid, m, 0)
		a.changes.start(m, e.found)
		return
	}
	if e.n > 0 {
		a.changes.step(m, dt, e.mu, e.jac, e.linearise, e.found)
		a.changes.weigh(e.found, e.sde.Activity, e.n, e.seconds)
		a.weigh(e.sde.ActiveCount)
	} else {
		a.changes.start(m, e.found)
	}
	e.learn(m, dt)
	e.units.add(z.Centroid, m, dt)
}

// report writes what is published of z into dst.
func (e *Estimator) report(dst *latent.Estimate, z *latent.Latent) {
	d := e.config.Dim
	dst.Latent.Copy(z)
	dst.Drift = latent.Resize(dst.Drift, d)
	e.field.drift(dst.Drift, z.Mean)
	dst.Filtered = append(dst.Filtered[:0], e.filter.z...)
	dst.FilteredSD = latent.Resize(dst.FilteredSD, d)
	e.filter.sd(dst.FilteredSD)
	dst.NIS = e.filter.nis
	dt := 0.0
	if e.n > 0 {
		dt = e.seconds / e.n
	}
	e.forecaster.forecast(dst, e.filter, e.field, e.jac, e.found, dt)
	dst.SDE.Copy(&e.sde)
	dst.Alarms = e.alarms.ringing(dst.Alarms[:0])
}

// Alarms are the alarms that began or ended with the last Update, as events. They are lent until the next one.
func (e *Estimator) Alarms() []latent.Event { return e.alarms.events }

// Evidence is how strongly the latents up to the last Update speak for a law that has changed.
func (e *Estimator) Evidence() Evidence { return e.alarms.Evidence }
