package frames

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"driftscope/cmd/driftlab/internal/bench"
)

//go:embed peers/frames.py
var pythonFrames string

// pythonLoop is the Python loop with OpenCV and PyTorch on the same pictures.
type pythonLoop struct {
	sideCost
	Ratio   float64 `json:"ratio"` // the path's frames per second over the loop's
	Rate    float64 `json:"rate"`  // half of the loop's capacity, the rate for both latencies
	P99     float64 `json:"p99_at_rate_ms"`
	OursP99 float64 `json:"path_p99_at_rate_ms"`
}

// pythonCalls are the times of single Python calls on the same pictures, medians in milliseconds.
type pythonCalls struct {
	Equalise float64 `json:"equalize_adapthist_ms"` // scikit-image's, which the paper's code used
	Locate   float64 `json:"locate_ms"`             // locating a spot without any model
	Locator  string  `json:"locator"`
	Version  string  `json:"version"`
}

// measurePython measures the Python loop on row's pictures. Its errors end only its part.
func (c *Command) measurePython(ctx context.Context, found *Findings, row *frameRow) error {
	if found.Missing != "" {
		return nil
	}
	d, err := c.comparePython(ctx, row)
	if err != nil && ctx.Err() == nil {
		found.Missing, err = err.Error(), nil
	}
	row.Python = d
	return err
}

// comparePython returns the loop's and row's frames per second, and both latencies at half of the loop's capacity.
func (c *Command) comparePython(ctx context.Context, row *frameRow) (*pythonLoop, error) {
	var fps []float64
	for range c.Rounds {
		cost, err := c.python(ctx, row, 0)
		if err != nil {
			return nil, err
		}
		fps = append(fps, cost.FPS)
	}
	d := &pythonLoop{sideCost: sideCost{FPS: bench.Median(fps)}}
	d.Ratio, d.Rate = row.FPS/d.FPS, d.FPS/2
	theirs, err := c.python(ctx, row, d.Rate)
	if err != nil {
		return nil, err
	}
	ours, err := c.contend(ctx, row.Size, row.Bits, "path", d.Rate)
	if err != nil {
		return nil, err
	}
	d.P50, d.P95, d.P99, d.OursP99 = theirs.P50, theirs.P95, theirs.P99, ours.P99
	return d, nil
}

// python measures the loop in the python3 of the path.
func (c *Command) python(ctx context.Context, row *frameRow, rate float64) (cost sideCost, err error) {
	err = c.runPython(ctx, row, &cost, "python3-opencv python3-torch", "loop", fmt.Sprint(rate))
	if err == nil && cost.FPS <= 0 {
		err = fmt.Errorf("python3 printed %+v, expected positive figures", cost)
	}
	return cost, err
}

// measureCalls times single calls on row's pictures. If they fail, the rest remains valid.
func (c *Command) measureCalls(ctx context.Context, found *Findings, row *frameRow) error {
	if found.NoCalls != "" {
		return nil
	}
	calls := new(pythonCalls)
	err := c.runPython(ctx, row, calls, "python3-skimage", "calls")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		found.NoCalls = err.Error()
	default:
		row.Calls = calls
	}
	return nil
}

// runPython runs the script in the python3 of the path, which needs the script's packages.
func (c *Command) runPython(ctx context.Context, row *frameRow, dst any, packages string, args ...string) error {
	p := bench.Contender{Program: "python3", Script: pythonFrames, Threads: runtime.NumCPU(), Limit: time.Minute + time.Duration(4*c.Seconds*float64(time.Second)),
		Args: append([]string{"-", strconv.Itoa(row.Size), strconv.Itoa(row.Bits), fmt.Sprint(c.Seconds)}, args...)}
	err := p.Run(ctx, dst)
	if err != nil && (errors.Is(err, exec.ErrNotFound) || strings.Contains(err.Error(), "No module named")) {
		err = fmt.Errorf("%w; Debian: apt-get install %s, which serve /usr/bin/python3", err, packages)
	}
	return err
}

// printPython prints the comparison with the Python loop, or why it is missing.
func (f *Findings) printPython(w io.Writer) {
	compared := slices.DeleteFunc(slices.Clone(f.Sizes), func(r frameRow) bool { return r.Python == nil })
	if len(compared) > 0 {
		fmt.Fprintln(w, "\nBeside a Python loop of OpenCV and PyTorch; latencies of both at half of what that can take:")
		fmt.Fprintln(w, "\n| pixels | bits | its frames/s | ours over its | its p99 | ours |")
		fmt.Fprintln(w, "|---|---|---|---|---|---|")
	}
	for _, r := range compared {
		p := r.Python
		fmt.Fprintf(w, "| %d² | %d | %.0f | %.2f | %.2f | %.2f |\n", r.Size, r.Bits, p.FPS, p.Ratio, p.P99, p.OursP99)
	}
	if f.Missing != "" {
		fmt.Fprintf(w, "\nNo comparison with Python: %s.\n", f.Missing)
	}
}

// printCalls prints the times of single Python calls and of ours, or why they are missing.
func (f *Findings) printCalls(w io.Writer) {
	known := slices.DeleteFunc(slices.Clone(f.Sizes), func(r frameRow) bool { return r.Calls == nil })
	if len(known) > 0 {
		first := known[0].Calls
		fmt.Fprintf(w, "\nSingle calls of Python's, median milliseconds (%s), beside our CLAHE and our whole frame's processor time:\n\n", first.Version)
		fmt.Fprintf(w, "| pixels | bits | equalize_adapthist | our CLAHE | %s | our frame |\n|---|---|---|---|---|---|\n", first.Locator)
	}
	for _, r := range known {
		fmt.Fprintf(w, "| %d² | %d | %.2f | %.3f | %.2f | %.2f |\n", r.Size, r.Bits, r.Calls.Equalise, r.stage("clahe"), r.Calls.Locate, r.CPU)
	}
	if f.NoCalls != "" {
		fmt.Fprintf(w, "\nNo calls of Python's: %s.\n", f.NoCalls)
	}
}

// stage returns the median time of the named stage, in milliseconds, or 0.
func (r *frameRow) stage(name string) float64 {
	for _, s := range r.Stages {
		if s.Name == name {
			return s.MS
		}
	}
	return 0
}
