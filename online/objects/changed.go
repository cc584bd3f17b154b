package objects

import (
	"fmt"

	"driftscope/internal/flow/latent"
	"driftscope/online/change"
	"driftscope/online/states"
)

// alarmFrames is the default for the least mean number of frames between two false alarms of the same kind.
const alarmFrames = 1e5

// clearShare is the fraction of the alarm threshold below which an alarm ends.
const clearShare = 0.01

// Indices of the alarms about the law of all objects.
const (
	populationDiffusion = iota
	populationMixture
	populationChanges
)

// changed holds the evidence that the law of all objects differs from the reference law, and the state of the reaction.
type changed struct {
	monitor *change.Monitor // nil if no law of all objects is learnt
	every   float64         // least mean number of frames between two false alarms
	law     *states.Law     // the reference law for the steps of objects
	before  *states.Law     // the reference law at the last alarm
	waiting bool            // the steps before the change are forgotten, and the new law is not learnt yet
}

func newChanged(exposure, every float64) changed {
	return changed{monitor: change.New(exposure, every), every: every}
}

// use sets the reference law.
func (c *changed) use(l *states.Law) {
	if c.monitor.Use(l, c.waiting) {
		c.law = l
	}
	c.waiting = false
}

// watch begins and ends the alarms about the law of all objects. When an alarm begins, watch forgets the earlier steps.
func (e *Estimator) watch(z *latent.Sight) {
	c := &e.law.changed
	if c.monitor == nil {
		return
	}
	evidence := c.monitor.Evidence()
	for k, v := range []float64{evidence.Diffusion, evidence.Mixture} {
		if v > c.every && !c.waiting {
			c.waiting, c.before = true, c.law
			e.forget()
		}
		a := &e.alarms.population[k]
		e.alarms.tell(z, a, v > c.every || a.rings && (c.waiting || v >= clearShare*c.every), func() string { return e.saysAgain() }, func() string { return e.saysChange(k) })
	}
}

// forget drops the steps from which the next law of all objects would be learnt. Objects stay.
func (e *Estimator) forget() {
	e.law.learner.Forget()
	for _, k := range e.live {
		k.path.trail.Forget()
	}
}

// saysAgain returns the text that ends an alarm: the law of all objects before and after the change.
func (e *Estimator) saysAgain() string {
	c := &e.law.changed
	if c.before == nil || c.law == nil {
		return "the law of all objects was forgotten"
	}
	return fmt.Sprintf("the law of all objects was learnt again after the change: mean D is now %s with %d states; before the change it was %s with %d states", e.saysD(c.law.D.Value), len(c.law.States), e.saysD(c.before.D.Value), len(c.before.States))
}

// saysChange returns the text that begins an alarm: the change and what to check.
func (e *Estimator) saysChange(kind int) string {
	c := &e.law.changed
	most := c.monitor.Most()
	const then = "; the law is learnt again from new steps"
	if kind == populationDiffusion {
		return fmt.Sprintf("D of all objects is %s its former value, %s: check temperature, medium and focus", changeSays(most.Factor), e.saysD(c.law.D.Value)) + then
	}
	s := c.law.States[most.State]
	return fmt.Sprintf("the share of objects in the state with D %s rose above its former %.0f %%: check whether objects bind, cluster or separate", e.saysD(s.D.Value), 100*s.Tracked) + then
}

// changeSays describes a factor in words.
func changeSays(factor float64) string {
	switch {
	case factor >= 2:
		return "twice or more"
	case factor > 1:
		return "about 1.4 times"
	case factor > 0.5:
		return "about 0.7 times"
	}
	return "half or less"
}

// saysD formats a D with its unit.
func (e *Estimator) saysD(d float64) string {
	if a := e.config.PixelUM * e.config.PixelUM; a > 0 {
		return fmt.Sprintf("%.3g µm²/s", a*d)
	}
	return fmt.Sprintf("%.3g px²/s", d)
}
