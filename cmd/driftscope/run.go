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

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/recording"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
)

// runCmd tracks one stream or several until they end. Flags override the configurations.
type runCmd struct {
	Sources   []string      `arg:"" name:"source" help:"sim:NAME, a camera (driftscope sources), nats:SUBJECT, a video, a folder or glob of pictures, a TIFF, an NDTiff folder, an OME-Zarr store, a FITS cube, an HDF5, CZI or ND2 file, or a .yaml configuration. Several run in parallel."`
	Model     string        `help:"Encoder: a model file, embedded:NAME, or nats:NAME, a model on the NATS server." placeholder:"MODEL.onnx"`
	Frames    uint64        `help:"Stop after this many frames." placeholder:"N"`
	DT        float64       `name:"dt" help:"Seconds between frames; overrides the source." placeholder:"S"`
	FPS       float64       `name:"fps" help:"Frames per second; overrides the source."`
	PixelUM   float64       `name:"pixel-um" help:"Pixel size in the specimen, µm; D is then in µm²/s." placeholder:"UM"`
	Follow    bool          `help:"Wait for more frames at the end of a recording that still grows, until Ctrl-C."`
	UntilIdle time.Duration `help:"With --follow: end after this time without a frame, such as 30s." placeholder:"TIME"`
	NATS      string        `name:"nats" help:"NATS server to publish on: embedded, off, nats://host:port or context:NAME." placeholder:"URL"`
	NATSPort  *int          `name:"nats-port" help:"Port of the embedded server; 0 selects a free port." placeholder:"PORT"`
	Dashboard string        `help:"Address of the dashboard, or off (default: 127.0.0.1:8300, or a free port if that is taken)." placeholder:"HOST:PORT"`
	Stream    string        `help:"Name of the stream in every message." placeholder:"NAME"`
	Out       string        `help:"Write the results to this file: every message to .jsonl; positions to .csv, .parquet, .geff (graph of tracks) or .xml (TrackMate)." placeholder:"RESULTS.jsonl"`
	Objects   bool          `help:"Follow every object in the field: beads, vesicles, receptors, nuclei. Needs no model; a model from pretrain --objects adds latents of their appearance."`
	One       bool          `help:"The film shows one object. Without --one, --bodies, --objects and --model, run decides after a first look at the film or camera."`
	Bodies    bool          `help:"The film shows objects with extent: cells, rods, larvae. Each has a centroid, an area, an axis and an angle."`
	Places    bool          `help:"The messages on nats:SUBJECT contain object positions from another program instead of pictures."`
	State     string        `help:"File that stores the law; if it exists, the run continues from it." placeholder:"FILE"`
	Record    string        `help:"New or empty folder for a copy of every raw frame: OME-Zarr if its name ends in .zarr, else TIFF." placeholder:"DIR"`
	Repeat    string        `help:"Repeat an earlier run from its --out file, with the same frames, refinements and estimates." placeholder:"RESULTS.jsonl"`
	Stay      bool          `help:"Keep running until Ctrl-C when streams end; the command start restarts a stream."`
	Mode      string        `help:"If tracking is slower than the source: latest drops the oldest frames, lossless drops none (default: latest for live sources)." placeholder:"MODE"`
	Seed      *uint64       `help:"Random seed, also for a simulated source."`
	NoStatus  bool          `help:"Hide the live status."`
}

// Run tracks the sources and prints the frame counts at the end.
func (c *runCmd) Run(ctx context.Context) error {
	cfgs, err := c.configs()
	if err != nil {
		return console.Usage(err)
	}
	var before *stream.Earlier
	if c.Repeat != "" {
		if before, err = stream.ReadEarlier(c.Repeat); err != nil {
			return console.Usage(fmt.Errorf("--repeat: %w", err))
		}
	}
	s, err := stream.Assemble(ctx, cfgs, before, c.Stay)
	if err != nil {
		return err
	}
	defer s.Disconnect()
	return s.Run(ctx, c.Frames)
}

// configs returns the configurations of all sources, checked to run in one process.
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

// staying refuses --stay if no client could restart a stream.
func (c *runCmd) staying(cfgs []config.Config) error {
	switch {
	case !c.Stay:
		return nil
	case c.Repeat != "":
		return errors.New("--stay: a repetition runs only once: leave --stay or --repeat out")
	case cfgs[0].NATS.URL == config.NATSOff:
		return errors.New("--stay: nats.url is off, so no command can restart a stream: set nats.url, or leave --stay out")
	}
	return nil
}

// forOne refuses single-stream flags if there are several sources.
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
			return fmt.Errorf("%s %s: works with one source, but %d were given: %s", flag.name, flag.value, len(c.Sources), flag.instead)
		}
	}
	return nil
}

// config returns the configuration from a file or implied by a source's name, with the flags applied.
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
	cfg.Objects.Enabled = cfg.Objects.Enabled || c.Objects || c.Places
	if c.Places {
		if cfg.Source, err = cfg.Source.With("places", true); err != nil || cfg.Source.Kind != recording.NatsSource {
			return cfg, errors.Join(err, errors.New("--places: only a source nats:SUBJECT can send positions"))
		}
	}
	if err := c.find(&cfg, source); err != nil {
		return cfg, err
	}
	set(&cfg.Stream, c.Stream)
	set(&cfg.Mode, c.Mode)
	set(&cfg.NATS.URL, c.NATS)
	set(&cfg.Dashboard.Address, c.Dashboard)
	set(&cfg.Online.State, c.State)
	set(&cfg.Record.Path, c.Record)
	if c.PixelUM != 0 {
		cfg.Online.PixelUM = c.PixelUM
	}
	if c.NATSPort != nil {
		cfg.NATS.Port = *c.NATSPort
	}
	if c.Out != "" {
		sink, err := c.out()
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

// find sets the objects to find. If no flag, configuration or model sets them, run takes a first look at the source.
func (c *runCmd) find(cfg *config.Config, source string) error {
	switch {
	case c.One && c.Bodies, c.One && c.Objects, c.Bodies && c.Objects:
		return errors.New("--one, --bodies and --objects: give one of them")
	case (c.One || c.Bodies) && cfg.Model != "":
		return fmt.Errorf("--one and --bodies work without a model, but model is %s: leave one of them out", cfg.Model)
	case c.One:
		cfg.Objects.Enabled, cfg.Objects.Find = true, "one"
	case c.Bodies:
		cfg.Objects.Enabled, cfg.Objects.Find = true, "bodies"
	case recording.IsConfig(source) || cfg.Model != "" || cfg.Objects.Enabled || c.Repeat != "":
	default:
		looks, err := stream.Looks(cfg.Source)
		if err != nil {
			return err
		}
		if looks {
			cfg.Objects.Enabled, cfg.Objects.Find = true, config.FindAuto
		}
	}
	return nil
}

// out returns the sink for --out, selected by the file extension.
func (c *runCmd) out() (config.Component, error) {
	switch ending := strings.ToLower(filepath.Ext(c.Out)); ending {
	case ".jsonl", ".geff":
		return config.NewComponent(ending[1:], map[string]any{"path": c.Out})
	case ".xml":
		return config.NewComponent("trackmate", map[string]any{"path": c.Out})
	case ".csv", ".parquet":
		options := map[string]any{"path": c.Out, "table": string(latent.KindObjects)}
		if ending == ".parquet" {
			options["rotate_every"] = "0s"
		}
		return config.NewComponent(ending[1:], options)
	default:
		return config.Component{}, fmt.Errorf("--out %s: the ending %q is not known: end the name in .jsonl (every message), .csv or .parquet (a table of positions), .geff (a graph of tracks) or .xml (TrackMate)", c.Out, ending)
	}
}

// base returns the configuration before the flags that a file can also set.
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
