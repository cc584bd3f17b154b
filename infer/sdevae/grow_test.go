package sdevae

import (
	"context"
	"errors"
	"testing"

	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// TestGrowthRule applies the rule to series of held-out losses, in nats, that were measured on clips. It checks the chosen number of latents and the number of
// models tried.
func TestGrowthRule(t *testing.T) {
	for _, c := range []struct {
		name         string
		still        float64
		nats         []float64
		serve, tried int
	}{
		{"two coordinates: the rest is less than a third could gain", 75, []float64{51.2, 6.3, 6.0, 6.2}, 2, 2},
		{"one coordinate", 72, []float64{3.0, 2.6, 3.7}, 1, 1},
		{"a second latent that gains little without the third", 72, []float64{40.5, 35.4, 14.1, 13.8, 14.1}, 3, 5},
		{"ten coordinates of one weight", 75, []float64{69, 63, 57, 51, 45, 39, 33, 27, 21, 15, 15.1, 14.9}, 10, 12},
		{"nothing explained", 10, []float64{10, 10, 10}, 1, 3},
		{"worse than the mean picture at first", 20, []float64{25, 9, 8.9, 8.8}, 2, 4},
	} {
		g := &Growth{without: c.still}
		for !g.Done() && len(g.grown) < len(c.nats) {
			g.grown = append(g.grown, Grown{Latent: len(g.grown) + 1, Nats: c.nats[len(g.grown)]})
		}
		if g.Latent() != c.serve || len(g.grown) != c.tried || !g.Done() {
			t.Errorf("%s: chose %d latents of %d tried, expected %d of %d", c.name, g.Latent(), len(g.grown), c.serve, c.tried)
		}
	}
	for g := (&Growth{without: 1000}); ; g.grown = append(g.grown, Grown{len(g.grown) + 1, 900 - 50*float64(len(g.grown)), 0}) {
		if len(g.grown) > MaxGrown {
			t.Fatal("more latents are tried than MaxGrown")
		}
		if g.Done() {
			break
		}
	}
}

// TestGrowth: a spot that moves in two directions needs two latents.
func TestGrowth(t *testing.T) {
	suite.Long(t)
	g := NewGrowth(sdevaetest.Walk(120, 3), Config{Seed: 1, Tau: 0.2, Steps: 120, Pairs: 20, Restarts: 2})
	for !g.Done() {
		got, err := g.Next(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d latents: %.2f nats, %.1f %% explained", got.Latent, got.Nats, 100*got.Explained)
	}
	if g.Latent() != 2 {
		t.Errorf("%d latents", g.Latent())
	}
}

// TestGrowthLocated: located objects determine the number of latents. If they do not explain all motion, or if noise hides them, Locate returns nil.
func TestGrowthLocated(t *testing.T) {
	suite.Long(t)
	trapped, _, _ := sdevaetest.Trapped(200, 3)
	one, _ := sdevaetest.Drifting(200, 1, sdevaetest.Bar)
	two, _ := sdevaetest.Drifting(200, 1, sdevaetest.Bar, sdevaetest.Disc)
	noisy, _ := sdevaetest.Drifting(200, 1, sdevaetest.Bar)
	sdevaetest.AddNoise(noisy, 1, false)
	grating, _, _, _ := sdevaetest.Crossing(200, 1, sdevaetest.Disc, 1)
	mixed, _ := sdevaetest.Mixed(200, 1)
	still := &video.Clip{Channels: 1, Height: 16, Width: 16, Pixels: make([]float32, 60*16*16), Times: make([]float64, 60), Trajectory: make([]uint64, 60)}
	for k := range still.Times {
		still.Times[k] = float64(k)
	}
	for name, c := range map[string]struct {
		clip   *video.Clip
		latent int // 0 if only a training can determine it
	}{
		"one object":                        {one, 2},
		"two objects":                       {two, 4},
		"an object that swells":             {trapped, 3},
		"an object over a grating that has": {grating, 0},
		"a picture that changes as a whole": {mixed, 0},
		"an object under noise":             {noisy, 0},
		"frames that are all the same":      {still, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewGrowth(c.clip, Config{Seed: 1, Tau: TauOf(c.clip)})
			grown, err := g.Locate(context.Background(), nil)
			for _, one := range grown {
				t.Logf("%d latents: %.2f nats, %.1f %% explained", one.Latent, one.Nats, 100*one.Explained)
			}
			if err != nil || g.Latent() != c.latent || g.Done() != (c.latent > 0) {
				t.Errorf("%d latents, done %t: %v; expected %d", g.Latent(), g.Done(), err, c.latent)
			}
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if grown, err := NewGrowth(two, Config{Seed: 1, Tau: 0.1}).Locate(ctx, nil); grown != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", grown, err)
	}
}
