package sdevae

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/internal/suite"
)

// TestKeepBetter: re-initialised latents replace the previous ones, unless the unexplained part grows by more than a factor of three.
func TestKeepBetter(t *testing.T) {
	suite.Long(t)
	clip := sdevaetest.Walk(40, 3)
	j, err := newJob(context.Background(), Training{}, clip, Config{Latent: 2, Tau: 1, Pairs: 8, Restarts: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before, after float64
		reinitialised bool
	}{{0.87, 0.74, true}, {0.97, 0.97, true}, {0.5, 0.1, true}, {0.97, 0.92, true}, {0.97, 0.9, false}, {1, 0.99, false}} {
		s, err := newSession(j, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.model.Calibrate(clip, clip.Frames()); err != nil {
			t.Fatal(err)
		}
		if err := s.keepBefore(); err != nil {
			t.Fatal(err)
		}
		was := s.model.MeanB[0]
		s.model.MeanB[0] = was + 1
		s.kept, s.best, s.beforeLook.Explained = s.model.Clone(), Look{Explained: c.after}, c.before
		s.keepBetter()
		if got := s.model.MeanB[0] == was+1; got != c.reinitialised || s.best.Explained != map[bool]float64{true: c.after, false: c.before}[c.reinitialised] {
			t.Errorf("%g explained before, %g after: re-initialised latents are kept: %v, %+v", c.before, c.after, got, s.best)
		}
		s.discard()
	}
}

// TestReinitialisedUnbends: for an encoder with bent latents, whose last layer mixes motion with flicker, straight latents are found among the same features.
// An encoder that already has the slowest components keeps them.
func TestReinitialisedUnbends(t *testing.T) {
	suite.Long(t)
	clip, x, y := sdevaetest.WalkingSquare(300)
	j, err := newJob(context.Background(), Training{}, clip, Config{Latent: 2, Seed: 1, Tau: 1, Pairs: 20, Restarts: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSession(j, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.discard()
	m := s.model
	if err := m.Calibrate(clip, clip.Frames()); err != nil {
		t.Fatal(err)
	}
	read := func() *mat.Dense {
		_, p, err := m.Read(clip, clip.Frames())
		if err != nil {
			t.Fatal(err)
		}
		return mat.NewDense(clip.Len(), 2, numeric.Float64s(p.Mean))
	}
	explained := func() float64 {
		z := numeric.Float32s(read().RawMatrix().Data)
		return math.Min(sdevaetest.R2(z, 2, x), sdevaetest.R2(z, 2, y))
	}
	random := explained()
	drift := slices.Clone(m.Drift.Weights)
	if err := s.newLatents(); err != nil {
		t.Fatal(err)
	}
	found := explained()
	t.Logf("explained: %.3f of random latents, %.3f of re-initialised ones", random, found)
	if found < 0.6 || found < random+0.1 {
		t.Errorf("the re-initialised latents explain %.3f of the square's position, the random ones %.3f; expected 0.6 (0.8 measured)", found, random)
	}
	if slices.Equal(drift, m.Drift.Weights) {
		t.Error("the drift of the previous latents was not replaced")
	}
	again := slices.Clone(m.MeanW)
	if err := s.newLatents(); err != nil || largest(again, m.MeanW) > 0.1*largest(again, make([]float32, len(again))) {
		t.Errorf("the slowest components are not found again: %v", err)
	}
}
