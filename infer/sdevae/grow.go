package sdevae

import (
	"context"
	"errors"
	"fmt"
	"math"

	"driftscope/infer/sdevae/video"
)

// Growth finds how many latents a clip calls for: it trains models of 1, 2, ... latents, each as Train would in half the steps, until
// two in a row bring nothing or no further one could.
//
// The held-out loss is a description length, so it falls with a latent that pays for itself and rises with one that does not. One
// that carries nothing has e = 0 and still costs ½ ln(2S/Δt) - ½ ln S = ½ ln(2/Δt), a constant, because the loss counts the two
// posteriors of a pair as if they were independent: Nats leave it out, as they do what the pixels' noise costs any model, Noise/2τ.
type Growth struct {
	clip    *video.Clip
	config  Config
	without float64 // nats: what motion costs without any latent
	noise   float64 // nats: what the pixels' noise costs
	grown   []Grown // of 1, 2, ... latents
}

// Grown is what a model of some dimension came to on held-out pairs.
type Grown struct {
	Latent    int
	Nats      float64 // a frame, of the picture and of the latents that draw it
	Explained float64 // share of the held-out pictures' variance beyond noise
}

// MaxGrown bounds the latents that Growth tries.
const MaxGrown = 16

// gainShare is what one more latent has to gain, as a share of the mean gain of those before it. Restarts of one model differ by less, and the
// coordinates of one object's motion by less than a factor of four.
const gainShare = 0.25

// NewGrowth begins with nothing tried. c is the config of the training to come, with its Tau; its Latent does not matter.
func NewGrowth(clip *video.Clip, c Config) *Growth {
	if c.Steps == 0 {
		c.Steps = DefaultSteps
	}
	c.Steps, c.SpriteSteps, c.SyntheticSteps, c.ReinitSteps = max(c.Steps/2, 1), -1, -1, -1
	c.FreezeSteps, c.EncoderRate = -1, 1 // the pictures are to be explained soon; whether latents are straight does not matter here
	noise := clip.Noise() / (2 * c.Tau)
	return &Growth{clip: clip, config: c, without: clip.Energy()/(2*c.Tau) - noise, noise: noise}
}

// Next trains the model of one latent more. watch, which may be nil, is called from the same goroutine after every step.
func (g *Growth) Next(ctx context.Context, watch func(Progress)) (Grown, error) {
	c := g.config
	c.Latent = len(g.grown) + 1
	next := Grown{Latent: c.Latent, Nats: g.without} // of a model whose pictures never leave the mean
	result, err := Train(ctx, g.clip, c, watch)
	switch {
	case err == nil:
		result.Model.Close()
		idle := 0.5 * math.Log(2/g.clip.DT())
		next.Nats, next.Explained = result.Best.HeldOut-g.noise-float64(c.Latent)*idle, result.Best.Explained
	case !errors.Is(err, ErrMean):
		return next, fmt.Errorf("with %d latents: %w", c.Latent, err)
	}
	g.grown = append(g.grown, next)
	return next, nil
}

// Latent is the fewest latents beyond which none that were tried are worth having, 0 before any was.
func (g *Growth) Latent() int { return Fewest(g.without, g.nats()) }

// Done says that more latents than Latent cannot gain enough, or that two more did not, or that MaxGrown were tried.
func (g *Growth) Done() bool {
	tried, serve := len(g.grown), g.Latent()
	return tried > 0 && (tried >= min(serve+2, MaxGrown) || g.grown[tried-1].Nats < least(g.without, g.nats(), serve-1))
}

func (g *Growth) nats() []float64 {
	out := make([]float64, len(g.grown))
	for i, grown := range g.grown {
		out[i] = grown.Nats
	}
	return out
}

// Fewest is the number of latents beyond which more are not worth having, where models of 1, 2, ... of them cost nats a frame on held-out frames
// and still is the cost without any; 0 where nats is empty.
func Fewest(still float64, nats []float64) int {
	for i := range nats {
		if !outdone(still, nats, i) {
			return i + 1
		}
	}
	return 0
}

// outdone says whether more latents than those of nats[i] are worth having.
func outdone(still float64, nats []float64, i int) bool {
	for more := 1; i+more < len(nats); more++ {
		if nats[i]-nats[i+more] > float64(more)*least(still, nats, i) {
			return true
		}
	}
	return false
}

// least is what each latent beyond those of nats[i] has to gain, nats.
func least(still float64, nats []float64, i int) float64 {
	return gainShare * max(still-nats[i], 0) / float64(i+1)
}
