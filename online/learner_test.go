package online

import (
	"testing"

	"driftscope/internal/latent"
	"driftscope/online/onlinetest"
)

// TestMemoryWithFewTransitions: of latents that nearly all began a trajectory there is little to learn, and below two transitions nothing: the
// drift stays as it was.
func TestMemoryWithFewTransitions(t *testing.T) {
	for _, dim := range []int{1, maxBumpDim + 1} { // with bumps and without
		found, activity := make([]diffusion, dim), make([]latent.Activity, dim)
		for i := range found {
			found[i], activity[i] = diffusion{v: 1}, latent.Active
		}
		slice := func(l *Learner, transitions int) *Learner {
			in, rng := NewTrack(dim, leastReplay+1), onlinetest.Rand(1)
			for k := range leastReplay + 1 {
				m, dt := make([]float64, dim), 0.0
				for i := range m {
					m[i] = rng.NormFloat64()
				}
				if k > leastReplay-transitions {
					dt = 1
				}
				in.Add(m, dt)
			}
			return l.After(Job{In: in, Found: found, Activity: activity})
		}
		learnt := slice(NewLearner(LearnerConfig{Dim: dim, Replay: leastReplay, AlarmFrames: 1e5}), leastReplay)
		for transitions := range 3 {
			l := slice(learnt, transitions)
			if kept := l.correction == learnt.correction; l.failed > 0 || kept != (transitions < 2) {
				t.Errorf("%d dimensions, %d transitions: %d slices failed, the drift was kept: %v", dim, transitions, l.failed, kept)
			}
		}
	}
}
