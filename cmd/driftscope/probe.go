package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"driftscope/ingest"
	"driftscope/internal/flow/frame"
	"driftscope/internal/job/census"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// probeCmd reads the beginning of a source and reports its findings.
type probeCmd struct {
	Source string  `arg:"" help:"A video, a folder or glob of pictures, a TIFF, a FITS cube, a camera (driftscope sources) or sim:NAME."`
	Frames int     `default:"500" help:"Maximum number of frames to read."`
	Out    string  `help:"Folder for preview.png, a picture of the first frame, and stream.yaml, a configuration to start from." placeholder:"DIR"`
	JSON   bool    `name:"json" help:"Print one JSON object."`
	DT     float64 `name:"dt" help:"Seconds between frames; overrides the source." placeholder:"S"`
	FPS    float64 `name:"fps" help:"Frames per second; overrides the source."`
}

// maxProbe bounds --frames: the range of float pictures is kept in memory, a few values per frame.
const maxProbe = 100_000

// Run prints what the source holds.
func (c *probeCmd) Run(ctx context.Context) error {
	if c.Frames < 1 || c.Frames > maxProbe {
		return console.Usage(fmt.Errorf("--frames: found %d, expected 1 to %d", c.Frames, maxProbe))
	}
	component, err := recording.Source(c.Source, c.DT, c.FPS)
	if err != nil {
		return err
	}
	found, err := recording.Probe(ctx, component, c.Frames)
	if err != nil {
		return fmt.Errorf("%s: %w", ingest.Shown(c.Source), err)
	}
	defer found.Close()
	many, err := c.census(ctx, found)
	if errors.Is(err, frame.ErrTooLarge) {
		found.Warnings = append(found.Warnings, fmt.Sprintf("the objects are not counted: %v", err))
		err = nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", ingest.Shown(c.Source), err)
	}
	if many.Proposes() {
		found.Warnings = append(found.Warnings, many.Proposal(recording.ShellWord(c.Source)))
	}
	if c.Out != "" {
		if err := c.write(found, component, many); err != nil {
			return err
		}
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	_, err = fmt.Print(found.Text(ingest.Shown(c.Source)))
	return err
}

// census counts the objects of a recording. For a camera it uses the frames already read.
func (c *probeCmd) census(ctx context.Context, found *recording.Findings) (census.Count, error) {
	if found.Live {
		return census.Count{}, nil
	}
	film, err := recording.Open(c.Source, c.DT, c.FPS, "", recording.Whole)
	if err != nil {
		return census.Count{}, err
	}
	return census.Take(ctx, film)
}
