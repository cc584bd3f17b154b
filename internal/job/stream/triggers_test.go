package stream

import (
	"slices"
	"testing"

	"driftscope/internal/flow/config"
	"driftscope/internal/suite"
)

// Invalid rules are refused before anything runs, all in one error.
func TestTriggerMistakes(t *testing.T) {
	suite.Long(t)
	for rules, want := range map[string]string{
		"{flash: {name: a}}":                      `triggers[0]: kind "flash" is not known: give one of changed, lost, sigma, speed, zone`,
		"{lost: {name: a, afer: 2}}":              `triggers[0]: lost: c.yaml:1: unknown key "triggers[0].lost.afer"; known keys here: after, alarms, certain, name, object, rest`,
		"{lost: {name: a}}, {changed: {name: a}}": "triggers[0] and triggers[1]: both are called a: give one of them another name",
		"lost, {sigma: {name: a, of: z1}}": "triggers[0]: lost: name is missing: give a name, which appears in every trigger\n" +
			"triggers[1]: sigma: found both or neither of above and below: give exactly one",
		"{speed: {name: a, centroid_um_s: 3}}": "triggers[0]: speed: centroid_um_s: the size of a pixel is unknown: set online.pixel_um, or use centroid_px_s",
	} {
		cfg, err := config.Parse("c.yaml", []byte("{source: sim, triggers: ["+rules+"]}"))
		if err != nil {
			t.Fatal(err)
		}
		if watcher, names, err := newWatcher(cfg, 2, nil); err == nil || err.Error() != want || watcher != nil || names != nil {
			t.Errorf("%s: found %v\nexpected %s", rules, err, want)
		}
	}
	if watcher, names, err := newWatcher(config.Config{}, 2, nil); watcher != nil || names != nil || err != nil {
		t.Errorf("without rules: %v, %v, %v", watcher, names, err)
	}
	cfg, err := config.Parse("c.yaml", []byte("{source: sim, triggers: [{sigma: {name: right, of: z1, above: 1}}, {lost: {name: gone}}]}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, names, err := newWatcher(cfg, 2, nil); err != nil || !slices.Equal(names, []string{"right", "gone"}) {
		t.Errorf("found %q, %v", names, err)
	}
}
