package trigger

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"driftscope/internal/flow/latent"
)

// Limits on the options of every rule.
const (
	maxAfter = 10_000 // frames
	maxRest  = 24 * time.Hour
)

// ruleOptions are the options that all kinds share.
type ruleOptions struct {
	Name  string `yaml:"name"`
	After int    `yaml:"after"` // number of successive tracked frames that begin or end the condition
	// Object selects the object of a field to which the rule applies: any, nearest or a number; empty means the followed object.
	Object  string        `yaml:"object"`
	Certain float64       `yaml:"certain"` // for rules with an object: smallest probability of a link that is accepted; 0 accepts all
	Rest    time.Duration `yaml:"rest"`    // shortest time between two beginnings, by acquisition times
}

// promptly are the default options: a rule fires with the first frame, because feedback must be fast. The margins of the kinds suppress noise.
var promptly = ruleOptions{After: 1}

var token = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (o *ruleOptions) check() error {
	switch {
	case o.Name == "":
		return errors.New("name is missing: give a name, which appears in every trigger")
	case !token.MatchString(o.Name):
		return fmt.Errorf("name: found %.80q, expected 1 to 64 letters, digits, - or _", o.Name)
	case o.After < 1 || o.After > maxAfter:
		return fmt.Errorf("after: found %d, expected 1 to %d frames", o.After, maxAfter)
	case !(o.Certain >= 0 && o.Certain <= 1):
		return fmt.Errorf("certain: found %g, expected a probability, 0 to 1", o.Certain)
	case o.Certain > 0 && o.Object == "":
		return errors.New("certain: only for rules with object: give object, or leave certain out")
	case o.Rest < 0 || o.Rest > maxRest:
		return fmt.Errorf("rest: found %v, expected 0s to %v", o.Rest, maxRest)
	}
	return nil
}

// condition is the part of a rule that depends on its kind. ask evaluates it for a tracked frame and keeps no reference to e. If the frame gives no answer,
// known is false and the rule stays unchanged.
type condition interface {
	ask(e *latent.Estimate) (a answer, known bool)
}

// answer is a condition at one frame.
type answer struct {
	value  float64 // compared value, in the rule's unit
	begins bool    // a rule that is off turns on
	lasts  bool    // a rule that is on stays on: the value is within the margin
}

// Rule is one condition with its protection against chatter. Use New.
type Rule struct {
	options   ruleOptions
	condition condition
	kind      string
	unit      string
	threshold float64
	objects   *ofObjects // states by object; nil for a rule about a single latent

	on     bool
	inARow int       // consecutive tracked frames that call for the other state
	began  time.Time // acquisition time of the last beginning; zero before the first
}

// Name returns the rule's name, which appears in its triggers.
func (r *Rule) Name() string { return r.options.Name }

// look evaluates the rule for e. It returns a trigger if the condition begins or ends, and otherwise nil.
func (r *Rule) look(e *latent.Estimate) *latent.Trigger {
	a, known := r.condition.ask(e)
	if !known {
		return nil
	}
	holds := a.begins
	if r.on {
		holds = a.lasts
	}
	if holds == r.on {
		r.inARow = 0
		return nil
	}
	r.inARow = min(r.inARow+1, r.options.After)
	if r.inARow < r.options.After || holds && r.resting(e.Latent.Time) {
		return nil
	}
	if r.on, r.inARow = holds, 0; holds {
		r.began = e.Latent.Time
	}
	return r.trigger(e, a.value)
}

// resting reports whether less time than Rest has passed since the last beginning. It returns false if the times of a recording start again.
func (r *Rule) resting(now time.Time) bool {
	if r.began.IsZero() {
		return false
	}
	since := now.Sub(r.began)
	return since >= 0 && since < r.options.Rest
}

// trigger returns the message for the new state of r.
func (r *Rule) trigger(e *latent.Estimate, value float64) *latent.Trigger {
	t := &latent.Trigger{
		Seq: e.Latent.Seq, Time: e.Latent.Time, Name: r.options.Name, Rule: r.kind, On: r.on,
		Value: value, Threshold: r.threshold, Unit: r.unit,
		Filtered: slices.Clone(e.Filtered), Centroid: slices.Clone(e.Latent.Centroid),
	}
	if len(e.Ahead) > 0 {
		t.Lead = time.Duration(e.Lead * float64(time.Second))
		t.Forecast, t.ForecastSD = slices.Clone(e.Ahead), slices.Clone(e.AheadSD)
	}
	return t
}

// lost reports whether the object is lost. Its latents are then forecasts, or belong to something else.
func lost(e *latent.Estimate) bool { return slices.Contains(e.Alarms, latent.ObjectLost) }
