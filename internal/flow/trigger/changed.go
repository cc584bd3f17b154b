package trigger

import "driftscope/internal/flow/latent"

// newChanged makes a rule about changes of the law: in its drift, its diffusion, or both.
func newChanged(decode func(any) error, _ Env) (*Rule, error) {
	all := []string{latent.DriftChanged, latent.DiffusionChanged, latent.PopulationDiffusionChanged, latent.PopulationMixtureChanged}
	return newAlarmed(decode, all, all)
}
