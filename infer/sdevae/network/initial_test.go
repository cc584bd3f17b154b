package network

import (
	"math/rand/v2"
	"testing"

	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// TestInitSlow: a bright square moves over a flickering, noisy background. Before any training step, the slowest latents explain its position, although the
// principal component is the flicker.
func TestInitSlow(t *testing.T) {
	suite.Long(t)
	clip, x, y := sdevaetest.WalkingSquare(400)
	rng := rand.New(rand.NewPCG(1, 1))
	m, err := New(dnnl.Shape{C: 1, H: 32, W: 32}, Form{Latent: 2, Posterior: Diagonal, Diffusion: Profiled, Substeps: 1}, 100, rng)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Background = MeanLogit(clip)
	if _, err := m.InitSlow(clip, clip.Pairs(1)); err != nil {
		t.Fatal(err)
	}
	if err := m.Calibrate(clip, video.FramesOf(clip.Pairs(1))); err != nil {
		t.Fatal(err)
	}
	p, err := m.Encode(clip.Pixels, nil, clip.Len())
	if err != nil {
		t.Fatal(err)
	}
	for name, truth := range map[string][]float64{"x": x, "y": y} {
		if r2 := sdevaetest.R2(p.Mean, 2, truth); r2 < 0.7 {
			t.Errorf("the initial latents explain %.2f of %s, expected 0.7 (0.80 measured, because random convolutions give rough positions)", r2, name)
		}
	}
}
