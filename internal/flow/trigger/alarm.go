package trigger

import (
	"fmt"
	"slices"

	"driftscope/internal/flow/latent"
)

// alarmOptions are the keys of rules about alarms.
type alarmOptions struct {
	ruleOptions
	Alarms []string `yaml:"alarms"` // codes; the condition holds while any of them is on
}

// alarmed is the condition that any of several alarms is on. Alarms have their own hysteresis.
type alarmed struct{ codes []string }

// newAlarmed makes a rule about some of the alarms in known; usual are the default alarms.
func newAlarmed(decode func(any) error, known, usual []string) (*Rule, error) {
	o := alarmOptions{ruleOptions: promptly, Alarms: usual}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if len(o.Alarms) == 0 {
		return nil, fmt.Errorf("alarms: found none, expected one or more of %v", known)
	}
	for _, code := range o.Alarms {
		if !slices.Contains(known, code) {
			return nil, fmt.Errorf("alarms: found %.40q, expected one or more of %v", code, known)
		}
	}
	return &Rule{options: o.ruleOptions, condition: alarmed{o.Alarms}, unit: "alarms", threshold: 1}, nil
}

func (a alarmed) ask(e *latent.Estimate) (answer, bool) {
	n := 0
	for _, code := range e.Alarms {
		if slices.Contains(a.codes, code) {
			n++
		}
	}
	return answer{float64(n), n > 0, n > 0}, true
}
