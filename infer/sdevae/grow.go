package sdevae

import (
	"context"
	"errors"
	"fmt"
	"math"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Growth finds the number of latents of a clip. It trains models of 1, 2, ... latents, each with half of Train's steps, until two models in a row gain nothing
// or no larger model can gain enough.
//
// The held-out loss is a description length: it falls with a latent that explains more than it costs, and rises with any other. A latent without content has e
// = 0 but costs ½ ln(2S/Δt) - ½ ln S = ½ ln(2/Δt), a constant, because the loss counts the two posteriors of a pair as independent. Nats exclude this constant,
// and also Noise/2τ, the cost of the pixels' noise for any model.
//
// If located objects explain all motion, training is skipped, because their residual gives the same information.
type Growth struct {
	clip    *video.Clip
	config  Config
	search  Config  // config of the later training
	located bool    // grown describes located objects
	without float64 // nats: cost of the motion without any latent
	noise   float64 // nats: cost of the pixels' noise
	grown   []Grown // results for 1, 2, ... latents
}

// Grown is the result of a model with one number of latents, on held-out pairs.
type Grown struct {
	Latent    int
	Nats      float64 // cost of the picture and its latents, nats per frame
	Explained float64 // share of the held-out pictures' variance beyond noise
}

// MaxGrown is the largest number of latents that Growth tries.
const MaxGrown = 16

const gainShare float64 = 0.25 // tuned grow.gainShare: least gain of one more latent relative to the mean gain of the earlier ones: restarts differ by less, coordinates of one object by less than a factor of four

// NewGrowth returns a Growth without results. c is the config of the later training, with its Tau; its Latent is ignored.
func NewGrowth(clip *video.Clip, c Config) *Growth {
	if c.Steps == 0 {
		c.Steps = DefaultSteps
	}
	search := c
	c.Steps, c.SpriteSteps, c.SyntheticSteps, c.ReinitSteps = max(c.Steps/2, 1), -1, -1, -1
	c.FreezeSteps, c.EncoderRate = -1, 1 // the pictures must be explained early; straight latents are not needed here
	noise := clip.Noise() / (2 * c.Tau)
	return &Growth{clip: clip, config: c, search: search, without: clip.Energy()/(2*c.Tau) - noise, noise: noise}
}

// Locate counts two latents per located object, and one latent per mode of change of a single object. If located objects explain all motion, it returns the
// results for 1, 2, ... latents, and Done is true. Otherwise it returns nil, and Next continues.
func (g *Growth) Locate(ctx context.Context, watch func(Progress)) ([]Grown, error) {
	j := &job{clip: g.clip, training: Training{Watch: watch}}
	if !j.searches(g.search) {
		return nil, nil
	}
	if j.survey(ctx, g.search); j.lowSNR() { // the amount of motion is unknown
		return nil, ctx.Err()
	}
	left := j.leftByAll(ctx, g.search.Seed)
	if left == nil {
		if level, at := j.clip.WithoutSteps(); len(at) > 0 {
			j.clip, j.moving = level, level.Moving()
			left = j.leftByAll(ctx, g.search.Seed)
		}
	}
	if left == nil || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i, v := range left {
		g.grown = append(g.grown, Grown{Latent: i + 1, Nats: v/(2*g.config.Tau) - g.noise, Explained: j.share(v)})
	}
	g.without, g.located = g.grown[0].Nats, true
	return g.grown, nil
}

// leftByAll returns the result of leftByLatents if the useful latents explain all motion, or nil.
func (j *job) leftByAll(ctx context.Context, seed uint64) []float64 {
	still := j.energyHeld()
	left, whole := j.leftByLatents(ctx, still, seed)
	wanted := 1 - numeric.LeastLayer
	if whole {
		wanted = numeric.Majority
	}
	if serves := j.share(left[Fewest(still, left)-1]); !(serves >= wanted) { // NaN if all frames are equal
		return nil
	}
	return left
}

// leftByLatents returns the mean residual energy of a held-out frame with 1, 2, ... latents. still is the residual energy of the still picture. It searches for
// 1, 2, ... objects until one more object is not worth its latents. whole reports that there is one object whose own changes explain its residual.
func (j *job) leftByLatents(ctx context.Context, still float64, seed uint64) (left []float64, whole bool) {
	left = []float64{still} // one coordinate of an object does not determine its position
	with := func(latents int, energy float64) {
		for len(left) < latents {
			left = append(left, left[len(left)-1])
		}
		left[latents-1] = min(left[latents-1], energy)
	}
	for n := 1; n <= maxSprites && 2*n <= Fewest(still, left)+2; n++ {
		t := j.locateSprites(ctx, n, seed, 0)
		if t == nil {
			break
		}
		if n > 1 {
			whole = whole && (2*n <= len(left) && left[2*n-1] <= t.left)
			with(2*n, t.left)
			continue
		}
		with(2*n, t.left)
		held := video.FramesOf(j.held)
		if d := t.sprites.Deform(ctx, j.clip, video.FramesOf(j.train), held); d != nil {
			for k := range d.Modes() + 1 {
				with(2+k, d.Left(j.clip, held, k))
			}
			whole = left[len(left)-1] < t.sprites.LeftBehind(j.clip, video.FramesOf(j.train), held, d.Modes())
		}
	}
	return left, whole
}

// Next trains the model with one more latent. watch, which may be nil, is called from the same goroutine after every step.
func (g *Growth) Next(ctx context.Context, watch func(Progress)) (Grown, error) {
	c := g.config
	c.Latent = len(g.grown) + 1
	next := Grown{Latent: c.Latent, Nats: g.without} // cost of a model that only reconstructs the mean picture
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

// Latent returns the smallest number of latents beyond which no tried model is worth its cost, or 0 before the first result.
func (g *Growth) Latent() int { return Fewest(g.without, g.nats()) }

// Done reports that more latents than Latent cannot gain enough, that the two next models did not gain enough, or that MaxGrown models were tried.
func (g *Growth) Done() bool {
	tried, serve := len(g.grown), g.Latent()
	return tried > 0 && (g.located || tried >= min(serve+2, MaxGrown) || g.grown[tried-1].Nats < least(g.without, g.nats(), serve-1))
}

func (g *Growth) nats() []float64 {
	out := make([]float64, len(g.grown))
	for i, grown := range g.grown {
		out[i] = grown.Nats
	}
	return out
}

// Fewest returns the smallest number of latents beyond which more latents are not worth their cost. nats has the costs per held-out frame of models with 1, 2,
// ... latents, still the cost without latents. Fewest returns 0 if nats is empty.
func Fewest(still float64, nats []float64) int {
	for i := range nats {
		if !outdone(still, nats, i) {
			return i + 1
		}
	}
	return 0
}

// outdone reports whether a model with more latents than the one of nats[i] is worth its cost.
func outdone(still float64, nats []float64, i int) bool {
	for more := 1; i+more < len(nats); more++ {
		if nats[i]-nats[i+more] > float64(more)*least(still, nats, i) {
			return true
		}
	}
	return false
}

// least returns the gain in nats that each latent beyond the i + 1 latents of nats[i] needs.
func least(still float64, nats []float64, i int) float64 {
	return gainShare * max(still-nats[i], 0) / float64(i+1)
}
