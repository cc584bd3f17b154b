package main

import (
	"context"
	"encoding/json"
	"os"

	"driftscope/internal/evaluation"
)

// evalCmd measures a model against the truth, or against the object's intensity centroid.
type evalCmd struct {
	Model     string  `required:"" help:"The model file to judge, or embedded:molecule." placeholder:"MODEL.onnx"`
	Video     string  `required:"" help:"The recording to judge it on: a video, a folder, a TIFF, a FITS cube or sim:NAME."`
	Truth     string  `required:"" help:"truth.csv as simulate writes it, or centroid: the object's intensity centroid in pixels."`
	Align     string  `enum:"isometry,affine" default:"isometry" help:"How latents are laid over the truth: ${enum}."`
	Frames    string  `help:"Frames to judge on, A:B." placeholder:"A:B"`
	FitFrames string  `help:"Frames to fit an affine map on, A:B; the frames the model was trained on unless given." placeholder:"A:B"`
	Baseline  string  `enum:"registration," default:"" help:"registration: also judge displacements from frame to frame, beside those that phase correlation finds." placeholder:"NAME"`
	DT        float64 `name:"dt" help:"Seconds between frames, whatever the recording says." placeholder:"S"`
	FPS       float64 `name:"fps" help:"Frames a second, whatever the recording says."`
	Assets    string  `help:"A folder with the pictures that a sim:NAME draws, as simulate takes it." placeholder:"DIR" type:"path"`
}

// Run prints one JSON object on standard output.
func (c *evalCmd) Run(ctx context.Context) error {
	o := evaluation.Options(*c)
	result, err := o.Evaluate(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}
