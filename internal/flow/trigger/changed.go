package trigger

import "driftscope/internal/flow/latent"

// newChanged makes a rule about changes of the law: of its drift, its diffusion, or either.
func newChanged(decode func(any) error, _ Env) (*Rule, error) {
	all := []string{latent.DriftChanged, latent.DiffusionChanged, latent.PopulationDiffusionChanged, latent.PopulationMixtureChanged}
	return newAlarmed(decode, all, all)
}
