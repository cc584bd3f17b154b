//go:build cgo

package demo

import (
	"context"
	_ "embed" // the film
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"driftscope/internal/flow/config"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

// film shows spheres of 1 µm that diffuse in water; beads.txt has its source and licence.
//
//go:embed beads.mov
var film []byte

// Properties of the film from its source: frames per second, and pixel size in the specimen, µm.
const (
	filmFPS   = 24
	filmPixel = 1 / 2.85
)

// Command is the sub-command.
type Command struct {
	Once      bool   `help:"Exit at the end of the film. Otherwise the dashboard stays until Ctrl-C."`
	Frames    uint64 `help:"Stop after this many of the film's 480 frames." placeholder:"N"`
	NATSPort  int    `name:"nats-port" help:"Port of the embedded NATS server; 0 selects a free port." placeholder:"PORT"`
	Dashboard string `help:"Address of the dashboard, or off (default: 127.0.0.1:8300, or a free port if that is taken)." placeholder:"HOST:PORT"`
	Out       string `help:"File for the tracks, a table with frame, particle, x and y." placeholder:"TRACKS.csv" type:"path"`
}

// Run tracks the film and keeps its dashboard.
func (c *Command) Run(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "driftscope-demo-")
	if err != nil {
		return fmt.Errorf("the film needs a temporary folder: %w: driftscope doctor suggests how to fix it", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "beads.mov")
	if err := system.WriteFile(path, film); err != nil {
		return err
	}
	cfg, err := c.config(path)
	if err != nil {
		return console.Usage(err)
	}
	console.Say("a real film: latex spheres of 1 µm that diffuse in water, filmed through a microscope (trackpy contributors, BSD-3-Clause)")
	console.Say("open the dashboard's address below: it shows every sphere, and the law of all; Stokes and Einstein expect a D of 0.42 µm²/s")
	process, err := stream.Assemble(ctx, []config.Config{cfg}, nil, !c.Once)
	if err != nil {
		return err
	}
	defer process.Disconnect()
	if !c.Once {
		defer console.Say("next, your own film: driftscope probe FILM; the tutorial is " + console.Located("docs/tutorial.md"))
	}
	return process.Run(ctx, c.Frames)
}

// config follows every sphere of the film at path.
func (c *Command) config(path string) (config.Config, error) {
	cfg, err := stream.Implied(path, 0, filmFPS)
	if err != nil {
		return cfg, err
	}
	cfg.Stream, cfg.Objects.Enabled, cfg.Online.PixelUM = "beads", true, filmPixel
	cfg.NATS.Port = c.NATSPort
	if c.Dashboard != "" {
		cfg.Dashboard.Address = c.Dashboard
	}
	if c.Out != "" {
		sink, err := config.NewComponent("csv", map[string]any{"path": c.Out, "table": "objects"})
		if err != nil {
			return cfg, err
		}
		cfg.Sinks = append(cfg.Sinks, sink)
	}
	return cfg, cfg.Validate()
}
