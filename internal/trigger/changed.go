package trigger

import "driftscope/internal/latent"

// newChanged makes a rule about changes of the law: of its drift, its diffusion, or either.
func newChanged(decode func(any) error, _ Env) (*Rule, error) {
	both := []string{latent.DriftChanged, latent.DiffusionChanged}
	return newAlarmed(decode, both, both)
}
