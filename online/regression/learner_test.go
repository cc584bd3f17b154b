package regression

import (
	"bytes"
	"math"
	"reflect"
	"sync"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/archive"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// TestMemoryWithFewTransitions: if nearly every latent begins a trajectory, there is little to learn. Below two transitions the drift stays as it was.
func TestMemoryWithFewTransitions(t *testing.T) {
	for _, dim := range []int{1, 5} { // with and without radial basis functions
		found, activity := make([]diffusion.Estimate, dim), make([]latent.Activity, dim)
		for i := range found {
			found[i], activity[i] = diffusion.Estimate{V: 1}, latent.Active
		}
		slice := func(l *Learner, transitions int) *Learner {
			in, rng := diffusion.NewTrack(dim, 64+1), onlinetest.Rand(1)
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
				t.Errorf("%d dimensions, %d transitions: %d slices failed, the drift stayed: %v", dim, transitions, l.failed, kept)
			}
		}
	}
}

// A cancelled slice ends soon and does not affect a later slice of the same learner.
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
		t.Error("the slice after a cancelled slice gives a different result")
	}
}

// A learner can be saved while a slice starts from it. The race detector checks this.
func TestSavedBesideASlice(t *testing.T) {
	l, j := doubleWell()
	l = l.After(j) // now l.before has learnt from latents that left memory
	want := archive.NewWriter(nil)
	l.Archive(want)
	var slice sync.WaitGroup
	slice.Go(func() { l.After(j) })
	for range 20 {
		saved, learner := archive.NewWriter(nil), *l // as Worker.Archive does
		if learner.Archive(saved); !bytes.Equal(saved.Bytes(), want.Bytes()) {
			t.Fatal("saved during a slice, the learner differs")
		}
	}
	slice.Wait()
}

// doubleWell returns a job of 1000 latents of a nonlinear law, and the learner that the slice starts from.
func doubleWell() (*Learner, Job) {
	s := onlinetest.Named("Wasserstein double well")
	seen, _ := s.Film(1000, 0, onlinetest.Rand(5))
	l, in := NewLearner(Config{Dim: 1, Replay: len(seen), Seed: 1}), diffusion.NewTrack(1, len(seen))
	for k := range seen {
		in.Add(seen[k].Mean, min(float64(k), 1)*onlinetest.Step)
	}
	return l, Job{In: in, Found: []diffusion.Estimate{{V: 1}}, Activity: []latent.Activity{latent.Active}}
}

// TestBanksOfASlice: the banks of a slice include all latents so far, also latents that left memory. Each latent adds a transition unless it begins a
// trajectory. From the first latents on, the slice finds σ² of a whirl whose drift moves a latent by twice as much as diffusion.
func TestBanksOfASlice(t *testing.T) {
	const replay, part, parts = 300, 200, 5
	l := NewLearner(Config{Dim: 2, Replay: replay, AlarmFrames: 1e5})
	found, activity := []diffusion.Estimate{{V: 16}, {V: 16}}, []latent.Activity{latent.Active, latent.Active} // as if the whirl's drift were diffusion
	rng, z, n := onlinetest.Rand(9), [2]float64{1, 0}, 0
	rho, sin, cos := math.Exp(-0.5*onlinetest.Step), math.Sin(0.19), math.Cos(0.19)
	for range parts {
		in := diffusion.NewTrack(2, part)
		for range part {
			dt := onlinetest.Step
			if n == 0 || n == 450 {
				dt = 0
			}
			n++
			in.Add(z[:], dt)
			added := math.Sqrt(onlinetest.Step)
			z = [2]float64{rho*(cos*z[0]-sin*z[1]) + added*rng.NormFloat64(), rho*(sin*z[0]+cos*z[1]) + added*rng.NormFloat64()}
		}
		l = l.After(Job{In: in, Found: found, Activity: activity})
		b := l.Banks().Clone()
		b.Refresh()
		want := float64(n - 1)
		if n > 450 {
			want--
		}
		if b.Transitions != want {
			t.Errorf("%d latents: the banks have %g transitions, expected %g", n, b.Transitions, want)
		}
		for i, d := range b.Found {
			if math.Abs(d.V-1) > 0.35 { // 200 transitions give σ² to a tenth, and the coefficients of three fields are learnt from the same transitions
				t.Errorf("%d latents: σ²%d is %.2f, expected 1", n, i+1, d.V)
			}
		}
	}
}
