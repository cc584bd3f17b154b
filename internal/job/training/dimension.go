package training

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/kit/console"
)

// auto is the value of --latent that chooses the number of latents from the clip.
const auto = "auto"

// dimension reads --latent; it returns 0 for auto, and for a dimension set by --from.
func (c *Options) dimension() (int, error) {
	switch {
	case c.Latent == "" && c.From != "", c.Latent == auto && c.From == "":
		return 0, nil
	case c.Latent == auto:
		return 0, errors.New("--latent auto: the model that --from names sets the dimension: leave --latent out")
	}
	d, err := strconv.Atoi(c.Latent)
	if err != nil || d < 1 || d > card.MaxLatent {
		return 0, fmt.Errorf("--latent: found %q, expected 1 to %d, or auto", c.Latent, card.MaxLatent)
	}
	return d, nil
}

// grow finds the dimension for --latent auto.
func grow(ctx context.Context, clip *video.Clip, config sdevae.Config) (int, error) {
	g := sdevae.NewGrowth(clip, config)
	located, err := g.Locate(ctx, (&bar{}).watch)
	for _, grown := range located {
		sayGrown(grown)
	}
	for d := 1; err == nil && !g.Done(); d++ {
		bar := newBar(fmt.Sprintf("trying %d", d))
		var grown sdevae.Grown
		grown, err = g.Next(ctx, bar.watch)
		if bar.finish(); err == nil {
			sayGrown(grown)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("choosing the latent dimension: %w", err)
	}
	console.Say("latent dimension %d is chosen", g.Latent())
	if g.Latent() > sdevae.MaxGrown-2 {
		console.Warn("auto tries at most %d latents: give --latent to use more", sdevae.MaxGrown)
	}
	return g.Latent(), nil
}

func sayGrown(g sdevae.Grown) {
	console.Say("latent dimension %d: %.1f nats per frame, %.1f %% of held-out pictures explained", g.Latent, g.Nats, 100*g.Explained)
}
