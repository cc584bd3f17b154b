//go:build cgo

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"driftscope/internal/job/evaluation"
	"driftscope/internal/job/evaluation/tracking"
	"driftscope/internal/kit/console"
)

// evalCmd evaluates a model against the truth or the intensity centroid, or a table of tracks against the true tracks.
type evalCmd struct {
	Model     string  `help:"Model file, or embedded:molecule." placeholder:"MODEL.onnx"`
	Video     string  `help:"Recording to test the model on: a video, a folder, a TIFF, a FITS cube or sim:NAME."`
	Truth     string  `help:"truth.csv from simulate, or centroid: the object's intensity centroid in pixels."`
	Align     string  `enum:"isometry,affine" default:"isometry" help:"Map from latents to the truth: ${enum}."`
	Frames    string  `help:"Test frames, A:B." placeholder:"A:B"`
	FitFrames string  `help:"Frames for the fit of an affine map, A:B (default: the model's training frames)." placeholder:"A:B"`
	Baseline  string  `enum:"registration," default:"" help:"registration: also compare displacements between frames with phase correlation." placeholder:"NAME"`
	DT        float64 `name:"dt" help:"Seconds between frames; overrides the recording." placeholder:"S"`
	FPS       float64 `name:"fps" help:"Frames per second; overrides the recording."`
	Assets    string  `help:"Folder of pictures for sim:NAME, as for simulate." placeholder:"DIR" type:"path"`

	Tracks string `help:"Evaluate tracks instead of a model, against this table of true tracks from simulate, with the columns frame, particle, x, y in px. Rows with light 0 count neither as missed nor as false." placeholder:"TRUTH.csv"`
	Result string `help:"With --tracks: the table to evaluate, with the same columns." placeholder:"TRACKS.csv"`
}

// Run prints one JSON object on standard output.
func (c *evalCmd) Run(ctx context.Context) error {
	result, err := c.evaluate(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func (c *evalCmd) evaluate(ctx context.Context) (any, error) {
	if c.Tracks != "" || c.Result != "" {
		return c.judgeTracks()
	}
	if c.Model == "" || c.Video == "" || c.Truth == "" {
		return nil, console.Usage(errors.New("give --model, --video and --truth, or --tracks and --result"))
	}
	o := evaluation.Options{Model: c.Model, Video: c.Video, Truth: c.Truth, Align: c.Align, Frames: c.Frames, FitFrames: c.FitFrames, Baseline: c.Baseline, DT: c.DT, FPS: c.FPS, Assets: c.Assets}
	return o.Evaluate(ctx)
}

// judged is eval's result for tracks.
type judged struct {
	tracking.Score
	Looks *tracking.Looks `json:"looks,omitempty"` // set if the tables describe the objects' appearance
}

// judgeTracks compares a table of tracks with the true ones.
func (c *evalCmd) judgeTracks() (any, error) {
	switch {
	case c.Tracks == "" || c.Result == "":
		return nil, console.Usage(errors.New("--tracks and --result: give both, the true tracks and the tracks to evaluate"))
	case c.Model != "" || c.Video != "" || c.Truth != "":
		return nil, console.Usage(errors.New("--tracks: tracks are evaluated without a model: leave --model, --video and --truth out"))
	}
	phases := console.NewPhases("reading " + c.Tracks)
	defer phases.End()
	truth, err := tracking.Read(c.Tracks)
	if err != nil {
		return nil, console.Usage(err)
	}
	phases.Next("reading " + c.Result)
	found, err := tracking.Read(c.Result)
	if err != nil {
		return nil, console.Usage(err)
	}
	phases.Next("comparing latents")
	looks, err := tracking.ReadLooks(c.Tracks, c.Result)
	if err != nil {
		return nil, console.Usage(err)
	}
	phases.Next(fmt.Sprintf("pairing %d tracks with %d", len(truth), len(found)))
	return judged{tracking.Judge(truth, found), looks}, nil
}
