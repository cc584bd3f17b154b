package trigger

import (
	"testing"

	"driftscope/internal/flow/latent"
)

func TestSigmaOptions(t *testing.T) {
	refuses(t, map[string]string{
		"sigma: {name: a, above: 1}":                   `sigma: of: found dimension "", but the model has z1 to z2`,
		"sigma: {name: a, of: z3, above: 1}":           `of: found dimension "z3"`,
		"sigma: {name: a, of: z1}":                     "found both or neither of above and below",
		"sigma: {name: a, of: z1, above: 1, below: 2}": "found both or neither",
		"sigma: {name: a, of: z1, above: 0}":           "above: found 0, expected more than 0",
		"sigma: {name: a, of: z1, below: -1}":          "below: found -1",
	})
}

// The condition begins when the whole interval of σ lies beyond the threshold, and ends when the estimate no longer does.
func TestSigma(t *testing.T) {
	all := frames(8, func(i int, e *latent.Estimate) {
		law := &e.SDE
		v := [][3]float64{{0, 0, 0}, {1.9, 2.1, 2.3}, {2.05, 2.2, 2.4}, {1.9, 2.1, 2.3}, {1.8, 1.99, 2.2}, {1.7, 1.8, 1.95}, {1.8, 1.9, 2.1}, {1.9, 2.01, 2.2}}[i]
		law.SigmaLow[1], law.Sigma[1], law.SigmaHigh[1] = v[0], v[1], v[2]
		if i == 0 {
			law.Transitions = 0
		}
	})
	fires(t, all, map[string]string{
		"sigma: {name: a, of: z2, above: 2}": "+2 -4",
		"sigma: {name: a, of: z2, below: 2}": "+5 -7",
		"sigma: {name: a, of: z1, above: 2}": "",
		"sigma: {name: a, of: z1, below: 2}": "+1",
	})
}
