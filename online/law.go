package online

import (
	"driftscope/internal/flow/latent"
)

// fold learns from z, dt after the last latent, unless it holds z back. If dt is 0, or a trajectory waits for its first latent, z begins one.
func (l *law) fold(z *latent.Latent, dt float64) {
	found, known := l.banks.Found, l.banks.Transitions > 0
	frame := Frame{Mean: z.Mean, SD: z.SD, Limit: l.alarms.Limit(l.banks.Transitions), DT: dt}
	if dt == 0 || l.alarms.Waiting() {
		if l.alarms.Begin(frame, found) == Hold {
			l.sde.Held++
			l.filter.Start(z.Mean, z.SD, found, known)
			return
		}
		l.begin(z)
		return
	}
	l.tangent.Follow(l.field, l.banks.Filtered())
	if known {
		l.filter.Predict(dt, l.tangent, found)
		l.filter.Correct(z.Mean, found)
	} else {
		l.filter.Start(z.Mean, z.SD, found, false)
	}
	frame.NIS = l.filter.NIS()
	switch l.alarms.Judge(frame, found) {
	case Hold:
		l.sde.Held++
		if known {
			l.filter.Uncorrect()
		}
	case Restart:
		l.begin(z)
	default:
		l.learn(z, dt)
	}
}

// begin starts a trajectory at z, in every part that follows a trajectory.
func (l *law) begin(z *latent.Latent) {
	l.alarms.TakeHeld()
	l.restart(z)
	l.filter.Start(z.Mean, z.SD, l.banks.Found, l.banks.Transitions > 0)
}

// restart starts a trajectory at z in every part except the filter, which has already taken z in.
func (l *law) restart(z *latent.Latent) {
	l.banks.Start(z.Mean)
	l.tangent.Renew()
	l.remember(z.Mean, 0)
	l.units.Add(z.Centroid, z.Mean, 0)
	l.alarms.Start(z.Mean, l.banks.Found)
}

// learn learns from z, dt after the last frame. Frames held back since then lengthen the step.
func (l *law) learn(z *latent.Latent, dt float64) {
	dt += l.alarms.TakeHeld()
	if l.clock.TooLong(dt) {
		l.restart(z)
		return
	}
	b := l.banks
	if b.Transitions > 0 {
		l.alarms.Step(z.Mean, dt, l.tangent, b.Found)
		l.alarms.Weigh(b.Found, l.sde.Activity, b.Transitions, b.Seconds)
	} else {
		l.alarms.Start(z.Mean, b.Found)
	}
	b.Step(z.Mean, dt, l.tangent)
	l.remember(z.Mean, dt)
	l.units.Add(z.Centroid, z.Mean, dt)
}

// remember stores m for refinement.
func (l *law) remember(m []float64, dt float64) {
	if l.pending.Room() == 0 {
		l.refinement.Unused++
		l.gapped = true
		return
	}
	if l.gapped {
		dt = 0
	}
	l.pending.Add(m, dt)
	l.gapped = false
}

// refresh renews the SDE's figures. It returns false if there are no figures yet.
func (l *law) refresh() bool {
	if !l.banks.Refresh() {
		return false
	}
	l.sde.Revision++
	l.banks.Describe(&l.sde)
	l.units.Solve(l.banks.Found, l.sde.Activity)
	l.units.Describe(&l.sde.Units)
	return true
}
