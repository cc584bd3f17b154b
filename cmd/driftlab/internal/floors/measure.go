package floors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"driftscope/cmd/driftlab/internal/bench"
)

// sample is one measurement of a figure: its value, and the value of its reference in the same round. Both are rates, or both are times. A figure without a
// reference has the reference 1. A figure that needs all cores is divided by the share that other processes leave free.
type sample struct{ value, reference float64 }

// group holds the figures of one measurement, by name.
type group struct {
	name    string
	measure func(context.Context, *build) (map[string]sample, error)
}

// limit is the time after which a hanging command is ended.
const limit = 2 * time.Minute

// groups returns all groups of figures.
func groups() (all []group) {
	for _, size := range []int{64, 512, 2048} {
		for _, bits := range []int{8, 16} {
			name := fmt.Sprintf("frames-%d-%d", size, bits)
			all = append(all, group{name, func(ctx context.Context, b *build) (map[string]sample, error) {
				return frames(ctx, b, name, size, bits)
			}})
		}
	}
	for _, density := range []int{100, 500, 2000} {
		all = append(all, group{fmt.Sprintf("objects-%d", density), func(ctx context.Context, b *build) (map[string]sample, error) {
			return objects(ctx, b, density)
		}})
	}
	return append(all, group{"train", train}, group{"update", update}, group{"publish", publish}, group{"start", start})
}

// say runs a sub-command of bench and decodes its JSON. It returns the share of the cores that was free during the command.
func (b *build) say(ctx context.Context, dst any, args ...string) (float64, error) {
	c, begin := bench.Contender{Program: b.lab, Args: append([]string{"bench"}, args...), Threads: runtime.NumCPU(), Limit: limit}, now()
	err := c.Run(ctx, dst)
	return left(begin), err
}

// side is the output of bench frames for one side.
type side struct {
	FPS  float64 `json:"fps"`
	Peak float64 `json:"peak_mib"`
}

// side measures one side of bench frames.
func (b *build) side(ctx context.Context, name string, size, bits int) (s side, err error) {
	share, err := b.say(ctx, &s, "frames", "--alone", name, "--size", strconv.Itoa(size), "--bits", strconv.Itoa(bits), "--seconds", "1.5")
	if err == nil && s.FPS <= 0 {
		err = fmt.Errorf("bench frames --alone %s: found %g frames/s", name, s.FPS)
	}
	s.FPS /= share
	return s, err
}

// frames measures the speed of the whole path relative to its own kernels, and the path's memory.
func frames(ctx context.Context, b *build, name string, size, bits int) (map[string]sample, error) {
	path, err := b.side(ctx, "path", size, bits)
	if err != nil {
		return nil, err
	}
	kernels, err := b.side(ctx, "kernels", size, bits)
	found := map[string]sample{name: {path.FPS, kernels.FPS}}
	if size == 512 && bits == 16 {
		found["memory-frames"] = sample{path.Peak, 1}
	}
	return found, err
}

// objects measures the share of all cores that locating and tracking take of the whole path, locating alone relative to a blur of the same picture, and
// memory.
func objects(ctx context.Context, b *build, density int) (map[string]sample, error) {
	var found struct {
		Fields []struct {
			Locate float64  `json:"locate_ms"`
			Track  float64  `json:"track_ms"`
			Blur   float64  `json:"blur_ms"`
			FPS    *float64 `json:"fps"`
			Peak   *float64 `json:"peak_mib"`
		} `json:"fields"`
	}
	var share float64
	var err error
	for _, seconds := range []string{"2", "8"} { // on a busy machine, two seconds may give too few objects
		if share, err = b.say(ctx, &found, "objects", "--scenario", "vesicle", "--snr", "4", "--seeds", "1", "--density", strconv.Itoa(density),
			"--frames", "30", "--path", "--seconds", seconds, "--json"); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if len(found.Fields) != 1 || found.Fields[0].FPS == nil || found.Fields[0].Peak == nil {
		return nil, fmt.Errorf("bench objects: found %+v, expected one field with its path", found)
	}
	f := found.Fields[0]
	all := map[string]sample{fmt.Sprintf("objects-%d", density): {*f.FPS / share, float64(runtime.NumCPU()) * 1e3 / (f.Locate + f.Track)}}
	if density <= 500 {
		all[fmt.Sprintf("locate-%d", density)] = sample{f.Locate, f.Blur}
	}
	if density == 500 {
		all["memory-objects"] = sample{*f.Peak, 1}
	}
	return all, nil
}

// train measures the time of a training step relative to OpenCV's forward pass of a picture, and to PyTorch's step if python3 has PyTorch.
func train(ctx context.Context, b *build) (map[string]sample, error) {
	var step struct {
		Train float64 `json:"train_ms_per_frame"`
		Torch *struct {
			Train float64 `json:"train_ms_per_frame"`
		} `json:"torch"`
	}
	share, err := b.say(ctx, &step, "train", "--steps", "2", "--json")
	if err != nil {
		return nil, err
	}
	opencv, err := b.side(ctx, "opencv", 64, 8)
	found := map[string]sample{"train": {step.Train * share, 1e3 / opencv.FPS}}
	if step.Torch != nil {
		found["train-torch"] = sample{step.Train, step.Torch.Train}
	}
	return found, err
}

// update measures the time of a frame of 16 latents in the estimator relative to fixed arithmetic.
func update(ctx context.Context, b *build) (map[string]sample, error) {
	before := spin()
	took, err := b.benchmark(ctx, "online", "BenchmarkUpdateOf16/drift")
	return map[string]sample{"update": {took, min(before, spin())}}, err
}

// publish measures the time of a caller of the NATS sink per latent relative to a bare publish of the same bytes.
func publish(ctx context.Context, b *build) (map[string]sample, error) {
	took, err := b.benchmark(ctx, "sinks/natsink", "BenchmarkNATS/live")
	if err != nil {
		return nil, err
	}
	bare, err := b.benchmark(ctx, "sinks/natsink", "BenchmarkBareNATS")
	return map[string]sample{"publish": {took, bare}}, err
}

// benchmark returns the least ns/op of 25 short runs of a Go benchmark, because other processes slow the other runs down.
func (b *build) benchmark(ctx context.Context, name, pattern string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	parts := strings.Split(pattern, "/")
	c := exec.CommandContext(ctx, b.test(name), "-test.run=^$", "-test.bench=^"+strings.Join(parts, "$/^")+"$", "-test.benchtime=10ms", "-test.count=25")
	c.Dir = b.tests
	out, err := c.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s of %s: %w\n%s", pattern, name, err, out)
	}
	least := 0.0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != "ns/op" {
			continue
		}
		if ns, err := strconv.ParseFloat(fields[2], 64); err == nil && (least == 0 || ns < least) {
			least = ns
		}
	}
	if least == 0 {
		return 0, fmt.Errorf("%s has no %s", name, pattern)
	}
	return least, nil
}

// spin returns the time of 1000 steps of a logistic map in ns. Each step waits for the previous one, so only the core's clock matters.
func spin() float64 {
	least, x := time.Duration(1<<62), 0.3
	for range 100 {
		begin := time.Now()
		for range 100_000 {
			x = 3.9 * x * (1 - x)
		}
		least = min(least, time.Since(begin))
	}
	if x < 0 || x > 1 {
		panic("a logistic map left its interval")
	}
	return float64(least.Nanoseconds()) / 100
}

// start measures the processor time of the program's start, without any work, relative to the start of a program that does nothing.
func start(ctx context.Context, b *build) (map[string]sample, error) {
	once := func(name string, args ...string) (float64, error) {
		c := exec.CommandContext(ctx, name, args...)
		if err := c.Run(); err != nil {
			return 0, err
		}
		return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds() * 1e3, nil
	}
	least := sample{math.Inf(1), math.Inf(1)}
	for range 10 {
		own, err := once(b.program, "version")
		nothing, other := once("true")
		if err := errors.Join(err, other); err != nil {
			return nil, err
		}
		least.value, least.reference = min(least.value, own), min(least.reference, nothing)
	}
	return map[string]sample{"start": least}, nil
}
