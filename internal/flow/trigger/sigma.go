package trigger

import (
	"errors"
	"fmt"

	"driftscope/internal/flow/latent"
)

// maxSigma is the largest threshold, latent/s^½.
const maxSigma = 1e12

// sigmaOptions are the keys of a rule about σ.
type sigmaOptions struct {
	ruleOptions
	Of    string   `yaml:"of"`    // the dimension
	Above *float64 `yaml:"above"` // latent/s^½
	Below *float64 `yaml:"below"` // the same
}

// sigma is the condition that σ of one dimension lies beyond a threshold. It begins when the whole 95 % interval lies beyond, and ends when the estimate itself
// no longer does. The interval thus serves as margin.
type sigma struct {
	axis      int
	threshold float64
	above     bool
}

func newSigma(decode func(any) error, env Env) (*Rule, error) {
	o := sigmaOptions{ruleOptions: promptly}
	if err := decode(&o); err != nil {
		return nil, err
	}
	axis, err := axisOf(o.Of, env)
	if err != nil {
		return nil, fmt.Errorf("of: %w", err)
	}
	if (o.Above == nil) == (o.Below == nil) {
		return nil, errors.New("found both or neither of above and below: give exactly one")
	}
	s := &sigma{axis: axis, above: o.Above != nil}
	key := "below"
	if s.above {
		key, o.Below = "above", o.Above
	}
	if s.threshold = *o.Below; !(s.threshold > 0 && s.threshold <= maxSigma) {
		return nil, fmt.Errorf("%s: found %g, expected more than 0 and at most %g latent/s^½", key, s.threshold, float64(maxSigma))
	}
	return &Rule{options: o.ruleOptions, condition: s, unit: "latent/s^0.5", threshold: s.threshold}, nil
}

func (s *sigma) ask(e *latent.Estimate) (answer, bool) {
	law := &e.SDE
	if law.Transitions == 0 || s.axis >= len(law.Sigma) {
		return answer{}, false
	}
	v := law.Sigma[s.axis]
	if s.above {
		return answer{v, law.SigmaLow[s.axis] > s.threshold, v > s.threshold}, true
	}
	return answer{v, law.SigmaHigh[s.axis] < s.threshold, v < s.threshold}, true
}
