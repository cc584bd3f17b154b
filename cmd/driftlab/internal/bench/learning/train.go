package learning

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/infer/sdevae"
	"driftscope/internal/job/training"
	"driftscope/internal/kit/console"
)

// TrainCommand measures one training step of the paper's encoder and decoder on random pictures.
type TrainCommand struct {
	Frames  int  `default:"100" help:"Frames per batch, an even number." placeholder:"N"`
	Threads int  `help:"Threads of either side (default: all cores)." placeholder:"N"`
	Steps   int  `default:"10" help:"Steps timed in each of 3 rounds." placeholder:"N"`
	JSON    bool `name:"json" help:"Print one JSON object instead of a table."`
	Alone   bool `hidden:"" help:"Measure this side only, in this process; a comparison uses this."`
}

const (
	benchLatent = 2
	benchRounds = 3 // each measures one side after the other, so that a machine that slows down slows both
)

//go:embed peers/train_step.py
var torchStep string

// stepCost is one side's figures. Times are medians over a round's steps, and then over the rounds.
type stepCost struct {
	Forward   float64 `json:"forward_ms_per_frame"`
	Backward  float64 `json:"backward_ms_per_frame"`
	Optimiser float64 `json:"optimiser_ms_per_frame"`
	Train     float64 `json:"train_ms_per_frame"`
	Peak      float64 `json:"peak_mib"`
	Version   string  `json:"version,omitempty"` // PyTorch's
}

// trainFindings is the output of bench train. Ratios are ours over PyTorch's: below 1 is better.
type trainFindings struct {
	stepCost
	Frames  int       `json:"frames"`
	Threads int       `json:"threads"`
	Cores   int       `json:"cores"`
	Steps   int       `json:"steps"`
	Rounds  int       `json:"rounds"`
	Wait    string    `json:"omp_wait_policy"` // of both sides
	Torch   *stepCost `json:"torch"`
	Missing string    `json:"torch_missing,omitempty"` // why there is no comparison

	Ratio        *float64 `json:"ratio"` // of a whole step
	RatioForward *float64 `json:"ratio_forward"`
	RatioPeak    *float64 `json:"ratio_peak"`
}

// Run measures and prints. Without PyTorch the comparison is left out, with the reason.
func (c *TrainCommand) Run(ctx context.Context) error {
	if err := training.YieldCores(); err != nil { // as pretrain does; both sides inherit the policy
		return err
	}
	if c.Threads == 0 {
		c.Threads = runtime.NumCPU()
	}
	if err := c.check(); err != nil {
		return console.Usage(err)
	}
	if c.Alone {
		return c.alone()
	}
	found, err := c.compare(ctx)
	if ctx.Err() != nil {
		return errors.New("interrupted before everything was measured")
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

func (c *TrainCommand) check() error {
	const maxFrames, maxThreads, maxSteps = 2000, 1024, 10000
	switch {
	case c.Frames < 4 || c.Frames > maxFrames || c.Frames%2 != 0:
		return fmt.Errorf("--frames: found %d, expected an even number from 4 to %d", c.Frames, maxFrames)
	case c.Threads < 1 || c.Threads > maxThreads:
		return fmt.Errorf("--threads: found %d, expected 1 to %d", c.Threads, maxThreads)
	case c.Steps < 1 || c.Steps > maxSteps:
		return fmt.Errorf("--steps: found %d, expected 1 to %d", c.Steps, maxSteps)
	}
	return nil
}

// alone measures this process and prints a stepCost.
func (c *TrainCommand) alone() error {
	cost, err := sdevae.StepCost(c.Frames, benchLatent, c.Threads, c.Steps)
	if err != nil {
		return err
	}
	peak, err := bench.PeakMiB()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(stepCost{Forward: cost.Forward, Backward: cost.Backward, Optimiser: cost.Optimiser, Train: cost.Train, Peak: peak})
}

// compare runs the rounds. A failure of PyTorch ends its part of the benchmark, not ours.
func (c *TrainCommand) compare(ctx context.Context) (*trainFindings, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ours := bench.Contender{Program: self, Threads: c.Threads,
		Args: []string{"bench", "train", "--alone", "--frames", strconv.Itoa(c.Frames), "--threads", strconv.Itoa(c.Threads), "--steps", strconv.Itoa(c.Steps)}}
	found := &trainFindings{Frames: c.Frames, Threads: c.Threads, Cores: runtime.NumCPU(), Steps: c.Steps, Rounds: benchRounds, Wait: os.Getenv("OMP_WAIT_POLICY")}
	var mine, theirs []stepCost
	for range benchRounds {
		var cost stepCost
		start := time.Now()
		if err := ours.Run(ctx, &cost); err != nil {
			return nil, err
		}
		mine = append(mine, cost)
		if found.Missing != "" {
			continue
		}
		cost, err := c.torch(ctx, 2*time.Minute+30*time.Since(start))
		if err != nil {
			found.Missing, theirs = err.Error(), nil
			continue
		}
		theirs = append(theirs, cost)
	}
	found.stepCost = medianCost(mine)
	if theirs != nil {
		found.oppose(medianCost(theirs))
	}
	return found, nil
}

// torch measures PyTorch in the python3 of the path.
func (c *TrainCommand) torch(ctx context.Context, limit time.Duration) (stepCost, error) {
	python := bench.Contender{Program: "python3", Script: torchStep, Threads: c.Threads, Limit: limit,
		Args: []string{"-", strconv.Itoa(c.Frames), strconv.Itoa(c.Threads), strconv.Itoa(c.Steps), strconv.Itoa(benchLatent)}}
	var cost stepCost
	err := python.Run(ctx, &cost)
	switch {
	case err != nil && (errors.Is(err, exec.ErrNotFound) || strings.Contains(err.Error(), "No module named 'torch'")):
		err = fmt.Errorf("%w; Debian: apt-get install python3-torch, which serves /usr/bin/python3", err)
	case err == nil && min(cost.Forward, cost.Backward, cost.Optimiser, cost.Train, cost.Peak) <= 0:
		err = fmt.Errorf("python3 printed %+v, expected positive figures", cost)
	}
	return cost, err
}

// oppose adds the other side and the ratios.
func (f *trainFindings) oppose(torch stepCost) {
	ratio := func(a, b float64) *float64 { r := a / b; return &r }
	f.Torch = &torch
	f.Ratio, f.RatioForward, f.RatioPeak = ratio(f.Train, torch.Train), ratio(f.Forward, torch.Forward), ratio(f.Peak, torch.Peak)
}

// medianCost is the rounds' median, figure by figure, and their largest peak.
func medianCost(rounds []stepCost) stepCost {
	median := func(of func(stepCost) float64) float64 {
		var v []float64
		for _, c := range rounds {
			v = append(v, of(c))
		}
		slices.Sort(v)
		return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	}
	m := stepCost{Version: rounds[0].Version}
	m.Forward = median(func(c stepCost) float64 { return c.Forward })
	m.Backward = median(func(c stepCost) float64 { return c.Backward })
	m.Optimiser = median(func(c stepCost) float64 { return c.Optimiser })
	m.Train = median(func(c stepCost) float64 { return c.Train })
	for _, c := range rounds {
		m.Peak = max(m.Peak, c.Peak)
	}
	return m
}

// print writes the findings for a person.
func (f *trainFindings) print(w io.Writer) {
	fmt.Fprintf(w, "A training step of %d frames of 3x64x64 on %d threads, %d cores; medians of %d rounds of %d steps.\n\n", f.Frames, f.Threads, f.Cores, f.Rounds, f.Steps)
	torch, version := f.Torch, ""
	if torch == nil {
		torch = &stepCost{}
	} else {
		version = "PyTorch " + torch.Version
	}
	fmt.Fprintf(w, "%-22s %10s  %s\n", "", "driftscope", version)
	for _, row := range []struct {
		name         string
		ours, theirs float64
	}{
		{"forward, ms/frame", f.Forward, torch.Forward},
		{"backward", f.Backward, torch.Backward},
		{"Adam", f.Optimiser, torch.Optimiser},
		{"whole step", f.Train, torch.Train},
		{"peak memory, MiB", f.Peak, torch.Peak},
	} {
		fmt.Fprintf(w, "%-22s %10.4g", row.name, row.ours)
		if f.Torch != nil {
			fmt.Fprintf(w, "  %10.4g  ratio %.2f", row.theirs, row.ours/row.theirs)
		}
		fmt.Fprintln(w)
	}
	if f.Torch == nil {
		fmt.Fprintf(w, "\nNot compared with PyTorch: %s\n", f.Missing)
		return
	}
	fmt.Fprintf(w, "\nA step takes %.2f of PyTorch's time and %.2f of its memory. Memory is a process's own peak, with the libraries it loads;\n"+
		"our step learns the dynamics too, PyTorch's is the networks alone.\n", *f.Ratio, *f.RatioPeak)
}
