package trigger

import (
	"testing"

	"driftscope/internal/flow/latent"
)

// ringing returns estimates with the given alarms on, frame by frame.
func ringing(codes ...[]string) []*latent.Estimate {
	return frames(len(codes), func(i int, e *latent.Estimate) { e.Alarms = codes[i] })
}

func TestAlarmOptions(t *testing.T) {
	refuses(t, map[string]string{
		"changed: {name: a, alarms: []}":            "changed: alarms: found none, expected one or more of [drift_changed diffusion_changed population_diffusion_changed population_mixture_changed]",
		"changed: {name: a, alarms: [object_lost]}": `changed: alarms: found "object_lost", expected one or more of [drift_changed diffusion_changed population_diffusion_changed population_mixture_changed]`,
		"lost: {name: a, alarms: [drift_changed]}":  `lost: alarms: found "drift_changed", expected one or more of [object_lost bleached unlike_training]`,
	})
}

// A rule about several alarms is on while any of them is on.
func TestAlarms(t *testing.T) {
	all := ringing(nil,
		[]string{latent.DriftChanged}, []string{latent.DriftChanged, latent.DiffusionChanged}, []string{latent.DiffusionChanged, latent.TooFewDimensions}, []string{latent.TooFewDimensions},
		[]string{latent.UnlikeTraining}, []string{latent.UnlikeTraining, latent.ObjectLost}, []string{latent.Bleached}, nil)
	fires(t, all, map[string]string{
		"changed: {name: a}":                               "+1 -4",
		"changed: {name: a, alarms: [drift_changed]}":      "+1 -3",
		"changed: {name: a, alarms: [diffusion_changed]}":  "+2 -4",
		"changed: {name: a, after: 2}":                     "+2 -5",
		"lost: {name: a}":                                  "+6 -7",
		"lost: {name: a, alarms: [object_lost, bleached]}": "+6 -8",
		"lost: {name: a, alarms: [unlike_training]}":       "+5 -7",
	})
}

// Rules read the set of active alarms, not the events. So they are right even if a roll-back ended an alarm, or an alarm was on when the program started.
func TestAlarmsWithoutEvents(t *testing.T) {
	fires(t, ringing([]string{latent.ObjectLost}, nil, []string{latent.ObjectLost}), map[string]string{"lost: {name: a}": "+0 -1 +2"})
}
