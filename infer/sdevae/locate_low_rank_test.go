package sdevae

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

func hidden(t *testing.T, clip *video.Clip) *job {
	t.Helper()
	j := &job{clip: clip, moving: 1 - clip.Noise()/clip.Energy(), mean: numeric.MeanRow(clip.Pixels, clip.Len(), clip.Size())}
	j.train, j.held = video.Split(clip.Pairs(clip.MaxGap()))
	if !j.lowSNR() {
		t.Fatalf("the share of motion in the clip's energy is %.3f", j.moving)
	}
	return j
}

// TestLowRank: a signal in noise of fifty times its energy is found with a correlation of 0.94. The product of a frame with the true picture has 0.96. In pure
// noise nothing is found.
func TestLowRank(t *testing.T) {
	suite.Long(t)
	clip, truth := sdevaetest.Mixed(600, 0.25)
	found := hidden(t, clip).locateLowRank(t.Context(), 1, 1)
	if found == nil {
		t.Fatal("nothing found")
	}
	if r := math.Abs(stat.Correlation(numeric.Float64s(found.z), truth, nil)); r < 0.94 || found.explained < 0.8 {
		t.Errorf("correlation %.3f, %.2f explained", r, found.explained)
	}
	noise, _ := sdevaetest.Mixed(600, 0)
	if found := hidden(t, noise).locateLowRank(t.Context(), 1, 1); found != nil {
		t.Errorf("a share of %.2f of pure noise is explained", found.explained)
	}
}

// TestLowRankTrained: after a training of seconds, the encoder reads single frames almost as well as their noise allows, a correlation of 0.96.
func TestLowRankTrained(t *testing.T) {
	suite.Long(t)
	clip, truth := sdevaetest.Mixed(600, 0.25)
	r := train(t, Training{}, clip, Config{Latent: 1, Seed: 1, Tau: TauOf(clip), Steps: 10, Pairs: 16, SpriteSteps: 200})
	p, err := r.Model.Encode(clip.Pixels, nil, clip.Len())
	if err != nil {
		t.Fatal(err)
	}
	if c := math.Abs(stat.Correlation(numeric.Float64s(p.Mean), truth, nil)); c < 0.92 {
		t.Errorf("correlation %.3f", c)
	}
}
