package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/internal/atomicfile"
)

// pretrainCmd learns an encoder from recordings.
type pretrainCmd struct {
	Source      []string `arg:"" help:"The recordings to learn from, one or several of one kind: a video, a folder or glob of pictures, a TIFF, a FITS cube or sim:NAME."`
	Latent      string   `help:"Latent dimension, or auto: as few as draw the held-out pictures, by trial. Required without --from, which has its own." placeholder:"D"`
	Out         string   `required:"" help:"Where to write the model; a report goes beside it, as .html." placeholder:"MODEL.onnx"`
	From        string   `help:"Continue from this model, or embedded:molecule, in one run, with its own preprocessing." placeholder:"MODEL.onnx"`
	TrainFrames string   `name:"train-frames" help:"Frames of a single recording to learn from, A:B; the rest is kept for eval." placeholder:"A:B"`
	Seed        uint64   `default:"1" help:"Of every random draw."`
	Recipe      string   `enum:"fast,paper" default:"fast" help:"fast: random pairs, cosine decay. paper: its batch, tau, decay and epochs."`
	Crop        string   `default:"auto" help:"auto: the square that holds what moves; film or film,SIZE: one around the object of each film, with the film's own grey range; none: the whole frame; or X,Y,SIZE in pixels."`
	CLAHE       string   `name:"clahe" enum:"auto,on,off" default:"auto" help:"Equalise: ${enum}; auto tries both and keeps what explains more of held-out frames."`
	Tau         float64  `help:"Observation noise on the summed squared error; chosen from the clip unless given."`
	Steps       int      `help:"Optimiser steps of the run that is kept." placeholder:"N"`
	Pairs       int      `help:"Pairs of frames a step." placeholder:"N"`
	Rate        float64  `help:"Adam's rate at its peak."`
	Restarts    int      `help:"Runs from other first weights, 4 unless given, 1 with --from and where things are followed; all go a third of the way, the two best by held-out loss go on." placeholder:"N"`
	Patience    int      `help:"Looks at the held-out frames without gain before stopping; 0 is never."`
	Posterior   string   `enum:"diagonal,cholesky," default:"" help:"The encoder's covariance, diagonal or cholesky; the recipe's unless given." placeholder:"FORM"`
	Diffusion   string   `enum:"profiled,diagonal,isotropic" default:"profiled" help:"Sigma during training: at its maximum of likelihood, or learnt: ${enum}."`
	L1          float64  `name:"l1" help:"Penalty on the picture's motion a latent dimension, nats."`
	Nu          float64  `help:"Precision of a Gaussian prior on the latents."`
	Substeps    int      `help:"Euler-Maruyama steps of the drift between two frames, 1 unless given." placeholder:"N"`
	Clock       bool     `help:"Let the drift, and the encoder's last layer, depend on the time since the recording began."`
	Follow      int      `help:"Steps of the encoder on drawings of things that keep their shape, where those are found to be what moves; four times --steps, at most 1200, unless given, negative is none." placeholder:"N"`
	Sleep       int      `help:"Steps of the encoder alone on frames that the decoder moved, in the end; half of --steps unless given, negative is none." placeholder:"N"`
	Redraw      int      `help:"Steps of the decoder alone after that, once the latents were found anew among the features learnt; as --sleep, none with --from." placeholder:"N"`
	DT          float64  `name:"dt" help:"Seconds between frames, whatever the recording says." placeholder:"S"`
	FPS         float64  `name:"fps" help:"Frames a second, whatever the recording says."`
	Assets      string   `help:"A folder with the pictures that a sim:NAME draws, as simulate takes it." placeholder:"DIR" type:"path"`
}

// Run learns with the cores shared.
func (c *pretrainCmd) Run(ctx context.Context) error {
	if err := yieldCores(); err != nil {
		return err
	}
	return c.learn(ctx)
}

// learn trains, writes the model and its report, and says what was chosen and why.
func (c *pretrainCmd) learn(ctx context.Context) error {
	frames, err := c.check()
	if err != nil {
		return err
	}
	data, err := openDataset(c.Source, c.DT, c.FPS, c.Assets, frames)
	if err != nil {
		return err
	}
	from, err := c.origin()
	if err != nil {
		return err
	}
	sweep(c.Out, c.training(), c.report())
	left, err := c.unfinished()
	if err != nil {
		return err
	}
	if clocked := c.Clock || from != nil && from.Card.Clock > 0; clocked && frames.from > 0 {
		return usage(fmt.Errorf("--train-frames %s: the clock starts with the recording's first frame: begin with 0", frames))
	}
	choice, err := c.prepare(ctx, data, from, left)
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s: %w", data, left.interrupted())
	}
	if err != nil {
		return err
	}
	clip := choice.clip
	if clip.Len() < fewFrames {
		warn("%s: %d frames are few to learn from, the encoder may learn them by heart: record %d or more", data, clip.Len(), fewFrames)
	}
	config := c.config(choice)
	say("seed %d, %d frames of %dx%dx%d, dt %.4g s, tau %.3g", c.Seed, clip.Len(), clip.Channels, clip.Height, clip.Width, clip.DT(), config.Tau)

	result, err := c.train(ctx, choice, config, from, left)
	if err != nil {
		return fmt.Errorf("%s: %w", data, err)
	}
	defer result.Model.Close()
	export, err := result.Export(clip, card.Card{Preprocess: choice.steps, Training: card.Training{
		Command: strings.Join(append([]string{"driftscope"}, os.Args[1:]...), " "), Source: data.String(),
		Frames: fmt.Sprintf("%d:%d", frames.from, frames.from+uint64(clip.Len())), Producer: "driftscope pretrain",
	}})
	if err != nil {
		return err
	}
	if err := left.complete(c.Out, export.File); err != nil {
		return err
	}
	report := c.report()
	page, err := result.Report(clip, export)
	if err == nil {
		err = writeFile(report, page)
	}
	if err != nil {
		return fmt.Errorf("the model is whole, its report is not: %w", err)
	}
	say("%s (%d KiB): step %d of %d, held-out loss %.3f, %.1f %% of the held-out pictures explained, latents %s; %s to look at",
		c.Out, len(export.File)>>10, result.Best.Step, result.Config.Steps+max(result.Config.Redraw, 0), result.Best.HeldOut, 100*result.Best.Explained, straightened(result, export.Rectified), report)
	return nil
}

// training is where the checkpoint lies until the model is whole; report is where the report goes.
func (c *pretrainCmd) training() string { return c.Out + ".training" }
func (c *pretrainCmd) report() string   { return strings.TrimSuffix(c.Out, ".onnx") + ".html" }

// fewFrames is where a recording begins to be long enough.
const fewFrames = 60

// straightened says where the latents come from.
func straightened(result *sdevae.Result, r *sdevae.Rectified) string {
	switch {
	case result.Followed > 0:
		others := ""
		if result.Beside > 0 {
			others = fmt.Sprintf(" and %d beside", result.Beside)
		} else if n := result.Config.Latent - 2*result.Things; n > 0 {
			others = fmt.Sprintf(", %d to spare", n)
		}
		return fmt.Sprintf("the places of %d of fixed shape%s, which make %.1f %% of what moves", result.Things, others, 100*result.Followed)
	case r == nil:
		return "left as they came"
	case r.Components > 0:
		return "straightened along the pictures' principal components"
	}
	return fmt.Sprintf("straightened by %.3f nats a held-out pair", r.Gain)
}

// check refuses flags that contradict themselves or each other, and reads --train-frames.
func (c *pretrainCmd) check() (frames span, err error) {
	numbers := []float64{c.Tau, c.Rate, c.DT, c.FPS, c.L1, c.Nu}
	_, err = c.dimension()
	switch {
	case err != nil:
	case filepath.Ext(c.Out) != ".onnx":
		err = fmt.Errorf("--out %s: expected a name that ends in .onnx", c.Out)
	case min(c.Steps, c.Pairs, c.Patience, c.Restarts, c.Substeps) < 0 || !(slices.Min(numbers) >= 0) || math.IsInf(slices.Max(numbers), 0):
		err = errors.New("--steps, --pairs, --patience, --restarts, --substeps, --tau, --rate, --l1, --nu, --dt and --fps: expected positive numbers")
	case c.From != "" && (c.Crop != "auto" || c.CLAHE != "auto"):
		err = errors.New("--from: pictures are prepared as the model wants them: leave --crop and --clahe out")
	case c.From != "" && (c.Restarts > 1 || c.Redraw > 0):
		err = errors.New("--from: a model is continued in one run, and its latents are kept: leave --restarts and --redraw out")
	default:
		if err = atomicfile.Writable(c.Out); err != nil {
			err = fmt.Errorf("--out %w", err)
		}
	}
	if err != nil {
		return frames, usage(err)
	}
	return parseSpan("--train-frames", c.TrainFrames)
}

// origin reads the model to continue, nil where there is none.
func (c *pretrainCmd) origin() (*card.File, error) {
	if c.From == "" {
		return nil, nil
	}
	data, found, err := shipped(c.From)
	if !found {
		data, err = readBounded(c.From, card.MaxFile)
	}
	var f *card.File
	if err == nil {
		f, err = card.Read(data)
	}
	if d, _ := c.dimension(); err == nil && d > 0 && d != f.Card.Latent {
		err = fmt.Errorf("it has %d latents, --latent asks for %d: leave --latent out", f.Card.Latent, d)
	}
	if err != nil {
		return nil, usage(fmt.Errorf("--from %s: %w", c.From, err))
	}
	return f, nil
}

// train learns the model, leaving checkpoints behind.
func (c *pretrainCmd) train(ctx context.Context, choice *choice, config sdevae.Config, from *card.File, left *unfinished) (*sdevae.Result, error) {
	notes, err := json.Marshal(notes{Settings: *c, Steps: choice.steps, Tau: choice.tau, Latent: choice.latent})
	if err != nil {
		return nil, err
	}
	bar, begun, taken, saved := newBar("training"), left.step, left.step, error(nil)
	how := sdevae.Training{From: from, Notes: notes, Resume: left.from,
		Watch: func(p sdevae.Progress) {
			taken = p.Step
			bar.watch(p)
		},
		Save: func(data []byte) error {
			saved = left.save(data, taken)
			return saved
		}}
	result, err := how.Train(ctx, choice.clip, config)
	bar.finish()
	switch {
	case errors.Is(err, context.Canceled):
		err = left.interrupted()
	case errors.Is(err, sdevae.ErrCheckpoint):
		err = left.refuse(err)
	case err != nil && saved == nil && taken > begun: // the training itself failed: it would again
		err = errors.Join(err, left.remove())
	}
	return result, err
}

// config is the recipe's, overridden by flags.
func (c *pretrainCmd) config(choice *choice) sdevae.Config {
	config := sdevae.Config{Latent: choice.latent, Tau: choice.tau, Seed: c.Seed, Posterior: sdevae.Posterior(c.Posterior), Diffusion: sdevae.Diffusion(c.Diffusion),
		Nu: c.Nu, L1: c.L1, Substeps: c.Substeps, Clock: c.Clock, Steps: c.Steps, Pairs: c.Pairs, Rate: c.Rate, Restarts: c.Restarts, Patience: c.Patience, Follow: c.Follow, Sleep: c.Sleep, Redraw: c.Redraw}
	if c.Recipe == "paper" {
		config = config.Paper(choice.clip.Len())
	}
	if config.Steps == 0 {
		config.Steps = sdevae.DefaultSteps
	}
	return config
}
