package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"driftscope/infer/finder"
	"driftscope/ingest"
	"driftscope/internal/flow/frame"
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

// mostFollowed bounds the frames in which probe follows objects.
const mostFollowed = 200

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
	seen, err := c.look(ctx, found)
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := c.write(found, component, seen); err != nil {
			return err
		}
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	_, err = fmt.Print(found.Text(ingest.Shown(c.Source)))
	return err
}

// look returns the objects of a recording, as run finds them, or nil for a camera or pictures that are too large.
func (c *probeCmd) look(ctx context.Context, found *recording.Findings) (*finder.Finder, error) {
	if found.Live {
		return nil, nil
	}
	film, err := recording.Open(c.Source, c.DT, c.FPS, "", recording.Whole)
	if err != nil {
		return nil, err
	}
	seen, err := film.Look(ctx, nil, finder.Free)
	if errors.Is(err, frame.ErrTooLarge) {
		found.Warnings = append(found.Warnings, fmt.Sprintf("the objects are not counted: %v", err))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found.Objects = seen.String()
	if seen.Crowd() {
		found.Links, err = film.Trackability(ctx, seen, min(c.Frames, mostFollowed))
	}
	return seen, err
}
