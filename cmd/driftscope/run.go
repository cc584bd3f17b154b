package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"driftscope/internal/config"
	"driftscope/internal/pipeline"
)

// runCmd tracks one stream until it ends. Flags stand over the configuration.
type runCmd struct {
	Source   string  `arg:"" help:"sim:NAME, a camera (driftscope sources), a video, a folder or glob of pictures, a TIFF, a FITS cube, or a configuration that ends in .yaml."`
	Model    string  `help:"The encoder: a model file, or embedded:NAME." placeholder:"MODEL.onnx"`
	Frames   uint64  `help:"Stop after this many frames." placeholder:"N"`
	DT       float64 `name:"dt" help:"Seconds between frames, where the source does not say." placeholder:"S"`
	FPS      float64 `name:"fps" help:"Frames a second, where the source does not say."`
	NATS     string  `name:"nats" help:"Where to publish: embedded, off or nats://host:port." placeholder:"URL"`
	NATSPort *int    `name:"nats-port" help:"Port of the embedded server; 0 takes a free one." placeholder:"PORT"`
	Stream   string  `help:"The stream's name in every message." placeholder:"NAME"`
	Out      string  `help:"Write every message to this file, one JSON object a line." placeholder:"RESULTS.jsonl"`
	State    string  `help:"Keep the law in this file, and go on from it where it is there." placeholder:"FILE"`
	Repeat   string  `help:"Track the frames that an earlier run tracked, and refine when it did, by what its --out wrote: the same estimates again." placeholder:"RESULTS.jsonl"`
	Seed     *uint64 `help:"Of every random draw, the simulated source's included."`
	NoStatus bool    `help:"No live status on the terminal."`
}

// Run tracks, and prints the account at the end.
func (c *runCmd) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return usage(err)
	}
	var before *earlier
	if c.Repeat != "" {
		if before, err = readEarlier(c.Repeat); err != nil {
			return usage(fmt.Errorf("--repeat: %w", err))
		}
	}
	s, err := assemble(ctx, cfg, before)
	if err != nil {
		return err
	}
	if s.bus != nil {
		defer s.bus.Close()
	}
	s.introduce(cfg)
	summary, err := pipeline.Run(ctx, s.stages, pipeline.Options{
		Stream: cfg.Stream, Frames: c.Frames, Grace: cfg.Grace, ViewEvery: s.viewEvery(), Log: logger(cfg),
		Keep: keeping(cfg.Online.State),
	})
	printSummary(os.Stdout, summary)
	return err
}

// config is the file's, or what the source's name implies, with the flags over it.
func (c *runCmd) config() (config.Config, error) {
	cfg, err := c.base()
	if err != nil {
		return cfg, err
	}
	set := func(dst *string, value string) {
		if value != "" {
			*dst = value
		}
	}
	set(&cfg.Model, c.Model)
	set(&cfg.Stream, c.Stream)
	set(&cfg.NATS.URL, c.NATS)
	set(&cfg.Online.State, c.State)
	if c.NATSPort != nil {
		cfg.NATS.Port = *c.NATSPort
	}
	if c.Out != "" {
		sink, err := config.NewComponent("jsonl", map[string]any{"path": c.Out})
		if err != nil {
			return cfg, err
		}
		cfg.Sinks = append(cfg.Sinks, sink)
	}
	if c.NoStatus {
		cfg.Sinks = slices.DeleteFunc(cfg.Sinks, func(s config.Component) bool { return s.Kind == terminalSink })
	}
	if err := c.seed(&cfg); err != nil {
		return cfg, err
	}
	return cfg, cfg.Validate()
}

// base is the configuration before the flags that a file can hold.
func (c *runCmd) base() (config.Config, error) {
	if ext := strings.ToLower(filepath.Ext(c.Source)); ext == ".yaml" || ext == ".yml" {
		if c.DT != 0 || c.FPS != 0 {
			return config.Config{}, errors.New("--dt and --fps: with a configuration, write dt or fps under its source")
		}
		return config.Load(c.Source)
	}
	cfg := config.Default()
	source, err := sourceFrom(c.Source, c.DT, c.FPS)
	if err != nil {
		return cfg, err
	}
	cfg.Source = source
	cfg.Stream = streamName(c.Source)
	cfg.Sinks = []config.Component{{Kind: terminalSink}}
	return cfg, nil
}

// seed settles every seed, so that it can be printed: the flag, or what is written, or 1.
func (c *runCmd) seed(cfg *config.Config) (err error) {
	if c.Seed != nil {
		cfg.Online.Seed = *c.Seed
	}
	if cfg.Source.Kind != simSource {
		return nil
	}
	_, written := cfg.Source.Options()["seed"]
	switch {
	case c.Seed != nil:
		cfg.Source, err = cfg.Source.With("seed", *c.Seed)
	case !written:
		cfg.Source, err = cfg.Source.With("seed", 1)
	}
	return err
}

// streamName makes a subject's token of what a person typed: sim:molecule becomes molecule, a/bead 2.tif becomes bead-2, and
// rtsp://user:password@scope becomes scope.
func streamName(source string) string {
	name := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
	if strings.HasPrefix(source, "gst:") {
		return "gst"
	}
	if strings.Contains(source, "://") { // a user and password stay out of it
		name = name[strings.LastIndexByte(name, '@')+1:]
	}
	name = strings.TrimPrefix(name, simSource+":")
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-"); name == "" {
		return "stream"
	}
	return name[:min(len(name), 64)]
}

// logger writes warnings to standard error where no live status would be torn by them.
func logger(cfg config.Config) *slog.Logger {
	if slices.ContainsFunc(cfg.Sinks, func(s config.Component) bool { return s.Kind == terminalSink }) {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// printSummary says where every frame went.
func printSummary(w *os.File, s pipeline.Summary) {
	fmt.Fprintf(w, "frames in %d, tracked %d, dropped %d, messages published %d, in %.1f s\n",
		s.FramesIn, s.Tracked, s.FramesIn-s.Tracked, s.Published, s.Duration.Seconds())
	for _, cause := range slices.Sorted(maps.Keys(s.Dropped)) {
		fmt.Fprintf(w, "  dropped %d: %s\n", s.Dropped[cause], cause)
	}
	for _, code := range slices.Sorted(maps.Keys(s.Health.Alarms)) {
		fmt.Fprintf(w, "  alarms %d: %s\n", s.Health.Alarms[code], code)
	}
}
