package refine

import (
	"reflect"
	"testing"

	"driftscope/internal/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
	"driftscope/online/trajectory"
)

// TestMemoryWithFewTransitions: of latents that nearly all began a trajectory there is little to learn, and below two transitions nothing: the
// drift stays as it was.
func TestMemoryWithFewTransitions(t *testing.T) {
	for _, dim := range []int{1, 5} { // with radial basis functions and without
		found, activity := make([]diffusion.Estimate, dim), make([]latent.Activity, dim)
		for i := range found {
			found[i], activity[i] = diffusion.Estimate{V: 1}, latent.Active
		}
		slice := func(l *Learner, transitions int) *Learner {
			in, rng := trajectory.NewTrack(dim, 64+1), onlinetest.Rand(1)
			for k := range 64 + 1 {
				m, dt := make([]float64, dim), 0.0
				for i := range m {
					m[i] = rng.NormFloat64()
				}
				if k > 64-transitions {
					dt = 1
				}
				in.Add(m, dt)
			}
			return l.After(Job{In: in, Found: found, Activity: activity})
		}
		learnt := slice(NewLearner(Config{Dim: dim, Replay: 64, AlarmFrames: 1e5}), 64)
		for transitions := range 3 {
			l := slice(learnt, transitions)
			if kept := l.correction == learnt.correction; l.failed > 0 || kept != (transitions < 2) {
				t.Errorf("%d dimensions, %d transitions: %d slices failed, the drift was kept: %v", dim, transitions, l.failed, kept)
			}
		}
	}
}

// A slice that is cancelled ends soon, and a later one of the same learner is as if it had not been.
func TestCancelledSlice(t *testing.T) {
	l, j := doubleWell()
	w := new(drift.Cancel)
	w.Set()
	j.cancel = w
	l.After(j)
	j.cancel = nil
	again := l.After(j)
	l, j = doubleWell()
	if fresh := l.After(j); !reflect.DeepEqual(again.correction, fresh.correction) {
		t.Error("the slice after one that was cancelled learns something else")
	}
}

// doubleWell is a slice's job of 1000 latents of a nonlinear law, and the learner that it begins from.
func doubleWell() (*Learner, Job) {
	s := onlinetest.Named("Wasserstein double well")
	seen, _ := s.Film(1000, 0, onlinetest.Rand(5))
	l, in := NewLearner(Config{Dim: 1, Replay: len(seen), Seed: 1}), trajectory.NewTrack(1, len(seen))
	for k := range seen {
		in.Add(seen[k].Mean, min(float64(k), 1)*onlinetest.Step)
	}
	return l, Job{In: in, Found: []diffusion.Estimate{{V: 1}}, Activity: []latent.Activity{latent.Active}}
}
