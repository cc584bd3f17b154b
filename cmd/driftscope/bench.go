package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// benchCmd measures this machine, and methods on it, one field a study; each has its file.
type benchCmd struct {
	Train      benchTrainCmd      `cmd:"" help:"Time and memory of a training step, beside PyTorch's where python3 has it."`
	Online     benchOnlineCmd     `cmd:"" help:"The online estimator on simulated latents whose law is known: intervals, dimensions, drift, changes."`
	Frames     benchFramesCmd     `cmd:"" help:"The frame path from the camera to NATS: frames a second, latencies, and the bare kernels beside it."`
	NATS       benchNATSCmd       `cmd:"" name:"nats" help:"How old a latent is when a subscriber has it, and what publishing takes."`
	Linear     benchLinearCmd     `cmd:"" help:"How often the likelihood finds the latent dimension where pictures are linear in the latents."`
	Recordings benchRecordingsCmd `cmd:"" help:"Real recordings of which the answer is known: a trapped bead, stuck beads, colloids in water."`
}

// contender is one side of a comparison: a program of its own, so that its peak memory is its own too.
// It prints its figures as one JSON object on the last line of standard output.
type contender struct {
	program string
	args    []string
	script  string        // its standard input
	threads int           // OpenMP's
	limit   time.Duration // after which it and what it started are killed; 0 is never
}

// run waits for the figures and puts them into dst. Its error is one line that names the program.
func (c *contender) run(ctx context.Context, dst any) error {
	if c.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.limit)
		defer cancel()
	}
	var out, problems lastLines
	p := exec.CommandContext(ctx, c.program, c.args...)
	p.Env = append(os.Environ(), "OMP_NUM_THREADS="+strconv.Itoa(c.threads))
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(c.script), &out, &problems
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // python3 may be a script that starts the real one
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
	p.WaitDelay = time.Second
	err := p.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s gave no answer within %v", p.Path, c.limit)
	case err != nil && problems.last() != "":
		return fmt.Errorf("%s: %w: %s", p.Path, err, problems.last())
	case err != nil:
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	if err := json.Unmarshal([]byte(out.last()), dst); err != nil {
		return fmt.Errorf("%s printed %.80q, expected one JSON object", p.Path, out.last())
	}
	return nil
}

// lastLines keeps the end of what is written to it.
type lastLines struct{ kept []byte }

func (l *lastLines) Write(p []byte) (int, error) {
	const room = 4096
	l.kept = append(l.kept, p...)
	l.kept = append(l.kept[:0], l.kept[max(len(l.kept)-room, 0):]...)
	return len(p), nil
}

// last is the last line with something in it.
func (l *lastLines) last() string {
	lines := strings.Split(strings.TrimSpace(string(l.kept)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// peakMiB is the most memory this process ever held, its libraries included. It is VmHWM: ru_maxrss would count the process that
// started this one.
func peakMiB() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscanf(rest, "%f kB", &kib); err != nil {
		return 0, fmt.Errorf("/proc/self/status says no VmHWM in kB: %w", err)
	}
	return kib / 1024, nil
}
