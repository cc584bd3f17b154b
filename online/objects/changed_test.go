package objects

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online"
)

// TestPopulationChanged verifies that the alarm stays off while 36 objects diffuse as before, and begins within 12 frames after every D grows fourfold. The
// law is then learnt again from later steps, and the alarm ends. A frame multiplies the evidence by at most twenty, so at least four frames are needed. A
// checkpoint contains no evidence.
func TestPopulationChanged(t *testing.T) {
	suite.Calculation(t)
	e, d, dst := newEstimator(t, Config{Follow: online.Config{AlarmFrames: 1e4}}), newDish(6), &latent.Estimate{}
	d.fast = 1
	told := watched(t, e, d, 150)
	if len(told) != 0 {
		t.Fatalf("before the change: %v", told)
	}
	before := e.describe().States[0].Px.D
	d.fast = 2 // step factor of every other object
	d.faster = 2
	told = watched(t, e, d, 12)
	if len(told) != 1 || told[0].Code != latent.PopulationDiffusionChanged || told[0].Level != latent.Warning || !strings.Contains(told[0].Text, "twice or more its former value") {
		t.Fatalf("after the change: %v", told)
	}
	var saved bytes.Buffer
	if err := e.Save(&saved); err != nil {
		t.Fatal(err)
	}
	told = watched(t, e, d, 150)
	after := e.describe().States
	if len(told) != 1 || told[0].Level != latent.Info || !strings.Contains(told[0].Text, "after the change: mean D") {
		t.Fatalf("with the next law: %v", told)
	}
	if ratio := after[len(after)-1].Px.D / before; !(ratio > 3 && ratio < 5) { // 36 objects in 150 frames give D to 2 %; steps from before the change would halve the ratio
		t.Errorf("D is %.2f times its former value, expected 4", ratio)
	}
	if err := e.Restore(&saved); err != nil {
		t.Fatal(err)
	}
	if v := e.law.changed.monitor.Evidence(); v.Diffusion != 0 || v.Mixture != 0 {
		t.Errorf("evidence after a restore: %+v", v)
	}
	run(t, e, d, 60, dst)
	if slices.Contains(dst.Alarms, latent.PopulationDiffusionChanged) {
		t.Error("an alarm is on after a restore")
	}
}

// watched runs frames, and returns the alarms that began or ended.
func watched(t *testing.T, e *Estimator, d *dish, frames int) (told []latent.Event) {
	dst := &latent.Estimate{}
	for range frames {
		run(t, e, d, 1, dst)
		told = append(told, e.Alarms()...)
	}
	return told
}
