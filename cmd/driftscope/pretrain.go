package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"driftscope/infer/card"
	"driftscope/infer/sdevae"
)

// pretrainCmd learns an encoder from one recording.
type pretrainCmd struct {
	Source      string  `arg:"" help:"The recording to learn from: a video, a folder or glob of pictures, a TIFF or sim:NAME."`
	Latent      int     `required:"" help:"Latent dimension." placeholder:"D"`
	Out         string  `required:"" help:"Where to write the model; a report goes beside it, as .html." placeholder:"MODEL.onnx"`
	TrainFrames string  `help:"Frames to learn from, A:B; the rest is kept for eval." placeholder:"A:B"`
	Seed        uint64  `default:"1" help:"Of every random draw."`
	Recipe      string  `enum:"fast,paper" default:"fast" help:"fast: random pairs, cosine decay. paper: its batch, tau, decay and epochs."`
	Crop        string  `default:"auto" help:"auto: the square that holds what moves; none: the whole frame; or X,Y,SIZE in pixels."`
	CLAHE       string  `name:"clahe" enum:"auto,on,off" default:"auto" help:"Equalise: ${enum}; auto tries both and keeps what explains more of held-out frames."`
	Tau         float64 `help:"Observation noise on the summed squared error; chosen from the clip unless given."`
	Steps       int     `help:"Optimiser steps a restart." placeholder:"N"`
	Pairs       int     `help:"Pairs of frames a step." placeholder:"N"`
	Rate        float64 `help:"Adam's rate at its peak."`
	Restarts    int     `default:"3" help:"Runs from other first weights; the best by held-out loss is kept."`
	Patience    int     `help:"Looks at the held-out frames without gain before stopping; 0 is never."`
	Posterior   string  `enum:"diagonal,cholesky," default:"" help:"The encoder's covariance: ${enum}; the recipe's unless given." placeholder:"FORM"`
	Diffusion   string  `enum:"profiled,diagonal,isotropic" default:"profiled" help:"Sigma during training: at its maximum of likelihood, or learnt: ${enum}."`
	L1          float64 `name:"l1" help:"Penalty on the picture's motion a latent dimension, nats."`
	Nu          float64 `help:"Precision of a Gaussian prior on the latents."`
	Substeps    int     `default:"1" help:"Euler-Maruyama steps of the drift between two frames."`
	Sleep       int     `help:"Steps of the encoder alone on the decoder's drawings; half of --steps unless given, negative is none." placeholder:"N"`
	DT          float64 `name:"dt" help:"Seconds between frames, where the recording does not say." placeholder:"S"`
	FPS         float64 `name:"fps" help:"Frames a second, where the recording does not say."`
}

// Run trains, writes the model and its report, and says what was chosen and why.
func (c *pretrainCmd) Run(ctx context.Context) error {
	if err := yieldCores(); err != nil {
		return err
	}
	if c.Latent < 1 || c.Latent > card.MaxLatent {
		return usage(fmt.Errorf("--latent: found %d, expected 1 to %d", c.Latent, card.MaxLatent))
	}
	if filepath.Ext(c.Out) != ".onnx" {
		return usage(fmt.Errorf("--out %s: expected a name that ends in .onnx", c.Out))
	}
	if min(c.Steps, c.Pairs, c.Patience, c.Restarts-1) < 0 || min(c.Tau, c.Rate, c.DT, c.FPS) < 0 {
		return usage(errors.New("--steps, --pairs, --patience, --tau, --rate, --dt and --fps: expected positive numbers, --restarts at least 1"))
	}
	frames, err := parseSpan(c.TrainFrames)
	if err != nil {
		return err
	}
	rec, err := openRecording(c.Source, c.DT, c.FPS, frames)
	if err != nil {
		return err
	}
	choice, err := c.choose(ctx, rec)
	if err != nil {
		return err
	}
	clip := choice.clip
	config := c.config(clip.Len())
	config.Tau = choice.tau
	say("seed %d, %d frames of %dx%dx%d, dt %.4g s, tau %.3g", c.Seed, clip.Len(), clip.Channels, clip.Height, clip.Width, clip.DT(), config.Tau)

	bar := newBar("training")
	result, err := sdevae.Train(ctx, clip, config, bar.watch)
	bar.finish()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: interrupted, no model was written", c.Source)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Source, err)
	}
	defer result.Model.Close()
	export, err := result.Export(clip, card.Card{Preprocess: choice.steps, Training: card.Training{
		Command: strings.Join(append([]string{"driftscope"}, os.Args[1:]...), " "), Source: c.Source,
		Frames: fmt.Sprintf("%d:%d", frames.from, frames.from+uint64(clip.Len())), Producer: "driftscope pretrain",
	}})
	if err != nil {
		return err
	}
	if err := writeFile(c.Out, export.File); err != nil {
		return err
	}
	report := strings.TrimSuffix(c.Out, ".onnx") + ".html"
	page, err := result.Report(clip, export)
	if err == nil {
		err = writeFile(report, page)
	}
	if err != nil {
		return fmt.Errorf("the model is whole, its report is not: %w", err)
	}
	say("%s (%d KiB): step %d of %d, held-out loss %.3f, %.1f %% of the held-out pictures explained; %s to look at",
		c.Out, len(export.File)>>10, result.Best.Step, config.Steps, result.Best.HeldOut, 100*result.Best.Explained, report)
	return nil
}

// config is the recipe's, overridden by flags.
func (c *pretrainCmd) config(frames int) sdevae.Config {
	config := sdevae.Config{Latent: c.Latent, Seed: c.Seed, Posterior: sdevae.Posterior(c.Posterior), Diffusion: sdevae.Diffusion(c.Diffusion),
		Nu: c.Nu, L1: c.L1, Substeps: c.Substeps, Steps: c.Steps, Pairs: c.Pairs, Rate: c.Rate, Restarts: c.Restarts, Patience: c.Patience, Sleep: c.Sleep}
	if c.Recipe == "paper" {
		config = config.Paper(frames)
	}
	if config.Steps == 0 {
		config.Steps = sdevae.DefaultSteps
	}
	return config
}

// choice is how a recording is prepared for training.
type choice struct {
	steps []card.Step
	clip  *sdevae.Clip
	tau   float64
}

// choose finds grey window and crop from one pass over the recording, CLAHE by a short trial on held-out frames, and tau from
// the clip's energy; flags override each.
func (c *pretrainCmd) choose(ctx context.Context, rec *recording) (*choice, error) {
	s, err := rec.survey(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Source, err)
	}
	low, high, err := s.window()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Source, err)
	}
	crop, err := c.crop(s)
	if err != nil {
		return nil, err
	}
	var best *choice
	var most float64
	for _, clahe := range c.candidates(s) {
		candidate := &choice{steps: s.steps(low, high, clahe, crop)}
		if candidate.clip, err = rec.clip(ctx, candidate.steps); err != nil {
			return nil, err
		}
		candidate.tau = c.Tau
		if c.Tau == 0 {
			candidate.tau = c.tau(candidate.clip)
		}
		explained := 0.0
		if c.CLAHE == "auto" && !s.coloured {
			if explained, err = c.trial(ctx, candidate); err != nil {
				return nil, err
			}
			say("CLAHE %s: %.1f %% of held-out pictures explained after %d steps", map[bool]string{true: "on", false: "off"}[clahe], 100*explained, trialSteps)
		}
		if best == nil || explained > most {
			best, most = candidate, explained
		}
	}
	say("grey window %g to %g, %s", low, high, describe(best.steps))
	return best, nil
}

// candidates lists the settings of CLAHE to try, the plain one first: it wins ties. Colour is never equalised.
func (c *pretrainCmd) candidates(s *survey) []bool {
	switch {
	case c.CLAHE == "on" && !s.coloured:
		return []bool{true}
	case c.CLAHE == "off" || s.coloured:
		return []bool{false}
	}
	return []bool{false, true}
}

// tau is the recipe's observation noise: a fixed share of what the pictures vary by, which is what worked over scenes whose
// energies differ a thousandfold; or the published code's effective value.
func (c *pretrainCmd) tau(clip *sdevae.Clip) float64 {
	if c.Recipe == "paper" {
		return sdevae.PaperTau
	}
	return clip.Energy() / sdevae.EnergyPerTau
}

// trialSteps is the length of the runs that choose CLAHE.
const trialSteps = 60

// trial is the share of held-out variance explained after a short run.
func (c *pretrainCmd) trial(ctx context.Context, candidate *choice) (float64, error) {
	bar := newBar("trying")
	defer bar.finish()
	result, err := sdevae.Train(ctx, candidate.clip, sdevae.Config{Latent: c.Latent, Seed: c.Seed, Tau: candidate.tau, Steps: trialSteps, Every: trialSteps, Restarts: 1, Sleep: -1}, bar.watch)
	if errors.Is(err, sdevae.ErrMean) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.Source, err)
	}
	result.Model.Close()
	return result.Best.Explained, nil
}

// crop reads --crop.
func (c *pretrainCmd) crop(s *survey) (*region, error) {
	switch c.Crop {
	case "none":
		return nil, nil
	case "auto":
		if r, ok := s.moving(); ok {
			return &r, nil
		}
		return nil, nil
	}
	parts := strings.Split(c.Crop, ",")
	var v [3]int
	for i, p := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil || len(parts) != 3 || n < 0 {
			return nil, usage(fmt.Errorf("--crop %q: expected auto, none or X,Y,SIZE in pixels, such as 28,28,64", c.Crop))
		}
		v[i] = n
	}
	r := &region{v[0], v[1], v[2]}
	if r.size < 1 || r.x+r.size > s.width || r.y+r.size > s.height {
		return nil, usage(fmt.Errorf("--crop %q: %d pixels from (%d, %d) do not lie inside the %dx%d frame", c.Crop, r.size, r.x, r.y, s.width, s.height))
	}
	return r, nil
}

// describe lists preprocessing steps for people.
func describe(steps []card.Step) string {
	var parts []string
	for _, s := range steps {
		part := s.Kind
		if s.Kind == "roi" {
			part = fmt.Sprintf("roi %vx%v at (%v, %v)", s.Options["width"], s.Options["height"], s.Options["x"], s.Options["y"])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " → ")
}
