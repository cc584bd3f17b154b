package sdevae

import (
	"context"
	"slices"
	"testing"

	"driftscope/infer/sdevae/sdevaetest"
)

// TestFreeze takes single steps. At first the encoder's means stay constant while the decoder and the posteriors' widths learn; later they move at their share
// of the rate. Adam's first step moves a weight by the rate, for any gradient.
func TestFreeze(t *testing.T) {
	const lead, pace = 2, 0.25
	clip := sdevaetest.Walk(60, 3)
	j, err := newJob(context.Background(), Training{}, clip, Config{Latent: 2, Tau: 1, Steps: 10, SpriteSteps: -1, Pairs: 8, Restarts: 1, FreezeSteps: lead, EncoderRate: pace, Warmup: 1, Decay: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSession(j, 1) // its last layer reads whole maps, so no constraint moves it
	if err != nil {
		t.Fatal(err)
	}
	defer s.discard()
	if err := s.initialise(); err != nil {
		t.Fatal(err)
	}
	weights := func() [][]float32 {
		m := s.model
		return [][]float32{slices.Clone(m.EncoderTheta), slices.Clone(m.MeanW), slices.Clone(m.MeanB), slices.Clone(m.LogSDW), slices.Clone(m.DecoderTheta)}
	}
	before := weights()
	for step := range lead + 1 {
		if _, err := s.step(); err != nil {
			t.Fatal(err)
		}
		now := weights()
		for k, name := range []string{"encoder", "mean-w", "mean-b", "log-sd-w", "decoder"} {
			rests := k < 3 && step < lead
			if same := slices.Equal(now[k], before[k]); same != rests {
				t.Errorf("step %d: %s unchanged: %v, expected %v", step, name, same, rests)
			}
		}
		if step == lead {
			if moved, want := float64(largest(now[2], before[2])), pace*j.config.Rate; moved < 0.9*want || moved > 1.001*want {
				t.Errorf("the first step moves the means' bias by %.3g, expected %.3g", moved, want)
			}
		}
		before = now
	}
}

// largest returns the largest difference.
func largest(a, b []float32) (d float32) {
	for i := range a {
		d = max(d, a[i]-b[i], b[i]-a[i])
	}
	return d
}
