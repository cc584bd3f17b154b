package sdevae

import (
	"cmp"
	"math"

	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/video"
)

// Config holds the settings of a training. A zero value means the default named in the field's comment. Checkpoints store Config as JSON, so a renamed field
// keeps its key.
type Config struct {
	Latent    int               // dimension d
	Seed      uint64            // seed of every random draw
	Posterior network.Posterior // Diagonal
	Diffusion network.Diffusion // Profiled
	Tau       float64           // observation noise, for the squared error summed over pixels
	Nu        float64           // precision of the prior N(0, 1/ν) on the latents; 0 means no prior, as in the paper
	L1        float64           // nats per unit of Σ σᵢ |∂f/∂zᵢ|, the picture's motion per √s; 0 disables the term
	Substeps  int               // Euler-Maruyama steps of the drift within a pair; 1
	Clock     bool              // the drift and the encoder's last layer also read the time since the trajectory began

	Steps          int     // optimiser steps of a run that ends; DefaultSteps
	Pairs          int     // pairs per batch; 50, or fewer in a short clip
	Rate           float64 // peak rate of Adam; 2e-3
	FreezeSteps    int     `json:"Lead"` // first steps, in which the encoder's means are frozen; half of Steps, a negative value means none
	EncoderRate    float64 `json:"Pace"` // learning rate of the encoder's means after FreezeSteps, as a share of Rate; 0.2
	Warmup         int     // first steps, in which the rate rises linearly; 50
	Decay          float64 // factor on the rate per step after the warm-up; 0 means a cosine that reaches 0 at the last step
	Restarts       int     // runs with different initial weights; 4. After a third of the steps, only the two with the best held-out loss continue
	Every          int     // steps between evaluations of the held-out frames; 25
	Patience       int     // evaluations without improvement before the run stops; 0 never stops
	SpriteSteps    int     `json:"Follow"` // steps of the encoder on synthetic frames of located sprites or a low-rank picture, before the other steps; four times Steps, at most 1200; a negative value means none
	SyntheticSteps int     `json:"Sleep"`  // steps of the encoder alone on frames changed by the decoder, after the other steps; half of Steps, none at low SNR; a negative value means none
	ReinitSteps    int     `json:"Redraw"` // last steps, of the decoder alone, after the latents were re-initialised; half of Steps, none with Clock, at low SNR or with few pairs; a negative value means none
}

// form returns the settings of the model.
func (c *Config) form() network.Form {
	return network.Form{Latent: c.Latent, Posterior: c.Posterior, Diffusion: c.Diffusion, Substeps: c.Substeps, Clock: c.Clock}
}

// objective returns the settings of the loss.
func (c *Config) objective() network.Objective {
	return network.Objective{Pairs: c.Pairs, Tau: c.Tau, Nu: c.Nu, L1: c.L1, FreezeSteps: c.FreezeSteps, EncoderRate: c.EncoderRate}
}

// Recipe is the number of the last design decision that changed the result of a training. Do not compare figures from different recipes.
const Recipe = 66

// DefaultSteps is the default length of a run.
const DefaultSteps = 300

const (
	defaultRate   float64 = 2e-3 // tuned train.rate: peak rate of Adam
	defaultPairs          = 50   // tuned train.pairs: pairs of frames per step
	defaultWarmup         = 50   // tuned train.warmup: steps of linear rise of Adam's rate; at most a fifth of all steps
	defaultPace   float64 = 0.2  // tuned train.encoderRate: relative rate of the encoder's means after the decoder has learnt alone: an unfinished decoder bends straight latents
	movingPerTau  float64 = 150  // tuned tau.moving: tau is the motion per frame over this: sets how much the dynamics shape the latents
	noisePerTau   float64 = 20   // tuned tau.noise: tau also has the pixel noise per frame over this: otherwise latents bend to explain noise
)

// withDefaults fills in the zero values, for a clip with this number of training pairs.
func (c Config) withDefaults(pairs int) Config {
	for _, v := range []struct {
		field *int
		value int
	}{{&c.Steps, DefaultSteps}, {&c.Pairs, defaultPairs}, {&c.Restarts, 4}, {&c.Every, 25}, {&c.Substeps, 1}} {
		if *v.field == 0 {
			*v.field = v.value
		}
	}
	if c.Warmup == 0 {
		c.Warmup = min(defaultWarmup, c.Steps/5)
	}
	if c.SyntheticSteps == 0 {
		c.SyntheticSteps = c.Steps / 2
	}
	if c.ReinitSteps == 0 {
		c.ReinitSteps = c.Steps / 2
	}
	if c.Rate == 0 {
		c.Rate = defaultRate
	}
	if c.FreezeSteps == 0 {
		c.FreezeSteps = c.Steps / 2
	}
	if c.EncoderRate == 0 {
		c.EncoderRate = defaultPace
	}
	if c.Posterior == "" {
		c.Posterior = network.Diagonal
	}
	if c.Diffusion == "" {
		c.Diffusion = network.Profiled
	}
	c.Pairs = min(c.Pairs, pairs)
	return c
}

// rate returns Adam's learning rate at step k, counted from 0.
func (c *Config) rate(k int) float64 {
	switch {
	case k >= c.Steps:
		return c.Rate * min(float64(k-c.Steps+1)/lateWarmup, 1) * cosine(k-c.Steps, c.ReinitSteps)
	case k < c.Warmup:
		return c.Rate * float64(k+1) / float64(c.Warmup)
	case c.Decay > 0:
		return c.Rate * math.Pow(c.Decay, float64(k-c.Warmup))
	}
	return c.Rate * cosine(k-c.Warmup, c.Steps-c.Warmup)
}

// cosine falls from 1 at step 0 to 0 at step n.
func cosine(k, n int) float64 { return (1 + math.Cos(math.Pi*float64(k)/float64(n))) / 2 }

// trial returns the step at which all restarts except the finalists stop.
func (c *Config) trial() int {
	if c.Restarts == 1 {
		return 0
	}
	return c.Steps / 3
}

// finalists returns the number of restarts that run to the end. After a third of the steps, the eventual winner is among the best two.
func (c *Config) finalists() int { return min(c.Restarts, 2) }

// TotalSteps returns the number of optimiser steps of a training, unless it stops early.
func (c Config) TotalSteps() int {
	return c.Restarts*c.trial() + c.finalists()*(c.Steps-c.trial()) + max(c.SpriteSteps, 0) + max(c.SyntheticSteps, 0) + max(c.ReinitSteps, 0)
}

// TauOf returns a suitable tau for a clip. Tau determines how much the dynamics shape the latents. It is a share of the motion plus a larger share of the
// pixels' noise, because otherwise the latents would bend to explain the noise. The noise counts only up to a bound, because a larger tau leaves the latents
// nothing to explain. The bound is the motion or, if larger, the variance of the noise in one pixel, the tau of a white noise likelihood.
func TauOf(c *video.Clip) float64 {
	noise := c.Noise()
	moving := c.Energy() - noise
	return moving/movingPerTau + min(noise/noisePerTau, max(moving/noisePerTau, noise/float64(c.Size())))
}

// PaperTau is the tau of the published code, converted to the summed squared error, because the published code averages over pixels.
const PaperTau = 1.23

// Paper returns the paper's recipe for a clip: 800 frames per batch, the paper's learning rate with exponential decay, 1500 epochs of one batch each, a full
// posterior, and no later phases. The loss is still this package's loss. Values already set in c do not change.
func (c Config) Paper(frames int) Config {
	c.Pairs = cmp.Or(c.Pairs, min(frames/2, 400))
	c.Steps = cmp.Or(c.Steps, 1500)
	c.Rate = cmp.Or(c.Rate, 1e-3)
	c.Posterior = cmp.Or(c.Posterior, network.Cholesky)
	c.Decay, c.Warmup = cmp.Or(c.Decay, 0.997), cmp.Or(c.Warmup, 1)
	c.SpriteSteps, c.SyntheticSteps, c.ReinitSteps = cmp.Or(c.SpriteSteps, -1), cmp.Or(c.SyntheticSteps, -1), cmp.Or(c.ReinitSteps, -1)
	c.FreezeSteps, c.EncoderRate = cmp.Or(c.FreezeSteps, -1), cmp.Or(c.EncoderRate, 1)
	return c
}
