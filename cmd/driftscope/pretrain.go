//go:build cgo

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"driftscope/internal/job/training"
	"driftscope/internal/kit/console"
)

// pretrainCmd trains an encoder on recordings.
type pretrainCmd struct {
	Source         []string `arg:"" help:"One or several recordings of one kind: a video, a folder or glob of pictures, a TIFF, a FITS cube or sim:NAME."`
	Latent         string   `help:"Number of latents, or auto: the smallest number that reconstructs the held-out frames. Default: auto; with --from, the model's number." placeholder:"D"`
	Objects        bool     `help:"Train one model of the appearance of all objects in a field, for run --objects."`
	Out            string   `required:"" help:"Model file to write; the report has the same name with .html." placeholder:"MODEL.onnx"`
	From           string   `help:"Continue training this model, or embedded:molecule, in a single run with the model's preprocessing." placeholder:"MODEL.onnx"`
	TrainFrames    string   `name:"train-frames" help:"Training frames of a single recording, A:B; the other frames remain for eval." placeholder:"A:B"`
	Seed           uint64   `default:"1" help:"Random seed."`
	Recipe         string   `enum:"fast,paper" default:"fast" help:"fast: random pairs, cosine decay. paper: the paper's batch, tau, decay and epochs."`
	Crop           string   `default:"auto" help:"auto: the square that contains all motion. film or film,SIZE: a square around the object of each film, with that film's grey range. none: the whole frame. X,Y,SIZE: in pixels."`
	CLAHE          string   `name:"clahe" enum:"auto,on,off" default:"auto" help:"Equalise contrast: ${enum}; auto does if it raises the signal above the noise."`
	KeepLight      bool     `name:"keep-light" help:"Keep brightness changes of the whole picture, as from a lamp; brightness may then be a latent."`
	Tau            float64  `help:"Observation noise on the summed squared error (default: from the clip)."`
	Steps          int      `help:"Optimiser steps of the final run." placeholder:"N"`
	Pairs          int      `help:"Pairs of frames per step." placeholder:"N"`
	Rate           float64  `help:"Peak rate of Adam."`
	Restarts       int      `help:"Runs with different initial weights (default: 4; 1 with --from or located objects). All run a third of the steps; the two with the lowest held-out loss run to the end." placeholder:"N"`
	Patience       int      `help:"Evaluations of the held-out frames without gain before stopping; 0 never stops early."`
	Posterior      string   `enum:"diagonal,cholesky," default:"" help:"The encoder's covariance, diagonal or cholesky (default: the recipe's)." placeholder:"FORM"`
	Diffusion      string   `enum:"profiled,diagonal,isotropic" default:"profiled" help:"Sigma during training, at maximum likelihood or learnt: ${enum}."`
	L1             float64  `name:"l1" help:"Penalty on the picture's motion per latent, nats."`
	Nu             float64  `help:"Precision of a Gaussian prior on the latents."`
	Substeps       int      `help:"Euler-Maruyama steps of the drift between two frames (default: 1)." placeholder:"N"`
	Clock          bool     `help:"Let the drift, and the encoder's last layer, depend on the time since the recording began."`
	SpriteSteps    int      `name:"sprite-steps" aliases:"follow" help:"Encoder steps on synthetic frames of located rigid objects (default: four times --steps, at most 1200); negative disables the search for objects." placeholder:"N"`
	SyntheticSteps int      `name:"synthetic-steps" aliases:"sleep" help:"Final encoder steps on synthetic frames from the decoder (default: half of --steps); negative disables them." placeholder:"N"`
	ReinitSteps    int      `name:"reinit-steps" aliases:"redraw" help:"Decoder steps after the synthetic ones, with latents re-initialised from the learnt features (default: as --synthetic-steps; none with --from)." placeholder:"N"`
	DT             float64  `name:"dt" help:"Seconds between frames; overrides the recording." placeholder:"S"`
	FPS            float64  `name:"fps" help:"Frames per second; overrides the recording."`
	Assets         string   `help:"Folder of pictures for sim:NAME, as for simulate." placeholder:"DIR" type:"path"`
}

// Run trains the encoder on all cores.
func (c *pretrainCmd) Run(ctx context.Context) error {
	for _, warning := range renamed(os.Args[1:]) {
		console.Warn("%s", warning)
	}
	if err := training.YieldCores(); err != nil {
		return err
	}
	o := training.Options(*c)
	if o.Latent == "" && o.From == "" {
		o.Latent = "auto"
	}
	return o.Learn(ctx)
}

// oldFlags maps old names, which this release still accepts, to the current ones.
var oldFlags = map[string]string{"--follow": "--sprite-steps", "--sleep": "--synthetic-steps", "--redraw": "--reinit-steps"}

// renamed warns about old names among pretrain's arguments.
func renamed(args []string) (warnings []string) {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if now, old := oldFlags[name]; old {
			warnings = append(warnings, fmt.Sprintf("%s is now %s: the next release removes the old name", name, now))
		}
	}
	return warnings
}
