package frames

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"gocv.io/x/gocv"
	"golang.org/x/sync/errgroup"

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/ingest"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/recording"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
)

const (
	sampledFrames = ringLength + 1 // frames read from the source; their distances give its rate
	samplingTime  = 30 * time.Second
	ringBytes     = 256 << 20 // bound on the pictures that represent the source
	MaxStreams    = 256       // most streams tried
	mayLose       = 0.01      // largest fraction of frames that a sustained stream may lose
)

// sampledSource is the first pictures of a source and its rate.
type sampledSource struct {
	ring []gocv.Mat
	rate float64 // frames per second by the frames' own times; 0 for a single frame
}

// look reads the source's first frames. The caller closes the pictures.
func look(ctx context.Context, component config.Component) (g *sampledSource, err error) {
	source, err := ingest.New(component.Kind, component.Decode)
	if err != nil {
		return nil, console.Usage(err)
	}
	ctx, cancel := context.WithTimeout(ctx, samplingTime)
	defer cancel()
	g = &sampledSource{}
	defer func() {
		if err = errors.Join(err, source.Close()); err != nil {
			g.close()
		}
	}()
	if err := source.Open(ctx); err != nil {
		return g, fmt.Errorf("source: %w", err)
	}
	var periods []float64
	var before time.Time
	var trajectory uint64
	bytes := 0
	for n := range sampledFrames {
		f, err := source.Read(ctx)
		var skip *pipeline.ErrSkip
		switch {
		case errors.As(err, &skip):
			continue
		case err != nil && len(g.ring) > 0:
			return g.paced(periods), nil // a short recording, or an idle camera
		case err != nil:
			return g, fmt.Errorf("source: frame %d: %w", n, err)
		}
		if d := f.Time.Sub(before).Seconds(); len(g.ring) > 0 && f.Meta.Trajectory == trajectory && d > 0 {
			periods = append(periods, d)
		}
		before, trajectory = f.Time, f.Meta.Trajectory
		if bytes += f.Bytes(); len(g.ring) == 0 || len(g.ring) < ringLength && bytes <= ringBytes {
			g.ring = append(g.ring, f.Mat().Clone())
		}
		f.Close()
	}
	if len(g.ring) == 0 {
		return g, errors.New("source: none of its first frames could be read")
	}
	return g.paced(periods), nil
}

// paced sets the rate from the frame intervals in seconds.
func (g *sampledSource) paced(periods []float64) *sampledSource {
	if len(periods) > 0 {
		g.rate = 1 / bench.Median(periods)
	}
	return g
}

func (g *sampledSource) close() {
	for _, m := range g.ring {
		m.Close()
	}
}

// streamsCost is the cost of several streams in one process.
type streamsCost struct {
	Streams int     `json:"streams"`
	Rate    float64 `json:"rate"`   // frames per second offered by each; 0 is a source that waits
	Lost    float64 `json:"lost"`   // fraction of all frames not tracked
	Cores   float64 `json:"cores"`  // used
	Width   int     `json:"width"`  // of a picture, pixels
	Height  int     `json:"height"` // of a picture, pixels
	sideCost
}

// Capacity is the result of bench frames --source.
type Capacity struct {
	Source string        `json:"source"`
	Cores  int           `json:"cores"`
	Rate   float64       `json:"rate"`   // frames per second of one stream
	Alone  streamsCost   `json:"alone"`  // one stream with a waiting source: the most that this machine can do
	Held   int           `json:"held"`   // streams of which each loses at most mayLose
	Breaks int           `json:"breaks"` // smallest number tried that lost more; 0 if none did
	Trials []streamsCost `json:"trials"` // in order of their stream counts
}

// plan finds how many streams like the source this machine sustains: it doubles until frames are lost, then bisects.
func (c *Command) plan(ctx context.Context) error {
	cfg, err := configuration(c.Source)
	if err != nil {
		return console.Usage(err)
	}
	rate := c.Rate
	if rate == 0 {
		g, err := look(ctx, cfg.Source)
		if err != nil {
			return err
		}
		g.close()
		if rate = g.rate; rate == 0 {
			return console.Usage(fmt.Errorf("%s: has one frame, which does not determine a rate: give --rate", c.Source))
		}
	}
	found := Capacity{Source: c.Source, Cores: runtime.NumCPU(), Rate: rate}
	if found.Alone, err = c.streams(ctx, 1, 0); err != nil {
		return err
	}
	try := func(n int) (holds bool, err error) {
		cost, err := c.streams(ctx, n, rate)
		if err != nil {
			return false, fmt.Errorf("%d streams: %w", n, err)
		}
		console.Say("%d streams: %.2f %% of the frames lost", n, 100*cost.Lost)
		found.Trials = append(found.Trials, cost)
		if holds = cost.Lost <= mayLose; holds {
			found.Held = max(found.Held, n)
		} else if found.Breaks == 0 || n < found.Breaks {
			found.Breaks = n
		}
		return holds, nil
	}
	for n := 1; n <= MaxStreams; n *= 2 {
		holds, err := try(n)
		if err != nil {
			return err
		}
		if !holds {
			break
		}
	}
	for found.Breaks-found.Held > 1 {
		if _, err := try((found.Held + found.Breaks) / 2); err != nil {
			return err
		}
	}
	slices.SortFunc(found.Trials, func(a, b streamsCost) int { return cmp.Compare(a.Streams, b.Streams) })
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

// streams measures n streams in a separate process.
func (c *Command) streams(ctx context.Context, n int, rate float64) (cost streamsCost, err error) {
	self, err := os.Executable()
	if err != nil {
		return cost, err
	}
	p := bench.Contender{Program: self, Threads: runtime.NumCPU(), Args: []string{"bench", "frames", "--alone", "streams", "--source", c.Source,
		"--streams", strconv.Itoa(n), "--rate", fmt.Sprint(rate), "--seconds", fmt.Sprint(c.Seconds)}}
	err = p.Run(ctx, &cost)
	return cost, err
}

// measureStreams runs n streams like cfg's source in parallel, as run does, from pictures in memory.
func (c *Command) measureStreams(ctx context.Context) (cost streamsCost, err error) {
	n, rate := c.Streams, c.Rate
	cfg, err := configuration(c.Source)
	if err != nil {
		return cost, console.Usage(err)
	}
	g, err := look(ctx, cfg.Source)
	if err != nil {
		return cost, err
	}
	defer g.close()
	model, err := stream.LoadModel(ctx, cfg, nil)
	if err != nil {
		return cost, console.Usage(err)
	}
	steps, err := model.Steps(ctx, cfg)
	if err != nil {
		return cost, err
	}
	cfg = inMemory(cfg)
	server, err := stream.Connect(ctx, cfg)
	if err != nil {
		return cost, err
	}
	defer server.Close()
	all, watches, summaries := make([]*stream.Stream, n), make([]*stopwatch, n), make([]pipeline.Summary, n)
	for i := range n {
		one := cfg
		one.Stream = fmt.Sprintf("stream%d", i)
		camera := &memorySource{ring: clones(g.ring), seconds: c.Seconds}
		if rate > 0 {
			camera.period = time.Duration(float64(time.Second) / rate)
			camera.late = camera.period * time.Duration(i) / time.Duration(n) // cameras are out of phase
		}
		if all[i], watches[i], err = watched(ctx, one, server, stream.Own{Source: camera, Model: model, Steps: steps}); err != nil {
			return cost, err
		}
	}
	running, ctx := errgroup.WithContext(ctx)
	for i, s := range all { // combine without the startup of each
		running.Go(func() (err error) {
			summaries[i], err = s.Run(ctx, 0)
			return err
		})
	}
	if err := running.Wait(); err != nil {
		return cost, err
	}
	return together(watches, summaries, rate), nil
}

// inMemory returns cfg without inputs and outputs, except its own bus.
func inMemory(cfg config.Config) config.Config {
	plain := config.Default()
	cfg.NATS, cfg.Sinks, cfg.Record, cfg.Online.State, cfg.Mode = plain.NATS, nil, plain.Record, "", ""
	cfg.NATS.Port = 0
	return cfg
}

func clones(ring []gocv.Mat) (copies []gocv.Mat) {
	for i := range ring {
		copies = append(copies, ring[i].Clone())
	}
	return copies
}

// together returns the total cost of parallel streams.
func together(watches []*stopwatch, summaries []pipeline.Summary, rate float64) streamsCost {
	all, camera := &stopwatch{source: watches[0].source}, watches[0].source
	var in, tracked uint64
	for i, w := range watches {
		all.add(w)
		in, tracked = in+summaries[i].FramesIn, tracked+summaries[i].Tracked
	}
	cost := streamsCost{Streams: len(watches), Rate: rate, Lost: float64(in-tracked) / float64(max(in, 1)), sideCost: all.cost(summaries[0])}
	cost.Cores = (camera.cold.cpu - camera.warm.cpu).Seconds() / camera.cold.at.Sub(camera.warm.at).Seconds()
	cost.Width, cost.Height = camera.size.X, camera.size.Y
	return cost
}

// print prints the capacity.
func (f *Capacity) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %d x %d pixels, %.4g frames/s. One stream alone, with a waiting source: %.0f frames/s, %.2f ms of one core a frame, %d cores.\n\n",
		f.Source, f.Alone.Width, f.Alone.Height, f.Rate, f.Alone.FPS, f.Alone.CPU, f.Cores)
	fmt.Fprintln(w, "| streams | frames/s | lost % | cores | p50 ms | p95 | p99 | peak MiB |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, t := range f.Trials {
		fmt.Fprintf(w, "| %d | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f |\n", t.Streams, t.FPS, 100*t.Lost, t.Cores, t.P50, t.P95, t.P99, t.Peak)
	}
	if f.Breaks > 0 {
		fmt.Fprintf(w, "\nThis machine holds %d; %d lose more than %g %% of their frames.\n", f.Held, f.Breaks, 100*mayLose)
	} else {
		fmt.Fprintf(w, "\nThis machine holds %d, the largest number tried.\n", f.Held)
	}
}

// configuration returns the configuration of the file, or the one that the source's name implies, with every seed settled.
func configuration(source string) (cfg config.Config, err error) {
	if recording.IsConfig(source) {
		cfg, err = config.Load(source)
	} else {
		cfg, err = stream.Implied(source, 0, 0)
	}
	if err != nil {
		return cfg, err
	}
	if err := stream.SettleSeeds(&cfg, nil); err != nil {
		return cfg, err
	}
	return cfg, cfg.Validate()
}
