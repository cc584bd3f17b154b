//go:build cgo

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"driftscope/internal/console"
	"driftscope/internal/training"
)

// pretrainCmd learns an encoder from recordings.
type pretrainCmd struct {
	Source         []string `arg:"" help:"The recordings to learn from, one or several of one kind: a video, a folder or glob of pictures, a TIFF, a FITS cube or sim:NAME."`
	Latent         string   `help:"Latent dimension, or auto: as few as draw the held-out pictures, by trial. Required without --from, which has its own." placeholder:"D"`
	Objects        bool     `help:"Learn what the objects of a field look like, one model for all of them: for run --objects."`
	Out            string   `required:"" help:"Where to write the model; a report goes beside it, as .html." placeholder:"MODEL.onnx"`
	From           string   `help:"Continue from this model, or embedded:molecule, in one run, with its own preprocessing." placeholder:"MODEL.onnx"`
	TrainFrames    string   `name:"train-frames" help:"Frames of a single recording to learn from, A:B; the rest is kept for eval." placeholder:"A:B"`
	Seed           uint64   `default:"1" help:"Of every random draw."`
	Recipe         string   `enum:"fast,paper" default:"fast" help:"fast: random pairs, cosine decay. paper: its batch, tau, decay and epochs."`
	Crop           string   `default:"auto" help:"auto: the square that holds what moves; film or film,SIZE: one around the object of each film, with the film's own grey range; none: the whole frame; or X,Y,SIZE in pixels."`
	CLAHE          string   `name:"clahe" enum:"auto,on,off" default:"auto" help:"Equalise: ${enum}; auto does where what moves then stands out further of the noise."`
	KeepLight      bool     `name:"keep-light" help:"Leave in what the lamp does to the whole picture: brightness may then be a latent."`
	Tau            float64  `help:"Observation noise on the summed squared error; chosen from the clip unless given."`
	Steps          int      `help:"Optimiser steps of the run that is kept." placeholder:"N"`
	Pairs          int      `help:"Pairs of frames a step." placeholder:"N"`
	Rate           float64  `help:"Adam's rate at its peak."`
	Restarts       int      `help:"Runs from other first weights, 4 unless given, 1 with --from and where rigid objects are located; all run a third of the steps, the two best by held-out loss run to the end." placeholder:"N"`
	Patience       int      `help:"Looks at the held-out frames without gain before stopping; 0 is never."`
	Posterior      string   `enum:"diagonal,cholesky," default:"" help:"The encoder's covariance, diagonal or cholesky; the recipe's unless given." placeholder:"FORM"`
	Diffusion      string   `enum:"profiled,diagonal,isotropic" default:"profiled" help:"Sigma during training: at its maximum of likelihood, or learnt: ${enum}."`
	L1             float64  `name:"l1" help:"Penalty on the picture's motion a latent dimension, nats."`
	Nu             float64  `help:"Precision of a Gaussian prior on the latents."`
	Substeps       int      `help:"Euler-Maruyama steps of the drift between two frames, 1 unless given." placeholder:"N"`
	Clock          bool     `help:"Let the drift, and the encoder's last layer, depend on the time since the recording began."`
	SpriteSteps    int      `name:"sprite-steps" aliases:"follow" help:"Steps of the encoder on synthetic frames of rigid objects, where those are located; four times --steps, at most 1200, unless given; negative does not look for them." placeholder:"N"`
	SyntheticSteps int      `name:"synthetic-steps" aliases:"sleep" help:"Steps of the encoder alone on synthetic frames, which the decoder drew, at the end; half of --steps unless given; negative is none." placeholder:"N"`
	ReinitSteps    int      `name:"reinit-steps" aliases:"redraw" help:"Steps of the decoder alone after that, with latents re-initialised from the learnt features; as --synthetic-steps, none with --from." placeholder:"N"`
	DT             float64  `name:"dt" help:"Seconds between frames, whatever the recording says." placeholder:"S"`
	FPS            float64  `name:"fps" help:"Frames a second, whatever the recording says."`
	Assets         string   `help:"A folder with the pictures that a sim:NAME draws, as simulate takes it." placeholder:"DIR" type:"path"`
}

// Run learns with the cores shared.
func (c *pretrainCmd) Run(ctx context.Context) error {
	for _, warning := range renamed(os.Args[1:]) {
		console.Warn("%s", warning)
	}
	if err := training.YieldCores(); err != nil {
		return err
	}
	o := training.Options(*c)
	return o.Learn(ctx)
}

// oldFlags are names that this release takes for the last time, and what they are now.
var oldFlags = map[string]string{"--follow": "--sprite-steps", "--sleep": "--synthetic-steps", "--redraw": "--reinit-steps"}

// renamed warns of the old names among pretrain's arguments.
func renamed(args []string) (warnings []string) {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if now, old := oldFlags[name]; old {
			warnings = append(warnings, fmt.Sprintf("%s is %s now: the old name goes with the next release", name, now))
		}
	}
	return warnings
}
