package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"driftscope/ingest"
	"driftscope/internal/config"
	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
)

// probeCmd reads the beginning of a source and says what it found.
type probeCmd struct {
	Source string  `arg:"" help:"A video, a folder or glob of pictures, a TIFF, a FITS cube, a camera (driftscope sources) or sim:NAME."`
	Frames int     `default:"500" help:"Frames to look at, at most."`
	Out    string  `help:"Write a picture of the first frame, preview.png, and a configuration to start from, stream.yaml, into this folder." placeholder:"DIR"`
	JSON   bool    `name:"json" help:"Print one JSON object."`
	DT     float64 `name:"dt" help:"Seconds between frames, whatever the source says." placeholder:"S"`
	FPS    float64 `name:"fps" help:"Frames a second, whatever the source says."`
}

// maxProbe bounds --frames: the range of float pictures is kept in memory, a few values a frame.
const maxProbe = 100_000

// Run prints what the source holds.
func (c *probeCmd) Run(ctx context.Context) error {
	if c.Frames < 1 || c.Frames > maxProbe {
		return usage(fmt.Errorf("--frames: found %d, expected 1 to %d", c.Frames, maxProbe))
	}
	component, err := sourceFrom(c.Source, c.DT, c.FPS)
	if err != nil {
		return err
	}
	found, err := probe(ctx, component, c.Frames)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Source, err)
	}
	defer found.close()
	if c.Out != "" {
		if err := c.write(found, component); err != nil {
			return err
		}
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	_, err = fmt.Print(found.text(c.Source))
	return err
}

// sourceFrom makes the component for what a person typed.
func sourceFrom(arg string, dt, fps float64) (config.Component, error) {
	if dt < 0 || fps < 0 || (dt > 0 && fps > 0) {
		return config.Component{}, usage(errors.New("--dt and --fps: give one of them, as a positive number"))
	}
	kind, options, err := ingest.Guess(arg)
	if err != nil {
		return config.Component{}, usage(err)
	}
	component, err := config.NewComponent(kind, options)
	switch {
	case err != nil:
	case dt > 0:
		component, err = component.With("dt", dt)
	case fps > 0:
		component, err = component.With("fps", fps)
	}
	return component, usage(err)
}

// probe reads up to limit frames of a source. The caller closes the findings.
func probe(ctx context.Context, component config.Component, limit int) (_ *findings, err error) {
	source, err := ingest.New(component.Kind, component.Decode)
	if err != nil {
		return nil, usage(err)
	}
	defer source.Close()
	if err := source.Open(ctx); err != nil {
		return nil, err
	}
	found := &findings{Kind: component.Kind, source: sourceName(component)}
	defer func() {
		if err != nil {
			found.close()
		}
	}()
	for found.Frames < limit {
		f, err := source.Read(ctx)
		var skip *pipeline.ErrSkip
		switch {
		case errors.Is(err, io.EOF):
			found.Whole = true
			return found.finish(source)
		case errors.As(err, &skip):
			found.skip(skip)
			if found.Skipped > limit {
				return nil, fmt.Errorf("more than %d frames cannot be read, the last because: %w", limit, err)
			}
			continue
		case err != nil:
			return nil, err
		}
		err = found.add(f)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return found.finish(source)
}

// firstFrame reads one frame's size: what an adapted region of interest is fitted to.
func firstFrame(ctx context.Context, component config.Component) (width, height int, err error) {
	found, err := probe(ctx, component, 1)
	if err != nil {
		return 0, 0, err
	}
	defer found.close()
	return found.Width, found.Height, nil
}

// text is the findings for a person.
func (p *findings) text(source string) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("source", "%s, read as %s", source, p.Kind)
	row("size", "%d x %d pixels", p.Width, p.Height)
	row("pixels", "%s, %d channel%s", p.Pixel, p.Channels, map[bool]string{true: "", false: "s"}[p.Channels == 1])
	row("range", "%.6g to %.6g; 99.8 %% of the values lie within %.6g to %.6g", p.Min, p.Max, p.Low, p.High)
	if p.Stored != "" {
		row("stored", "%s", p.Stored)
	}
	row("frames", "%s", p.count())
	row("interval", "%s", p.interval())
	for _, w := range p.Warnings {
		row("warning", "%s", w)
	}
	return b.String()
}

func (p *findings) count() string {
	read := fmt.Sprintf("%d, read to the end", p.Frames)
	switch {
	case !p.Whole && p.Total > 0:
		read = fmt.Sprintf("%d, of which %d were read", p.Total, p.Frames)
	case !p.Whole:
		read = fmt.Sprintf("%d read; there are more", p.Frames)
	}
	if p.Lost > 0 {
		read += fmt.Sprintf("; %d were lost on the way", p.Lost)
	}
	if p.Skipped > 0 {
		read += fmt.Sprintf("; %d could not be read", p.Skipped)
	}
	return read
}

func (p *findings) interval() string {
	if p.DT == 0 {
		return "unknown: one frame has none"
	}
	from := "as the source says"
	if !p.Timed {
		from = "assumed: the source does not say, give --dt or --fps"
	}
	return fmt.Sprintf("%.6g s, %.6g frames/s, jitter %.2g s, %s", p.DT, 1/p.DT, p.Jitter, from)
}

// skip counts a frame that could not be read, and keeps the first reason.
func (p *findings) skip(err *pipeline.ErrSkip) {
	if p.Skipped == 0 {
		p.warn("a frame could not be read: %v", err)
	}
	p.Skipped++
}

// notice keeps what the source noticed about a frame, each kind of notice once.
func (p *findings) notice(events []frame.Event) {
	for _, e := range events {
		if e.Warn && !p.noticed[e.Code] {
			p.noticed[e.Code] = true
			p.warn("%s", e.Text)
		}
	}
}
