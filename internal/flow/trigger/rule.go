package trigger

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"driftscope/internal/flow/latent"
)

// Bounds on the options of every rule.
const (
	maxAfter = 10_000 // frames
	maxRest  = 24 * time.Hour
)

// ruleOptions are the options of every kind.
type ruleOptions struct {
	Name  string `yaml:"name"`
	After int    `yaml:"after"` // successive tracked frames that begin the condition, and that end it
	// Object is whom the rule is about in a field: any, nearest or a number; empty is the object that is followed.
	Object  string        `yaml:"object"`
	Certain float64       `yaml:"certain"` // for rules with an object: least probability of the link to a position that counts; 0 accepts all
	Rest    time.Duration `yaml:"rest"`    // between two beginnings, at least, by acquisition times
}

// promptly holds the default options: a rule fires with the first frame, because feedback should come soon. The kinds' margins keep out noise.
var promptly = ruleOptions{After: 1}

var token = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (o *ruleOptions) check() error {
	switch {
	case o.Name == "":
		return errors.New("name is missing: give one, which every trigger will carry")
	case !token.MatchString(o.Name):
		return fmt.Errorf("name: found %.80q, expected 1 to 64 letters, digits, - or _", o.Name)
	case o.After < 1 || o.After > maxAfter:
		return fmt.Errorf("after: found %d, expected 1 to %d frames", o.After, maxAfter)
	case !(o.Certain >= 0 && o.Certain <= 1):
		return fmt.Errorf("certain: found %g, expected a probability, 0 to 1", o.Certain)
	case o.Certain > 0 && o.Object == "":
		return errors.New("certain: is for rules with object: give one, or leave it out")
	case o.Rest < 0 || o.Rest > maxRest:
		return fmt.Errorf("rest: found %v, expected 0s to %v", o.Rest, maxRest)
	}
	return nil
}

// condition is what a kind of rule evaluates in every tracked frame. It keeps no reference to e. If the frame gives no answer, known is false and the rule
// stays unchanged.
type condition interface {
	ask(e *latent.Estimate) (a answer, known bool)
}

// answer is a condition at one frame.
type answer struct {
	value  float64 // compared value, in the rule's unit
	begins bool    // the condition holds, for a rule that is off
	lasts  bool    // the condition persists, for a rule that is on: within a margin of its beginning
}

// Rule is one condition with its protection against chatter. New makes it.
type Rule struct {
	options   ruleOptions
	condition condition
	kind      string
	unit      string
	threshold float64
	objects   *ofObjects // states by object; nil for a rule about the single latent

	on     bool
	inARow int       // tracked frames in a row that speak for the other state
	began  time.Time // acquisition time of the last beginning; zero before the first
}

// Name returns the rule's name, which its triggers carry.
func (r *Rule) Name() string { return r.options.Name }

// look returns a trigger if e begins or ends the condition; nil for most frames.
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

// resting reports whether too little time has passed since the last beginning. If a recording's times restart, enough has passed.
func (r *Rule) resting(now time.Time) bool {
	if r.began.IsZero() {
		return false
	}
	since := now.Sub(r.began)
	return since >= 0 && since < r.options.Rest
}

// trigger makes the message for r's new state.
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

// lost reports whether the object's position is unknown: its latents are forecasts, or belong to something else.
func lost(e *latent.Estimate) bool { return slices.Contains(e.Alarms, latent.ObjectLost) }
