package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"driftscope/infer/finder"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// write creates the folder with the preview and the configuration.
func (c *probeCmd) write(found *recording.Findings, component config.Component, seen *finder.Finder) error {
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return console.Usage(fmt.Errorf("--out: %w: give a folder that can be written", err))
	}
	path := filepath.Join(c.Out, "stream.yaml")
	if _, err := os.Stat(path); err == nil {
		return console.Usage(fmt.Errorf("--out: %s exists already: give another folder", path))
	}
	picture, err := found.Preview()
	if err != nil {
		return fmt.Errorf("preview.png: %w", err)
	}
	if err := console.WriteFile(filepath.Join(c.Out, "preview.png"), picture); err != nil {
		return fmt.Errorf("preview.png: %w: free some space or give another folder", err)
	}
	start, err := c.start(found, component, seen)
	if err != nil {
		return err
	}
	if err := console.WriteFile(path, start); err != nil {
		return fmt.Errorf("stream.yaml: %w: free some space or give another folder", err)
	}
	console.Say("look at %s, and start with: driftscope run %s", filepath.Join(c.Out, "preview.png"), path)
	return nil
}

// start returns a configuration that runs unchanged, with comments on values that probe could not find.
func (c *probeCmd) start(found *recording.Findings, component config.Component, seen *finder.Finder) ([]byte, error) {
	source := c.Source
	if path, ok := component.Options()["path"].(string); ok {
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if component, err = component.With("path", whole); err != nil {
			return nil, err
		}
		source = recording.SourceName(component)
	}
	written, err := component.YAML()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# What driftscope probe found: %d x %d pixels, %s, %s.", found.Width, found.Height, found.Pixel, found.Interval())
	line("# configs/README.md has every key; driftscope lint checks this file.")
	line("stream: %s", recording.StreamName(c.Source))
	line("source:\n%s", indent(written))
	if !found.Timed {
		line("# The source states no frame interval, so 1 s is assumed: add dt or fps to its options.")
	}
	if seen != nil {
		line("# At first sight: %s", seen)
	}
	if seen != nil && seen.Kind != finder.Nothing {
		line("objects: {enabled: true, find: %s}", seen.Force())
		line("# To use a model of the whole scene, train it, remove the # before model, and delete the line of objects:")
	} else {
		line("# The shipped encoder was trained on another specimen. Train your own, then remove the # before model:")
	}
	line("#   driftscope pretrain %s --latent auto%s --out %s.onnx", recording.ShellWord(source), c.interval(), recording.StreamName(c.Source))
	line("# model: %s.onnx", recording.StreamName(c.Source))
	line("online:")
	line("  seed: 1")
	line("  # pixel_um: 0.1      # side of a pixel in the specimen, for diffusion in µm²/s")
	if gap := found.DT * 10; found.Timed && gap > 1 {
		line("  max_gap: %gs         # ten frames: a longer pause forms no increment", math.Ceil(min(gap, 3600)))
	}
	line("sinks:\n  - terminal")
	line("  # - jsonl: {path: %s.jsonl}", recording.StreamName(c.Source))
	return []byte(b.String()), nil
}

// interval returns the flag that sets the frame interval, if the user gave one.
func (c *probeCmd) interval() string {
	switch {
	case c.DT > 0:
		return fmt.Sprintf(" --dt %g", c.DT)
	case c.FPS > 0:
		return fmt.Sprintf(" --fps %g", c.FPS)
	}
	return ""
}

// indent puts two spaces before every line.
func indent(text []byte) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n  ")
}
