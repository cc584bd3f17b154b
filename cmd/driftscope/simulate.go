package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"driftscope/ingest"
	"driftscope/ingest/sim"
	"driftscope/ingest/sim/field"
	"driftscope/internal/kit/console"
)

// simulateCmd writes a scene with known truth as pictures and tables.
type simulateCmd struct {
	Name    string  `arg:"" help:"Scene, from the list above."`
	Frames  int     `default:"1000" help:"Number of frames." placeholder:"N"`
	Seed    uint64  `default:"1" help:"Seed of path and noise; the same seed gives the same bytes." placeholder:"S"`
	Out     string  `required:"" help:"New or empty folder to write." placeholder:"DIR" type:"path"`
	Render  string  `enum:"subpixel,integer" default:"subpixel" help:"Positions of balls and digits: ${enum} (integer truncates them, as in the published data)."`
	Density int     `default:"100" help:"Field: objects per picture." placeholder:"N"`
	SNR     float64 `name:"snr" default:"4" help:"Field: (peak - background) / square root of the peak." placeholder:"SNR"`
	Size    int     `default:"512" help:"Field: side of the pictures, px." placeholder:"PX"`
	Assets  string  `help:"Folder with MNIST digits or COIL-20 objects, or with folders mnist and coil20, for the scenes that show them; the seed selects the picture. Without the folder these scenes show substitutes." placeholder:"DIR" type:"path"`
}

// Help lists the scenes below the command's summary.
func (c *simulateCmd) Help() string {
	fields := make([]string, len(field.Scenarios))
	for i, s := range field.Scenarios {
		fields[i] = string(s)
	}
	return "Scenes: " + strings.Join(sim.Names(), ", ") + ". Fields of many objects, with their truth in tracks.csv (frame, particle, x, y; z or light if they change): " + strings.Join(fields, ", ") + "."
}

// Run writes the pictures, frames.csv (file, t, trajectory) and truth.csv (t, z1.., mu1..) into a folder that appears when
// complete; for a field it writes tracks.csv instead of truth.csv.
func (c *simulateCmd) Run(ctx context.Context) error {
	if c.Frames < 1 || c.Frames > sim.MaxFrames {
		return console.Usage(fmt.Errorf("--frames is %d: give 1 to %d", c.Frames, sim.MaxFrames))
	}
	switch {
	case !slices.Contains(ingest.Simulations(), c.Name):
		return console.Usage(fmt.Errorf("scene %q is not known: give one of %s", c.Name, strings.Join(ingest.Simulations(), ", ")))
	case slices.Contains(field.Scenarios, field.Scenario(c.Name)):
		return c.field(ctx)
	}
	scene, err := sim.New(c.Name, sim.Options{Frames: c.Frames, Seed: c.Seed, Render: c.Render, Assets: c.Assets})
	if err != nil {
		return console.Usage(err)
	}
	if err := vacant(c.Out); err != nil {
		return console.Usage(err)
	}
	if err := scene.Record(ctx, c.Out); err != nil {
		return err
	}
	line := fmt.Sprintf("%s: %d frames of %s, %.6g s apart", c.Out, c.Frames, c.Name, scene.DT())
	if pictures := scene.Pictures(); pictures != "" {
		line += "; " + pictures
	}
	_, err = fmt.Fprintln(os.Stdout, line)
	return err
}

// field writes a field of many objects.
func (c *simulateCmd) field(ctx context.Context) error {
	f, err := field.New(field.Options{Scenario: field.Scenario(c.Name), Density: c.Density, SNR: c.SNR, Width: c.Size, Height: c.Size, Frames: c.Frames, Seed: c.Seed})
	if err != nil {
		return console.Usage(err)
	}
	if err := vacant(c.Out); err != nil {
		return console.Usage(err)
	}
	if err := sim.Record(ctx, f.Film(), c.Out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "%s: %d frames of %s, %.6g s apart; %d tracks\n", c.Out, c.Frames, c.Name, field.DT, len(f.Tracks))
	return err
}

// vacant rejects an --out that is not a new or empty folder.
func vacant(folder string) error {
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--out: %w: give an empty or a new folder", err)
	case len(entries) > 0:
		return fmt.Errorf("--out: %s is not empty (it contains %s): give an empty or a new folder", folder, entries[0].Name())
	}
	return nil
}
