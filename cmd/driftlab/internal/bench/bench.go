// Package bench runs each side of a comparison in its own process. Each package below it is one benchmark.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Contender is one side of a comparison. It is a separate program, so its peak memory can be measured separately. It prints its figures as one JSON object on
// the last line of standard output.
type Contender struct {
	Program string
	Args    []string
	Script  string        // standard input of the program
	Threads int           // OpenMP threads
	Limit   time.Duration // time after which the program and its children are killed; 0 disables the limit
}

// Run runs the program and decodes its figures into dst. An error is one line with the name of the program.
func (c *Contender) Run(ctx context.Context, dst any) error {
	if c.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Limit)
		defer cancel()
	}
	var out, problems lastLines
	p := exec.CommandContext(ctx, c.Program, c.Args...)
	p.Env = append(os.Environ(), "OMP_NUM_THREADS="+strconv.Itoa(c.Threads))
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(c.Script), &out, &problems
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // python3 may be a script that starts the real interpreter
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
	p.WaitDelay = time.Second
	err := p.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s printed no figures within %v", p.Path, c.Limit)
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

// Driftscope returns the path of the measured program: given or, if empty, driftscope in the folder of this program.
func Driftscope(given string) (string, error) {
	if given == "" {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		given = filepath.Join(filepath.Dir(self), "driftscope")
	}
	if _, err := os.Stat(given); err != nil {
		return "", fmt.Errorf("--driftscope: %w: make build makes bin/driftscope", err)
	}
	return given, nil
}

// lastLines is a writer that keeps the last 4 KiB.
type lastLines struct{ kept []byte }

func (l *lastLines) Write(p []byte) (int, error) {
	const room = 4096
	l.kept = append(l.kept, p...)
	l.kept = append(l.kept[:0], l.kept[max(len(l.kept)-room, 0):]...)
	return len(p), nil
}

// last returns the last line that is not empty.
func (l *lastLines) last() string {
	lines := strings.Split(strings.TrimSpace(string(l.kept)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// PeakMiB returns the peak memory of this process, including libraries. It uses VmHWM, because ru_maxrss would include the parent process.
func PeakMiB() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscanf(rest, "%f kB", &kib); err != nil {
		return 0, fmt.Errorf("/proc/self/status has no VmHWM in kB: %w", err)
	}
	return kib / 1024, nil
}

// ThreadTime returns the processor time of the calling thread, which excludes other processes. The caller must lock its goroutine to the thread.
func ThreadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

// Median returns the median of v.
func Median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
