package objects

import (
	"math/rand/v2"
	"testing"

	"driftscope/online/pooled"
	"driftscope/online/states"
)

// TestLate verifies that with a law learnt from steps of several frames no object has a state, and no step is tested for a change.
func TestLate(t *testing.T) {
	learner := pooled.New(pooled.Config{Deterministic: true})
	defer learner.Close()
	rng := rand.New(rand.NewPCG(13, 14))
	for range 100 {
		s := states.Segment{Weight: 1}
		var x, y float64
		for range 50 {
			x, y = (x+rng.NormFloat64())/2, (y+rng.NormFloat64())/2 // the display follows only half of each step
			s.Steps = append(s.Steps, states.Step{X: x, Y: y, DT: 1})
		}
		learner.Keep(s)
	}
	learner.Count(5000)
	if !learner.Finish(0, nil) || learner.Law().Mixture.Lag < 2 {
		t.Fatalf("found the law %+v, expected one of longer steps", learner.Law())
	}
	e := &Estimator{law: law{learner: learner, model: &model{}, changed: newChanged(0, 100)}}
	e.law.changed.law = learner.Law().Mixture
	e.adopt()
	if e.law.model != nil || e.law.changed.law != nil {
		t.Error("objects use the law of longer steps")
	}
}
