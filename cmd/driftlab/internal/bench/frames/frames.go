// Package frames measures the path of a frame from the camera to NATS and a subscriber, and for comparison the bare kernels and a Python loop. Closed-loop runs
// (loop.go) measure from light to pin and back.
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

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/internal/kit/console"
)

// Command measures the whole path of a frame, from the camera to NATS, and the bare kernels on the same pictures.
type Command struct {
	Size    []int   `default:"64,256,512,1024,2048" help:"Sides of the square pictures." placeholder:"N,..."`
	Bits    []int   `default:"8,16" help:"8, 16 or both." placeholder:"B,..."`
	Rounds  int     `default:"5" help:"Rounds per size, each of the path and of the kernels; the output has medians." placeholder:"N"`
	Seconds float64 `default:"2" help:"Seconds per measurement." placeholder:"S"`
	JSON    bool    `name:"json" help:"Print one JSON object instead of a table."`
	Source  string  `help:"Measure instead how many streams like this one the machine holds: a configuration, or a source as for run." placeholder:"SOURCE"`
	Rate    float64 `help:"With --source: frames a second of one stream (default: from the frames' times)." placeholder:"FPS"`
	Alone   string  `hidden:"" help:"Measure one side in this process: path, kernels, opencv or streams."`
	Streams int     `hidden:"" default:"1" help:"Number of streams."`
}

// Help describes the measurement, under the command's own help.
func (c *Command) Help() string {
	return "The path is run's own. Pictures in memory are copied as by a driver, reduced to 8 bits, equalised by CLAHE at full resolution, resized to 64x64, encoded, " +
		"added to the law of motion, and published on the embedded NATS server. The kernels are the same calls and the same encoder in one tight loop per core, once with the path's own CLAHE and convolutions and once with OpenCV's. " +
		"If python3 has OpenCV and PyTorch, a Python loop is measured, too. Latencies are from the camera to the end of publishing, at fractions of the path's own rate, and at twice that rate."
}

// Bounds on a picture's side and on the time measured.
const (
	minSide, maxSide = 64, 4096
	maxSeconds       = 3600 // measured
)

// Loads are the fractions of capacity at which latencies are measured; the last exceeds it.
var Loads = []float64{0.25, 0.5, 0.8, 0.95, 2}

// sideCost is one process' own figures.
type sideCost struct {
	FPS    float64     `json:"fps"`
	CPU    float64     `json:"cpu_ms"`           // per frame, all threads
	Allocs float64     `json:"allocs_per_frame"` // Go allocations
	P50    float64     `json:"p50_ms"`           // from the camera to the end of publishing
	P95    float64     `json:"p95_ms"`
	P99    float64     `json:"p99_ms"`
	Peak   float64     `json:"peak_mib"`
	Stages []stageCost `json:"stages,omitempty"`
}

// stageCost is the median time of one stage.
type stageCost struct {
	Name string  `json:"name"`
	MS   float64 `json:"p50_ms"`
}

// frameRow is one kind of picture. Its own percentiles are at half of the capacity.
type frameRow struct {
	Size    int     `json:"size"`
	Bits    int     `json:"bits"`
	Kernels float64 `json:"kernels_fps"`
	Ratio   float64 `json:"ratio_to_kernels"` // median of the rounds' ratios
	OpenCV  float64 `json:"opencv_fps"`       // kernels with OpenCV's CLAHE and convolutions instead of the path's
	Over    float64 `json:"ratio_to_opencv"`  // median of the rounds' ratios
	sideCost
	Loads  []loadCost   `json:"loads"`
	Python *pythonLoop  `json:"python,omitempty"`
	Calls  *pythonCalls `json:"python_calls,omitempty"`
}

// loadCost is the latency at a fraction of the capacity.
type loadCost struct {
	Load float64 `json:"load"` // frames offered over capacity
	sideCost
}

// Findings is the result of bench frames.
type Findings struct {
	Cores   int        `json:"cores"`
	Rounds  int        `json:"rounds"`
	Seconds float64    `json:"seconds"`
	Sizes   []frameRow `json:"sizes"`
	Missing string     `json:"python_missing,omitempty"`       // why the comparison is missing
	NoCalls string     `json:"python_calls_missing,omitempty"` // why the comparison of single calls is missing
}

// Run measures and prints.
func (c *Command) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return console.Usage(err)
	}
	if c.Alone != "" {
		return c.alone(ctx)
	}
	if c.Source != "" {
		return c.plan(ctx)
	}
	if err := os.Unsetenv("OMP_WAIT_POLICY"); err != nil { // a shell's PASSIVE makes the Python loop five times slower
		return err
	}
	found := Findings{Cores: runtime.NumCPU(), Rounds: c.Rounds, Seconds: c.Seconds}
	for _, size := range c.Size {
		for _, bits := range c.Bits {
			row, err := c.measure(ctx, size, bits)
			if ctx.Err() != nil {
				return errors.New("interrupted before everything was measured")
			}
			if err != nil {
				return fmt.Errorf("%d x %d, %d bits: %w", size, size, bits, err)
			}
			if err := errors.Join(c.measurePython(ctx, &found, &row), c.measureCalls(ctx, &found, &row)); err != nil {
				return fmt.Errorf("%d x %d, %d bits: %w", size, size, bits, err)
			}
			console.Say("%d x %d, %d bits: %.0f frames/s, %.2f of the kernels'", size, size, bits, row.FPS, row.Ratio)
			found.Sizes = append(found.Sizes, row)
		}
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

func (c *Command) check() error {
	if len(c.Size) == 0 || len(c.Bits) == 0 {
		return errors.New("--size, --bits: found none, expected one of each at least")
	}
	for _, size := range c.Size {
		if size < minSide || size > maxSide {
			return fmt.Errorf("--size: found %d, expected %d to %d pixels", size, minSide, maxSide)
		}
	}
	for _, bits := range c.Bits {
		if bits != 8 && bits != 16 {
			return fmt.Errorf("--bits: found %d, expected 8 or 16", bits)
		}
	}
	switch {
	case c.Rounds < 1 || c.Rounds > 100:
		return fmt.Errorf("--rounds: found %d, expected 1 to 100", c.Rounds)
	case !(c.Seconds >= 0.1 && c.Seconds <= maxSeconds):
		return fmt.Errorf("--seconds: found %g, expected 0.1 to %d", c.Seconds, maxSeconds)
	case c.Streams < 1 || c.Streams > MaxStreams:
		return fmt.Errorf("--streams: found %d, expected 1 to %d", c.Streams, MaxStreams)
	case c.Rate != 0 && c.Source == "" && c.Alone == "":
		return errors.New("--rate: belongs to a stream: give --source")
	case !(c.Rate >= 0 && c.Rate <= 1e6):
		return fmt.Errorf("--rate: found %g, expected 0 to 1000000 frames a second", c.Rate)
	}
	return nil
}

// alone measures one side on the first size and prints its cost.
func (c *Command) alone(ctx context.Context) error {
	p := pictures{side: c.Size[0], bits: c.Bits[0]}
	var cost streamsCost
	var err error
	switch c.Alone {
	case "path":
		cost.sideCost, err = measurePath(ctx, p, c.Seconds, c.Rate)
	case "kernels", "opencv":
		cost.sideCost, err = measureKernels(ctx, p, c.Seconds, c.Alone == "opencv")
	case "streams":
		cost, err = c.measureStreams(ctx)
	default:
		err = console.Usage(fmt.Errorf("--alone: found %q, expected path, kernels, opencv or streams", c.Alone))
	}
	if err != nil {
		return err
	}
	if cost.Peak, err = bench.PeakMiB(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(cost)
}

// measure runs the rounds of one kind of picture, alternating sides so that a slowdown of the machine affects both, and then
// the rounds of each load.
func (c *Command) measure(ctx context.Context, size, bits int) (frameRow, error) {
	var paths []sideCost
	var kernels, ratios, opencv, over []float64
	for range c.Rounds {
		path, err := c.contend(ctx, size, bits, "path", 0)
		if err != nil {
			return frameRow{}, err
		}
		bare, err := c.contend(ctx, size, bits, "kernels", 0)
		if err != nil {
			return frameRow{}, err
		}
		other, err := c.contend(ctx, size, bits, "opencv", 0)
		if err != nil {
			return frameRow{}, err
		}
		opencv, over = append(opencv, other.FPS), append(over, path.FPS/other.FPS)
		paths, kernels, ratios = append(paths, path), append(kernels, bare.FPS), append(ratios, path.FPS/bare.FPS)
	}
	slices.SortFunc(paths, func(a, b sideCost) int { return cmp.Compare(a.FPS, b.FPS) })
	row := frameRow{Size: size, Bits: bits, Kernels: bench.Median(kernels), Ratio: bench.Median(ratios), OpenCV: bench.Median(opencv), Over: bench.Median(over), sideCost: paths[len(paths)/2]}
	for _, load := range Loads {
		cost, err := c.bear(ctx, size, bits, load*row.FPS)
		if err != nil {
			return frameRow{}, err
		}
		row.Loads = append(row.Loads, loadCost{load, cost})
		if load == 0.5 {
			row.P50, row.P95, row.P99 = cost.P50, cost.P95, cost.P99
		}
	}
	return row, nil
}

// bear measures the path at a camera rate, and returns the round with the median p99.
func (c *Command) bear(ctx context.Context, size, bits int, rate float64) (sideCost, error) {
	var costs []sideCost
	for range c.Rounds {
		cost, err := c.contend(ctx, size, bits, "path", rate)
		if err != nil {
			return cost, err
		}
		costs = append(costs, cost)
	}
	slices.SortFunc(costs, func(a, b sideCost) int { return cmp.Compare(a.P99, b.P99) })
	return costs[len(costs)/2], nil
}

// contend measures one side in a separate process.
func (c *Command) contend(ctx context.Context, size, bits int, side string, rate float64) (cost sideCost, err error) {
	self, err := os.Executable()
	if err != nil {
		return cost, err
	}
	p := bench.Contender{Program: self, Threads: runtime.NumCPU(), Args: []string{"bench", "frames", "--alone", side, "--size", strconv.Itoa(size),
		"--bits", strconv.Itoa(bits), "--rate", fmt.Sprint(rate), "--seconds", fmt.Sprint(c.Seconds)}}
	err = p.Run(ctx, &cost)
	return cost, err
}

// print prints the findings.
func (f *Findings) print(w io.Writer) {
	fmt.Fprintf(w, "From the camera to NATS on %d cores; medians of %d rounds of %g s. Latencies in ms, at half and at twice the capacity.\n\n", f.Cores, f.Rounds, f.Seconds)
	fmt.Fprintln(w, "| pixels | bits | frames/s | kernels | ratio | OpenCV's kernels | ratio | CPU ms a frame | allocations | p50 at 50 % | p95 | p99 | frames/s at 200 % | p99 | peak MiB |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range f.Sizes {
		over := r.Loads[len(r.Loads)-1]
		fmt.Fprintf(w, "| %d² | %d | %.0f | %.0f | %.2f | %.0f | %.2f | %.2f | %.1f | %.2f | %.2f | %.2f | %.0f | %.2f | %.0f |\n",
			r.Size, r.Bits, r.FPS, r.Kernels, r.Ratio, r.OpenCV, r.Over, r.CPU, r.Allocs, r.P50, r.P95, r.P99, over.FPS, over.P99, r.Peak)
	}
	f.printPython(w)
	f.printCalls(w)
	fmt.Fprintln(w, "\nMedian milliseconds of each stage:")
	for _, r := range f.Sizes {
		fmt.Fprintf(w, "%d², %d bits:", r.Size, r.Bits)
		for _, s := range r.Stages {
			fmt.Fprintf(w, " %s %.3f", s.Name, s.MS)
		}
		fmt.Fprintln(w)
	}
}
