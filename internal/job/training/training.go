// Package training connects pretrain's flags with infer/sdevae: it chooses the preparation of recordings, trains, and writes checkpoints.
package training

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"driftscope/infer/sdevae/report"

	"driftscope/infer/card"
	"driftscope/infer/finder"
	"driftscope/infer/sdevae"
	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/network"
	"driftscope/internal/flow/frame"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

// Options are the flags of the command pretrain. Checkpoints store them under these names. A training resumes only with equal flags.
type Options struct {
	Source         []string // the recordings
	Latent         string   // the dimension, or auto; empty if From sets it
	Objects        bool     // train on the objects of a field instead of a scene
	Out            string   // model file to write; the report is written next to it
	From           string   // the model to continue
	TrainFrames    string   `flag:"train-frames"` // A:B
	Seed           uint64
	Recipe         string  // fast or paper
	Crop           string  // auto, film, film,SIZE, none or X,Y,SIZE
	CLAHE          string  // auto, on or off
	KeepLight      bool    `flag:"keep-light"` // changes of the lamp may become a latent
	Tau            float64 // 0 chooses it from the clip
	Steps          int
	Pairs          int
	Rate           float64
	Restarts       int
	Patience       int
	Posterior      string // diagonal or cholesky; empty uses the recipe's
	Diffusion      string // profiled, diagonal or isotropic
	L1             float64
	Nu             float64
	Substeps       int
	Clock          bool
	SpriteSteps    int `flag:"sprite-steps" json:"Follow"` // the names in checkpoints are older than the flags'
	SyntheticSteps int `flag:"synthetic-steps" json:"Sleep"`
	ReinitSteps    int `flag:"reinit-steps" json:"Redraw"`
	DT             float64
	FPS            float64
	Assets         string // the folder with the pictures that a simulation draws
}

// Defaults returns the default flags.
func Defaults() Options {
	return Options{Seed: 1, Recipe: "fast", Crop: "auto", CLAHE: "auto", Diffusion: "profiled"}
}

// Learn trains, writes the model and its report, and prints the choices with their reasons.
func (c *Options) Learn(ctx context.Context) error {
	frames, err := c.check()
	if err != nil {
		return err
	}
	data, err := recording.OpenDataset(c.Source, c.DT, c.FPS, c.Assets, frames)
	if err != nil {
		return err
	}
	from, err := c.origin()
	if err != nil {
		return err
	}
	console.Sweep(c.Out, c.training(), c.report())
	left, err := c.Unfinished()
	if err != nil {
		return err
	}
	if clocked := c.Clock || from != nil && from.Card.Clock > 0; clocked && frames.From > 0 {
		return console.Usage(fmt.Errorf("--train-frames %s: the clock starts with the recording's first frame: begin with 0", frames))
	}
	seen, err := c.counsel(ctx, data)
	if err != nil {
		return err
	}
	choice, err := c.prepare(ctx, data, origin{from, left})
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s: %w", data, left.interrupted())
	}
	if err != nil {
		return err
	}
	clip := choice.clip
	if clip.Len() < fewFrames {
		console.Warn("%s: %d frames are few, the encoder may memorise them: record %d or more", data, clip.Len(), fewFrames)
	}
	config := c.config(choice)
	console.Say("seed %d, %d frames of %dx%dx%d, dt %.4g s, tau %.3g", c.Seed, clip.Len(), clip.Channels, clip.Height, clip.Width, clip.DT(), config.Tau)

	result, err := c.train(ctx, choice, config, from, left)
	if err == nil {
		defer result.Model.Close()
		err = c.serves(result.Best.Explained, seen)
	}
	if c.Objects && errors.Is(err, sdevae.ErrMean) {
		return fmt.Errorf("%s: all objects look alike except for noise, so a model of them is useless: follow them without a model: driftscope run %s --objects", data, recording.ShellWord(c.Source[0]))
	}
	if errors.Is(err, sdevae.ErrMean) && seen != nil && seen.Crowd() {
		err = fmt.Errorf("%w; %s", err, c.proposal(seen))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", data, err)
	}
	export, err := result.Export(clip, card.Card{Preprocess: choice.steps, Objects: choice.objects, Training: card.Training{
		Command: console.CommandLine(), Source: data.String(),
		Frames: fmt.Sprintf("%d:%d", frames.From, frames.From+uint64(clip.Len())), Producer: "driftscope pretrain",
	}}, c.measured(clip))
	if err != nil {
		return err
	}
	if err := worthless(export.Verdict); err != nil { // a repetition would end in the same way
		return errors.Join(fmt.Errorf("%s: %w", data, err), left.remove())
	}
	if err := left.complete(c.Out, export.File); err != nil {
		return err
	}
	page := c.report()
	text, err := report.Write(result, clip, export)
	if err == nil {
		err = console.WriteFile(page, text)
	}
	if err != nil {
		return fmt.Errorf("the model is complete, but its report is not: %w", err)
	}
	console.Say("%s (%d KiB): step %d of %d, held-out loss %.3f, %.1f %% of the held-out pictures explained, latents %s; report in %s",
		c.Out, len(export.File)>>10, result.Best.Step, result.Config.Steps+max(result.Config.ReinitSteps, 0), result.Best.HeldOut, 100*result.Best.Explained, straightened(result, export.Rectified), page)
	tell(export.Verdict)
	return nil
}

// counsel takes a first look at the first recording. It warns if there are many objects, because a model of a scene follows only a few. It returns nil
// for --objects, if the pictures are too large, or if no frame can be read.
func (c *Options) counsel(ctx context.Context, data recording.Dataset) (*finder.Finder, error) {
	if c.Objects {
		return nil, nil
	}
	seen, err := data[0].Look(ctx, nil, finder.Free)
	if errors.Is(err, recording.ErrUnread) { // the next reader reports the frames
		return nil, nil
	}
	if errors.Is(err, frame.ErrTooLarge) {
		console.Warn("%s: the objects are not counted: %v", data, err)
		return nil, nil
	}
	if err == nil && seen.Crowd() {
		console.Warn("%s", c.proposal(seen))
	}
	return seen, err
}

// proposal suggests a command for a film of many objects.
func (c *Options) proposal(seen *finder.Finder) string {
	flag := map[bool]string{true: "--bodies", false: "--objects"}[seen.Kind == finder.Bodies]
	return fmt.Sprintf("the film shows %.0f objects per frame: driftscope run %s %s follows each of them without training", seen.Count, recording.ShellWord(c.Source[0]), flag)
}

// leastServed is the least fraction of the motion that a model of a film of many objects must explain. With less it does not model the scene.
// A model of 30 trapped spots has 0.04.
const leastServed = 0.5

// serves refuses a model that explains almost nothing of a film of many objects, and suggests following every object. It accepts any model if the user
// sets the number of latents.
func (c *Options) serves(explained float64, seen *finder.Finder) error {
	if c.Latent != auto || seen == nil || !seen.Crowd() || explained >= leastServed {
		return nil
	}
	return fmt.Errorf("the model explains %.1f %% of the held-out pictures, and is not written: %s", 100*explained, c.proposal(seen))
}

// training returns the path of the checkpoint until the model is complete; report returns the report's path.
func (c *Options) training() string { return c.Out + ".training" }
func (c *Options) report() string   { return strings.TrimSuffix(c.Out, ".onnx") + ".html" }

// fewFrames is the least length of a recording without a warning.
const fewFrames = 60

// straightened describes how the latents were obtained.
func straightened(result *sdevae.Result, r *gauge.Rectified) string {
	switch {
	case result.SpriteShare > 0:
		return fmt.Sprintf("%s, which explain %.1f %% of the motion", located(result), 100*result.SpriteShare)
	case r == nil:
		return "unchanged"
	}
	return fmt.Sprintf("straightened by %.3f nats per held-out pair", r.Gain)
}

// check refuses contradictory flags, and parses --train-frames.
func (c *Options) check() (frames recording.Span, err error) {
	numbers := []float64{c.Tau, c.Rate, c.DT, c.FPS, c.L1, c.Nu}
	if _, err = c.dimension(); err == nil {
		err = c.checkObjects()
	}
	switch {
	case err != nil:
	case filepath.Ext(c.Out) != ".onnx":
		err = fmt.Errorf("--out %s: expected a name that ends in .onnx", c.Out)
	case min(c.Steps, c.Pairs, c.Patience, c.Restarts, c.Substeps) < 0 || !(slices.Min(numbers) >= 0) || math.IsInf(slices.Max(numbers), 0):
		err = errors.New("--steps, --pairs, --patience, --restarts, --substeps, --tau, --rate, --l1, --nu, --dt and --fps: expected positive numbers")
	case c.From != "" && (c.Crop != "auto" || c.CLAHE != "auto" || c.KeepLight):
		err = errors.New("--from: the model determines the preparation of pictures: leave --crop, --clahe and --keep-light out")
	case c.From != "" && (c.Restarts > 1 || c.ReinitSteps > 0):
		err = errors.New("--from: continues a model in one run and keeps its latents: leave --restarts and --reinit-steps out")
	default:
		if err = system.Writable(c.Out); err != nil {
			err = fmt.Errorf("--out %w", err)
		}
	}
	if err != nil {
		return frames, console.Usage(err)
	}
	return recording.ParseSpan("--train-frames", c.TrainFrames)
}

// origin reads the model to continue, or returns nil.
func (c *Options) origin() (*card.File, error) {
	if c.From == "" {
		return nil, nil
	}
	data, found, err := reach.ShippedModel(c.From)
	if !found {
		data, err = system.ReadBounded(c.From, card.MaxFile)
	}
	var f *card.File
	if err == nil {
		f, err = card.Read(data)
	}
	if d, _ := c.dimension(); err == nil && d > 0 && d != f.Card.Latent {
		err = fmt.Errorf("it has %d latents, but --latent is %d: leave --latent out", f.Card.Latent, d)
	}
	if err != nil {
		return nil, console.Usage(fmt.Errorf("--from %s: %w", c.From, err))
	}
	return f, nil
}

// train learns the model and writes checkpoints.
func (c *Options) train(ctx context.Context, choice *choice, config sdevae.Config, from *card.File, left *unfinished) (*sdevae.Result, error) {
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
	case err != nil && saved == nil && taken > begun: // the training itself failed and would fail again
		err = errors.Join(err, left.remove())
	}
	return result, err
}

// config returns the recipe's configuration, overridden by flags.
func (c *Options) config(choice *choice) sdevae.Config {
	config := sdevae.Config{Latent: choice.latent, Tau: choice.tau, Seed: c.Seed, Posterior: network.Posterior(c.Posterior), Diffusion: network.Diffusion(c.Diffusion),
		Nu: c.Nu, L1: c.L1, Substeps: c.Substeps, Clock: c.Clock, Steps: c.Steps, Pairs: c.Pairs, Rate: c.Rate, Restarts: c.Restarts, Patience: c.Patience, SpriteSteps: c.SpriteSteps, SyntheticSteps: c.SyntheticSteps, ReinitSteps: c.ReinitSteps}
	if c.Recipe == "paper" {
		config = config.Paper(choice.clip.Len())
	}
	if c.Objects { // each object is in the middle of its picture, so there is no rigid object to locate
		config.SpriteSteps = -1
	}
	if config.Steps == 0 {
		config.Steps = sdevae.DefaultSteps
	}
	return config
}

// located describes the latents of a model with located objects.
func located(r *sdevae.Result) string {
	what := fmt.Sprintf("the places of %d rigid objects", r.Sprites)
	if r.Modes > 0 {
		what = fmt.Sprintf("the place of an object that changes in %d ways", r.Modes)
	}
	if r.AppearanceLatents > 0 {
		what += fmt.Sprintf(", %d of them latents", r.AppearanceLatents)
	}
	if r.BackgroundLatents > 0 {
		what += fmt.Sprintf(" and %d of a background", r.BackgroundLatents)
	}
	if n := r.Config.Latent - 2*r.Sprites - r.AppearanceLatents - r.BackgroundLatents; n > 0 {
		what += fmt.Sprintf(", %d padding", n)
	}
	if len(r.Steps) > 0 {
		what += fmt.Sprintf(", over a picture whose still part changes with frame %d", r.Steps[0])
	}
	return what
}
