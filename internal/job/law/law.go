package law

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"

	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
	"driftscope/online/states"
)

// Command finds the law of the tracks of a table.
type Command struct {
	Tracks     string  `arg:"" help:"Table of tracks with the columns frame, particle (or trajectory), x, y in px." placeholder:"TRACKS.csv" type:"path"`
	DT         float64 `name:"dt" required:"" help:"Seconds between frames." placeholder:"S"`
	PixelUM    float64 `name:"pixel-um" help:"Side of a pixel in the specimen, µm: gives D in µm²/s instead of px²/s." placeholder:"UM"`
	Exposure   float64 `help:"Exposure of a frame, s: corrects motion blur." placeholder:"S"`
	FocalDepth float64 `help:"Depth in which objects are visible, µm: corrects for fast objects, which leave it sooner. Needs --pixel-um." placeholder:"UM"`
	States     int     `help:"Number of states; 0 chooses by evidence." default:"0" placeholder:"K"`
	KeepDrift  bool    `help:"Keep the motion that all objects share, such as the stage's."`
	Width      float64 `help:"Width of the film, px, for the map; 0 uses the range of the tracks." placeholder:"PX"`
	Height     float64 `help:"Height of the film, px, for the map; 0 uses the range of the tracks." placeholder:"PX"`

	Interactions bool    `help:"Look for a force between objects by their distance."`
	TemplatePX   float64 `name:"template-px" help:"Width (standard deviation) of an object's light, px, for --interactions: two objects nearer than twice this appear as one." default:"1.5" placeholder:"PX"`
	Objects      string  `help:"CSV file for every track's states, D, kind of motion and switches." placeholder:"OUT.csv" type:"path"`
	JSON         bool    `name:"json" help:"Print one JSON object instead of text."`
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

// checkMore refuses what cannot be meant of the map, the force and the table of objects.
func (c *Command) checkMore() error {
	switch {
	case !(c.Width >= 0 && c.Width <= mostSide):
		return fmt.Errorf("--width: found %g, expected px of 0 to %g", c.Width, mostSide)
	case !(c.Height >= 0 && c.Height <= mostSide):
		return fmt.Errorf("--height: found %g, expected px of 0 to %g", c.Height, mostSide)
	case c.Interactions && !(c.TemplatePX > 0 && c.TemplatePX <= mostSide):
		return fmt.Errorf("--template-px: found %g, expected px above 0", c.TemplatePX)
	}
	if c.Objects == "" {
		return nil
	}
	if _, err := os.Lstat(c.Objects); err == nil {
		return fmt.Errorf("--objects: %s exists already: give another file", c.Objects)
	}
	return system.Writable(c.Objects)
}

// Run prints the law on standard output.
func (c *Command) Run(ctx context.Context) error {
	err := c.check()
	if err == nil {
		err = c.checkMore()
	}
	if err != nil {
		return console.Usage(err)
	}
	phases := console.NewPhases("reading " + c.Tracks)
	defer phases.End()
	f, err := c.open()
	if err != nil {
		return console.Usage(err)
	}
	found, err := c.find(ctx, f, phases)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

// film is what the tracks show. Its lengths are in units, px or µm, but for the places, which are px.
type film struct {
	all      []track // of one place as well
	used     []track
	segments []states.Segment // of those used, the shared motion taken off
	drift    Velocity
	dt       float64 // s
	pixel    float64 // in units
	unit     string
	exposure float64 // s

	single, undetected, unused int // tracks of one place; rows; tracks beyond MaxTracks
}

// open reads the tracks.
func (c *Command) open() (*film, error) {
	all, left, err := read(c.Tracks)
	if err != nil {
		return nil, err
	}
	f := &film{all: all, dt: c.DT, pixel: 1, unit: "px", exposure: c.Exposure, undetected: left}
	if c.PixelUM > 0 {
		f.pixel, f.unit = c.PixelUM, "µm"
	}
	moved, single := moving(all)
	f.used, f.single = some(moved, MaxTracks), single
	f.unused = len(moved) - len(f.used)
	f.segments = segments(f.used, f.dt, f.pixel)
	if !c.KeepDrift {
		f.drift = still(f.segments)
	}
	return f, nil
}

// find is what a film tells. It writes the table of objects, where one is wanted.
func (c *Command) find(ctx context.Context, f *film, phases *console.Phases) (*Findings, error) {
	o := states.Options{Exposure: c.Exposure, Depth: c.FocalDepth, States: c.States, Cores: runtime.GOMAXPROCS(0)}
	phases.Next(fmt.Sprintf("states of %d tracks", len(f.segments)))
	l, ok := states.Infer(f.segments, o)
	if !ok {
		return nil, console.Usage(fmt.Errorf("%s: found %d tracks of which none moves, expected places in more than one frame", c.Tracks, len(f.all)))
	}
	found := &Findings{Unit: f.unit, Undetected: f.undetected, Single: f.single, Unused: f.unused, Drift: f.drift}
	phases.Next("the spectrum")
	o.Lag = l.Lag
	spectrum := states.Spectrum(f.segments, o, l.MostNoise)
	var ways ways
	var verdicts []verdict
	for _, look := range []struct {
		what string
		at   func()
	}{
		{"switches of state", func() { found.Switching, ways, l = f.switching(l, o) }},
		{"kinds of motion", func() { found.Motion, verdicts = f.motion() }},
		{"the map", func() { found.Map, found.Outside = f.fieldMap(c.Width, c.Height, l.Noise) }},
		{"forces between objects", func() {
			if c.Interactions {
				found.Pairs = f.pairs(c.TemplatePX, l.Noise)
			}
		}},
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		phases.Next(look.what)
		look.at()
	}
	found.tell(l, spectrum)
	found.Says = l.Says(1, f.unit, found.Switching != nil && found.Switching.Told)
	if c.Objects == "" {
		return found, nil
	}
	return found, console.WriteFile(c.Objects, f.table(l, ways, verdicts))
}
