package law

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"

	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
	"driftscope/online/exact"
	"driftscope/online/states"
)

// Command finds the law of the tracks in a table.
type Command struct {
	Tracks string  `arg:"" help:"The tracks: a table with the columns frame, particle (or trajectory), x, y in px; CSV, also compressed with gzip." placeholder:"TRACKS.csv" type:"path"`
	DT     float64 `name:"dt" help:"Seconds between frames." placeholder:"S"`
	FPS    float64 `name:"fps" help:"Frames per second, instead of --dt." placeholder:"N"`

	Columns    map[string]string `mapsep:"," help:"The table's names for the columns frame, particle, x and y, if they differ, such as frame=t,particle=traj_idx." placeholder:"OURS=THEIRS,..."`
	PixelUM    float64           `name:"pixel-um" help:"Pixel size in the specimen, µm; D is then in µm²/s instead of px²/s." placeholder:"UM"`
	Exposure   float64           `help:"Exposure time of a frame, seconds; corrects for motion during the exposure." placeholder:"S"`
	FocalDepth float64           `help:"Depth in which objects are visible, µm; corrects for fast objects, which leave it sooner. Needs --pixel-um." placeholder:"UM"`
	States     int               `help:"Number of states; 0 chooses it by the evidence." default:"0" placeholder:"K"`
	KeepDrift  bool              `help:"Do not subtract the motion that all objects share, such as the drift of the stage."`
	Width      float64           `help:"Width of the film for the map, px; 0 takes the range of the positions." placeholder:"PX"`
	Height     float64           `help:"Height of the film for the map, px; 0 takes the range of the positions." placeholder:"PX"`

	Certain float64 `help:"Cut tracks at steps whose link probability (column p_link, from run --objects) is below this or unknown; 0 cuts none." default:"0" placeholder:"P"`

	Interactions bool    `help:"Estimate the force between objects as a function of their distance."`
	TemplatePX   float64 `name:"template-px" help:"Width (standard deviation) of an object's light, px, for --interactions: two objects closer than twice this appear as one." default:"1.5" placeholder:"PX"`
	Over         string  `help:"Write the probability of every state at every step of every track to this CSV file." placeholder:"OUT.csv" type:"path"`
	Objects      string  `help:"Write one row per track to this CSV file: its states, D, kind of motion, switches." placeholder:"OUT.csv" type:"path"`
	JSON         bool    `name:"json" help:"Print one JSON object instead of text."`
}

// check refuses invalid options.
func (c *Command) check() error {
	for ours := range c.Columns {
		if !slices.Contains([]string{"frame", "particle", "x", "y"}, ours) {
			return fmt.Errorf("--columns: found %q, expected frame, particle, x or y before =", ours)
		}
	}
	switch {
	case c.FPS != 0 && c.DT != 0:
		return errors.New("--fps and --dt: give one of them")
	case c.FPS != 0 && (!(c.FPS > 0) || math.IsInf(1/c.FPS, 0) || math.IsInf(c.FPS, 0)):
		return fmt.Errorf("--fps: found %g, expected a positive number of frames per second", c.FPS)
	case c.FPS != 0:
		c.DT = 1 / c.FPS
	}
	switch {
	case !(c.DT > 0) || math.IsInf(c.DT, 0):
		return fmt.Errorf("--dt: found %g, expected a positive number of seconds, or give --fps", c.DT)
	case !(c.PixelUM >= 0) || math.IsInf(c.PixelUM, 0):
		return fmt.Errorf("--pixel-um: found %g, expected a size in µm, 0 or more", c.PixelUM)
	case !(c.Exposure >= 0 && c.Exposure <= c.DT):
		return fmt.Errorf("--exposure: found %g, expected 0 to --dt, %g s", c.Exposure, c.DT)
	case !(c.FocalDepth >= 0) || math.IsInf(c.FocalDepth, 0):
		return fmt.Errorf("--focal-depth: found %g, expected a depth in µm, 0 or more", c.FocalDepth)
	case c.FocalDepth > 0 && c.PixelUM == 0:
		return errors.New("--focal-depth is in µm: give --pixel-um as well")
	case !(c.Certain >= 0 && c.Certain <= 1):
		return fmt.Errorf("--certain: found %g, expected a probability, 0 to 1", c.Certain)
	case c.States < 0 || c.States > states.MostStates:
		return fmt.Errorf("--states: found %d, expected 0 to %d", c.States, states.MostStates)
	}
	return nil
}

// checkMore refuses invalid options for the map, the force and the table of objects.
func (c *Command) checkMore() error {
	switch {
	case !(c.Width >= 0 && c.Width <= mostSide):
		return fmt.Errorf("--width: found %g, expected 0 to %g px", c.Width, mostSide)
	case !(c.Height >= 0 && c.Height <= mostSide):
		return fmt.Errorf("--height: found %g, expected 0 to %g px", c.Height, mostSide)
	case c.Interactions && !(c.TemplatePX > 0 && c.TemplatePX <= mostSide):
		return fmt.Errorf("--template-px: found %g, expected a positive number of px", c.TemplatePX)
	}
	for flag, path := range map[string]string{"--objects": c.Objects, "--over": c.Over} {
		if path == "" {
			continue
		}
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s: %s exists already: give another file", flag, path)
		}
		if err := system.Writable(path); err != nil {
			return err
		}
	}
	return nil
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

// film holds the tracks of a film. Lengths are in units, px or µm, but positions are in px.
type film struct {
	all      []track // including tracks of one position
	used     []track
	segments []states.Segment // of the tracks in use, without the common motion
	drift    Velocity
	dt       float64 // s
	pixel    float64 // in units
	unit     string
	exposure float64 // s

	single, undetected, unused int // tracks of one position; rows; tracks beyond MaxTracks
	cuts                       int // of tracks, by --certain
}

// open reads the tracks.
func (c *Command) open() (*film, error) {
	all, left, cuts, err := read(c.Tracks, c.Columns, c.Certain)
	if err != nil {
		return nil, err
	}
	f := &film{all: all, dt: c.DT, pixel: 1, unit: "px", exposure: c.Exposure, undetected: left, cuts: cuts}
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

// find returns the findings of a film and writes the requested tables.
func (c *Command) find(ctx context.Context, f *film, phases *console.Phases) (*Findings, error) {
	found := &Findings{Unit: f.unit, Undetected: f.undetected, Single: f.single, Unused: f.unused, Cuts: f.cuts, Drift: f.drift, Tracks: len(f.used)}
	e, ok := exact.Infer(f.exactTracks(), exact.Options{Exposure: c.Exposure / c.DT, Each: true, Say: func(what string) {
		phases.Next(fmt.Sprintf("%s of %d tracks", what, len(f.used)))
	}})
	found.Remarks = e.Remarks
	if !ok {
		found.Says = strings.Join(e.Remarks, " ")
		return found, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	phases.Next("states of diffusion")
	o := states.Options{Exposure: c.Exposure, Depth: c.FocalDepth, States: c.States, Cores: runtime.GOMAXPROCS(0), Lag: 1}
	if e.Kind == exact.Late {
		o.Lag = 0
	}
	if c.States == 0 && !((e.Kind == exact.Free || e.Kind == exact.Late) && e.Grouped()) {
		o.Most = 1 // a switching law has its own number of states
	}
	l, ok := states.Infer(f.segments, o)
	if !ok {
		return nil, console.Usage(fmt.Errorf("%s: found %d tracks but none moves, expected positions in more than one frame", c.Tracks, len(f.all)))
	}
	phases.Next("the spectrum")
	o.Lag = l.Lag
	spectrum := states.Spectrum(f.segments, o, l.MostNoise)
	found.tell(l, spectrum)
	found.Says = l.Says(1, f.unit)
	if c.States == 0 {
		f.exactly(found, e)
	}
	f.motion(found, e)
	phases.Next("the map")
	if found.Map, found.Outside = f.fieldMap(c.Width, c.Height, found.Noise); found.Map != nil && !e.Mapped() {
		found.Map.Says = nil
	}
	if c.Interactions {
		phases.Next("forces between objects")
		found.Pairs = f.pairs(c.TemplatePX, found.Noise)
	}
	for path, table := range map[string]func() []byte{c.Objects: func() []byte { return f.table(found, l, e) }, c.Over: func() []byte { return f.over(e) }} {
		if path != "" {
			if err := console.WriteFile(path, table()); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}
