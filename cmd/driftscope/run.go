//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"driftscope/internal/config"
	"driftscope/internal/exit"
	"driftscope/internal/latent"
	"driftscope/internal/recording"
	"driftscope/internal/stream"
)

// runCmd tracks one stream or several until they end. Flags stand over the configurations.
type runCmd struct {
	Sources   []string      `arg:"" name:"source" help:"sim:NAME, a camera (driftscope sources), nats:SUBJECT, a video, a folder or glob of pictures, a TIFF, an NDTiff folder, an OME-Zarr store, a FITS cube, an HDF5, CZI or ND2 file, or a configuration that ends in .yaml; several run side by side."`
	Model     string        `help:"The encoder: a model file, embedded:NAME, or nats:NAME, one that the NATS server keeps." placeholder:"MODEL.onnx"`
	Frames    uint64        `help:"Stop after this many frames." placeholder:"N"`
	DT        float64       `name:"dt" help:"Seconds between frames, whatever the source says." placeholder:"S"`
	FPS       float64       `name:"fps" help:"Frames a second, whatever the source says."`
	Follow    bool          `help:"The recording is still being written: wait for more where it ends, until Ctrl-C."`
	UntilIdle time.Duration `help:"With --follow: the recording has ended when nothing came for so long, such as 30s." placeholder:"TIME"`
	NATS      string        `name:"nats" help:"Where to publish: embedded, off, nats://host:port or context:NAME." placeholder:"URL"`
	NATSPort  *int          `name:"nats-port" help:"Port of the embedded server; 0 takes a free one." placeholder:"PORT"`
	Dashboard string        `help:"Where to show the dashboard, 127.0.0.1:8300 unless that port is taken; off shows none." placeholder:"HOST:PORT"`
	Stream    string        `help:"The stream's name in every message." placeholder:"NAME"`
	Out       string        `help:"Write every message to this file, one JSON object a line; with --objects, tracks.csv and tracks.parquet are tables with frame, particle, x and y." placeholder:"RESULTS.jsonl"`
	Objects   bool          `help:"Follow every object in the field: beads, vesicles, receptors, nuclei. Needs no model; one of pretrain --objects tells what each looks like."`
	One       bool          `help:"The film shows one object; without this, a model and --objects, a recording is looked at first and what it shows is decided."`
	Bodies    bool          `help:"The film shows objects with extent: cells, rods, larvae. Each has a centroid, an area, an axis and an angle."`
	State     string        `help:"Keep the law in this file, and continue from it if it is there." placeholder:"FILE"`
	Record    string        `help:"Keep every frame, as it was read, in this new or empty folder: as OME-Zarr where it ends in .zarr, else as TIFF." placeholder:"DIR"`
	Repeat    string        `help:"Track the frames that an earlier run tracked, and refine when it did, by what its --out wrote: the same estimates again." placeholder:"RESULTS.jsonl"`
	Stay      bool          `help:"Keep a stream that has ended: the command start runs it again, until Ctrl-C."`
	Mode      string        `help:"Where tracking is slower than the source: latest drops the oldest frames, lossless none; by default latest where the source does not wait." placeholder:"MODE"`
	Seed      *uint64       `help:"Of every random draw, the simulated source's included."`
	NoStatus  bool          `help:"No live status on the terminal."`
}

// Run tracks, and prints the account at the end.
func (c *runCmd) Run(ctx context.Context) error {
	cfgs, err := c.configs()
	if err != nil {
		return exit.Usage(err)
	}
	var before *stream.Earlier
	if c.Repeat != "" {
		if before, err = stream.ReadEarlier(c.Repeat); err != nil {
			return exit.Usage(fmt.Errorf("--repeat: %w", err))
		}
	}
	s, err := stream.Assemble(ctx, cfgs, before, c.Stay)
	if err != nil {
		return err
	}
	defer s.Disconnect()
	return s.Run(ctx, c.Frames)
}

// configs are those of all sources, fit to run in one process.
func (c *runCmd) configs() ([]config.Config, error) {
	if err := c.forOne(); err != nil {
		return nil, err
	}
	var cfgs []config.Config
	for _, source := range c.Sources {
		cfg, err := c.config(source)
		if err != nil {
			return nil, err
		}
		cfgs = append(cfgs, cfg)
	}
	if err := stream.SideBySide(c.Sources, cfgs); err != nil {
		return nil, err
	}
	return cfgs, c.staying(cfgs)
}

// staying refuses --stay where nobody could start a stream again.
func (c *runCmd) staying(cfgs []config.Config) error {
	switch {
	case !c.Stay:
		return nil
	case c.Repeat != "":
		return errors.New("--stay: what --repeat does is done once: leave one of them out")
	case cfgs[0].NATS.URL == config.NATSOff:
		return errors.New("--stay: nats.url is off, so that no command can start a stream again: leave one of them out")
	}
	return nil
}

// forOne refuses flags that name one stream's own where there are several.
func (c *runCmd) forOne() error {
	if len(c.Sources) < 2 {
		return nil
	}
	for _, flag := range []struct{ name, value, instead string }{
		{"--out", c.Out, "write a configuration for each, with sinks: [{jsonl: {path: ...}}]"},
		{"--state", c.State, "write a configuration for each, with online: {state: ...}"},
		{"--record", c.Record, "write a configuration for each, with record: {path: ...}"},
		{"--stream", c.Stream, "write a configuration for each, with stream: ..."},
		{"--repeat", c.Repeat, "repeat one at a time"},
	} {
		if flag.value != "" {
			return fmt.Errorf("%s %s: is for one source, and %d were given: %s", flag.name, flag.value, len(c.Sources), flag.instead)
		}
	}
	return nil
}

// config is the file's, or what the source's name implies, with the flags over it.
func (c *runCmd) config(source string) (config.Config, error) {
	cfg, err := c.base(source)
	if err != nil {
		return cfg, err
	}
	set := func(dst *string, value string) {
		if value != "" {
			*dst = value
		}
	}
	set(&cfg.Model, c.Model)
	cfg.Objects.Enabled = cfg.Objects.Enabled || c.Objects
	if err := c.find(&cfg, source); err != nil {
		return cfg, err
	}
	set(&cfg.Stream, c.Stream)
	set(&cfg.Mode, c.Mode)
	set(&cfg.NATS.URL, c.NATS)
	set(&cfg.Dashboard.Address, c.Dashboard)
	set(&cfg.Online.State, c.State)
	set(&cfg.Record.Path, c.Record)
	if c.NATSPort != nil {
		cfg.NATS.Port = *c.NATSPort
	}
	if c.Out != "" {
		sink, err := c.out(cfg.Objects.Enabled)
		if err != nil {
			return cfg, err
		}
		cfg.Sinks = append(cfg.Sinks, sink)
	}
	if c.NoStatus {
		cfg.Sinks = slices.DeleteFunc(cfg.Sinks, func(s config.Component) bool { return s.Kind == stream.TerminalSink })
	}
	if err := stream.SettleSeeds(&cfg, c.Seed); err != nil {
		return cfg, err
	}
	return cfg, cfg.Validate()
}

// find says what is to be found where nobody says how: a recording without a model is looked at first.
func (c *runCmd) find(cfg *config.Config, source string) error {
	switch {
	case c.One && c.Bodies, c.One && c.Objects, c.Bodies && c.Objects:
		return errors.New("--one, --bodies and --objects: give one of them")
	case (c.One || c.Bodies) && cfg.Model != "":
		return fmt.Errorf("--one and --bodies: need no model, and model is %s: leave one of them out", cfg.Model)
	case c.One:
		cfg.Objects.Enabled, cfg.Objects.Find = true, "one"
	case c.Bodies:
		cfg.Objects.Enabled, cfg.Objects.Find = true, "bodies"
	case recording.IsConfig(source) || cfg.Model != "" || cfg.Objects.Enabled || c.Follow || c.Repeat != "":
	default:
		waits, err := stream.Recorded(cfg.Source)
		if err != nil {
			return err
		}
		if waits {
			cfg.Objects.Enabled, cfg.Objects.Find = true, config.FindAuto
		}
	}
	return nil
}

// out is the sink that --out asks for: every message as JSON, or where objects are followed and the file's name says so, their table.
func (c *runCmd) out(objects bool) (config.Component, error) {
	if kind := strings.TrimPrefix(filepath.Ext(c.Out), "."); kind == "csv" || kind == "parquet" {
		if !objects {
			return config.Component{}, fmt.Errorf("--out %s: a table of objects takes --objects; of one scene write RESULTS.jsonl, or sinks: [{%s: {path: ...}}] in a configuration", c.Out, kind)
		}
		options := map[string]any{"path": c.Out, "table": string(latent.KindObjects)}
		if kind == "parquet" {
			options["rotate_every"] = "0s"
		}
		return config.NewComponent(kind, options)
	}
	return config.NewComponent("jsonl", map[string]any{"path": c.Out})
}

// base is the configuration before the flags that a file can hold.
func (c *runCmd) base(source string) (config.Config, error) {
	if recording.IsConfig(source) {
		if c.DT != 0 || c.FPS != 0 || c.Follow || c.UntilIdle != 0 {
			return config.Config{}, errors.New("--dt, --fps, --follow and --until-idle: with a configuration, write dt, fps, follow or until_idle under its source")
		}
		return config.Load(source)
	}
	cfg, err := stream.Implied(source, c.DT, c.FPS)
	if err != nil {
		return cfg, err
	}
	cfg.Source, err = following(cfg.Source, source, c.Follow, c.UntilIdle)
	return cfg, err
}
