package sdevae

import (
	"context"
	"math"
	"strings"
	"testing"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
)

// TestContinued trains from a model file. The training starts from the file's result, even if the file has no clock yet, and a few steps make it hardly worse.
func TestContinued(t *testing.T) {
	clip, c := sdevaetest.Walk(60, 3), brief()
	c.Clock, c.SpriteSteps = false, -1 // the square must be learnt, not located
	var cold, warm []float64
	first := train(t, Training{Watch: func(p Progress) { cold = append(cold, p.Loss) }}, clip, c)
	export, err := first.Export(clip, card.Card{Preprocess: []card.Step{{Kind: "normalise"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := card.Read(export.File)
	if err != nil {
		t.Fatal(err)
	}
	c.Latent, c.Seed, c.Clock = 0, 9, true
	var start *Look
	again := train(t, Training{From: file, Watch: func(p Progress) {
		if p.Step == 0 {
			start = p.Look
		} else {
			warm = append(warm, p.Loss)
		}
	}}, clip, c)
	if again.Config.Restarts != 1 || again.Model.Dim != 2 || again.Best.Restart != 0 || again.Model.Span != clip.Span() {
		t.Errorf("one run of the file's own dimension expected, found %+v", again.Config)
	}
	// The first training kept its best look; synthetic frames then changed its encoder a little. The drift starts at zero again.
	if start == nil || again.Best.HeldOut > start.HeldOut || math.Abs(start.Explained-first.Best.Explained) > 0.1 {
		t.Errorf("started at %+v and kept %+v, but the model to continue was at %+v", start, again.Best, first.Best)
	}
	if warm[0] > cold[0]-1 {
		t.Errorf("the first loss is %.3f, from random weights it is %.3f", warm[0], cold[0])
	}
}

func TestContinuedRefuses(t *testing.T) {
	clip, c := sdevaetest.Walk(60, 3), brief()
	c.Clock, c.Posterior = false, network.Cholesky
	old := train(t, Training{}, clip, c)
	written := func() *card.File {
		f, err := card.Read(file(t, old, clip))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	file := written()
	foreign, blind, broken := *file, *file, *file
	old.Model.SeedB[3] = float32(math.NaN())
	broken.Decoder = written().Decoder
	foreign.Encoder = (&card.Graph{Name: "other", Tensors: []card.Tensor{{Name: "mean.weight", Shape: []int{2, 7}, Data: make([]float32, 14)}}}).Marshal(nil)
	blind.Decoder = nil
	large := *clip
	large.Height, large.Width = 4, 16
	for _, test := range []struct {
		name string
		file card.File
		clip *video.Clip
		Config
		want string
	}{
		{"another shape", *file, &large, Config{}, "1x4x16, but the model to continue needs 1x8x8"},
		{"another dimension", *file, clip, Config{Latent: 3}, "the training needs 3 latents, but the model to continue has 2"},
		{"a lesser posterior", *file, clip, Config{Posterior: network.Diagonal}, "leave the posterior out"},
		{"another architecture", foreign, clip, Config{}, "pretrain did not write"},
		{"a broken weight", broken, clip, Config{}, `"seed.bias" has a number that is not finite`},
		{"no decoder", blind, clip, Config{}, "no decoder"},
	} {
		test.Tau = 1
		_, err := Training{From: &test.file}.Train(context.Background(), test.clip, test.Config)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, an error with %q expected", test.name, err, test.want)
		}
	}
}
