package trigger

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"driftscope/internal/latent"
)

// Bounds on what every rule can be asked for.
const (
	maxAfter = 10_000 // frames
	maxRest  = 24 * time.Hour
)

// hold are the options of every kind.
type hold struct {
	Name  string        `yaml:"name"`
	After int           `yaml:"after"` // tracked frames in a row that begin the condition, and that end it
	Rest  time.Duration `yaml:"rest"`  // between two beginnings, at least, by acquisition times
}

// promptly is what hold is decoded over: a rule fires with the first frame, since whoever asks for feedback asks for it soon, and what noise
// alone can do is kept out by the kinds' margins.
var promptly = hold{After: 1}

var token = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (h *hold) check() error {
	switch {
	case h.Name == "":
		return errors.New("name is missing: give one, which every trigger will carry")
	case !token.MatchString(h.Name):
		return fmt.Errorf("name: found %.80q, expected 1 to 64 letters, digits, - or _", h.Name)
	case h.After < 1 || h.After > maxAfter:
		return fmt.Errorf("after: found %d, expected 1 to %d frames", h.After, maxAfter)
	case h.Rest < 0 || h.Rest > maxRest:
		return fmt.Errorf("rest: found %v, expected 0s to %v", h.Rest, maxRest)
	}
	return nil
}

// condition is what a kind of rule asks of every tracked frame. It keeps no reference to e. Where the frame does not tell, known is false and
// the rule stays as it is.
type condition interface {
	ask(e *latent.Estimate) (a answer, known bool)
}

// answer is a condition at one frame.
type answer struct {
	value  float64 // what was compared, in the rule's unit
	begins bool    // it holds, for a rule that is off
	lasts  bool    // it still holds, for a rule that is on: within a margin of where it began
}

// Rule is one condition with what keeps it from chattering. It is made by New.
type Rule struct {
	hold
	condition
	kind      string
	unit      string
	threshold float64

	on    bool
	row   int       // tracked frames in a row that speak for the other state
	began time.Time // acquisition time of the last beginning; zero before the first
}

// look is the trigger with which e begins or ends the condition; nil at most frames.
func (r *Rule) look(e *latent.Estimate) *latent.Trigger {
	a, known := r.ask(e)
	if !known {
		return nil
	}
	holds := a.begins
	if r.on {
		holds = a.lasts
	}
	if holds == r.on {
		r.row = 0
		return nil
	}
	r.row = min(r.row+1, r.After)
	if r.row < r.After || holds && r.resting(e.Latent.Time) {
		return nil
	}
	if r.on, r.row = holds, 0; holds {
		r.began = e.Latent.Time
	}
	return r.trigger(e, a.value)
}

// resting says whether too little time has passed since the last beginning. Where a recording's times begin anew, enough has.
func (r *Rule) resting(now time.Time) bool {
	if r.began.IsZero() {
		return false
	}
	since := now.Sub(r.began)
	return since >= 0 && since < r.Rest
}

// trigger tells of the state that r has just taken.
func (r *Rule) trigger(e *latent.Estimate, value float64) *latent.Trigger {
	return &latent.Trigger{
		Seq: e.Latent.Seq, Time: e.Latent.Time, Name: r.Name, Rule: r.kind, On: r.on,
		Value: value, Threshold: r.threshold, Unit: r.unit,
		Filtered: slices.Clone(e.Filtered), Centroid: slices.Clone(e.Latent.Centroid),
	}
}

// lost says that nobody knows where the object is: its latents are forecasts, or those of something else.
func lost(e *latent.Estimate) bool { return slices.Contains(e.Alarms, latent.ObjectLost) }
