package trigger

import (
	"fmt"

	"driftscope/internal/flow/latent"
)

// Rules holds the rules of one stream.
type Rules struct {
	all  []*Rule
	lent []*latent.Trigger
}

// Together combines rules. It refuses two rules with the same name.
func Together(all []*Rule) (*Rules, error) {
	names := map[string]int{}
	for i, r := range all {
		if other, taken := names[r.Name()]; taken {
			return nil, fmt.Errorf("triggers[%d] and triggers[%d]: both are called %s: give one of them another name", other, i, r.Name())
		}
		names[r.Name()] = i
	}
	return &Rules{all: all}, nil
}

// Watch returns the triggers of one frame, in the order of the rules. Most frames have none and allocate nothing. The list is valid until the next Watch; the
// caller owns its entries. e is the estimate of the next tracked frame; Watch keeps no reference to it.
func (r *Rules) Watch(e *latent.Estimate) []*latent.Trigger {
	r.lent = r.lent[:0]
	for _, rule := range r.all {
		if rule.objects != nil {
			r.lent = rule.objects.watch(e, r.lent)
		} else if t := rule.look(e); t != nil {
			r.lent = append(r.lent, t)
		}
	}
	return r.lent
}
