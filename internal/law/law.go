package law

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"driftscope/internal/exit"
	"driftscope/online/states"
)

// Command finds the law of the tracks of a table.
type Command struct {
	Tracks     string  `arg:"" help:"The tracks: a table with the columns frame, particle (or trajectory), x, y in px." placeholder:"TRACKS.csv" type:"path"`
	DT         float64 `name:"dt" required:"" help:"Seconds between frames." placeholder:"S"`
	PixelUM    float64 `name:"pixel-um" help:"Side of a pixel in the specimen, µm: D is then told in µm²/s, otherwise in px²/s." placeholder:"UM"`
	Exposure   float64 `help:"Seconds of a frame over which the camera takes light: motion within it blurs a place." placeholder:"S"`
	FocalDepth float64 `help:"Depth of the slab in which objects are seen, µm: fast ones leave it sooner, and are counted for it. Wants --pixel-um." placeholder:"UM"`
	States     int     `help:"How many states there are; 0 has the evidence choose." default:"0" placeholder:"K"`
	KeepDrift  bool    `help:"Leave the motion that all objects share, of the stage, in the tracks."`
	JSON       bool    `name:"json" help:"Print one JSON object instead of text."`
}

// check refuses what cannot be meant.
func (c *Command) check() error {
	switch {
	case !(c.DT > 0) || math.IsInf(c.DT, 0):
		return fmt.Errorf("--dt: found %g, expected seconds above 0", c.DT)
	case !(c.PixelUM >= 0) || math.IsInf(c.PixelUM, 0):
		return fmt.Errorf("--pixel-um: found %g, expected µm of 0 or more", c.PixelUM)
	case !(c.Exposure >= 0 && c.Exposure <= c.DT):
		return fmt.Errorf("--exposure: found %g, expected 0 to --dt, %g s", c.Exposure, c.DT)
	case !(c.FocalDepth >= 0) || math.IsInf(c.FocalDepth, 0):
		return fmt.Errorf("--focal-depth: found %g, expected µm of 0 or more", c.FocalDepth)
	case c.FocalDepth > 0 && c.PixelUM == 0:
		return errors.New("--focal-depth is in µm: give --pixel-um as well")
	case c.States < 0 || c.States > states.MostStates:
		return fmt.Errorf("--states: found %d, expected 0 to %d", c.States, states.MostStates)
	}
	return nil
}

// Run prints the law on standard output.
func (c *Command) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return exit.Usage(err)
	}
	found, err := c.find()
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

// find reads the tracks, and finds their law.
func (c *Command) find() (*Findings, error) {
	tracks, left, err := read(c.Tracks)
	if err != nil {
		return nil, exit.Usage(err)
	}
	pixel, unit := 1.0, "px"
	if c.PixelUM > 0 {
		pixel, unit = c.PixelUM, "µm"
	}
	all, single := segments(tracks, c.DT, pixel)
	used := some(all, MaxTracks)
	f := &Findings{Unit: unit, Undetected: left, Single: single, Unused: len(all) - len(used)}
	if !c.KeepDrift {
		f.Drift = still(used)
	}
	o := states.Options{Exposure: c.Exposure, Depth: c.FocalDepth, States: c.States}
	l, ok := states.Infer(used, o)
	if !ok {
		return nil, exit.Usage(fmt.Errorf("%s: found %d tracks of which none moves, expected places in more than one frame", c.Tracks, len(tracks)))
	}
	f.tell(l, states.Spectrum(used, o, l.MostNoise))
	return f, nil
}
