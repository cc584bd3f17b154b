package paper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"driftscope/internal/kit/console"
)

// task is one training for the paper, with its results.
type task interface {
	fmt.Stringer                       // name for messages
	file() string                      // name of the task's files, without endings; unique among tasks
	whole() bool                       // all results exist
	recall() error                     // reads the existing results
	perform(ctx context.Context) error // makes the missing results, in minutes
}

// makeAll runs the missing tasks with how, at most one per core at a time. It reports a failed task and continues with the others. If ctx ends, all tasks end.
func makeAll(ctx context.Context, tasks []task, how func(context.Context, task) error) (failed []string, err error) {
	missing := slices.DeleteFunc(slices.Clone(tasks), task.whole)
	var mu sync.Mutex
	begun, ended := time.Now(), 0
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, t := range missing {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			mu.Lock()
			console.Say("%s, %d of %d to make%s", t, i+1, len(missing), console.Left(time.Since(begun), ended, len(missing)))
			mu.Unlock()
			err := how(ctx, t)
			mu.Lock()
			defer mu.Unlock()
			ended++
			if err != nil && ctx.Err() != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
			if err != nil {
				console.Warn("%s: %v", t, err)
				failed = append(failed, fmt.Sprintf("%s: %v", t, err))
			}
			return nil
		})
	}
	err = group.Wait()
	slices.Sort(failed)
	return failed, err
}

// makeOne makes a single task. It runs in a child process that inOwnProcess started.
func makeOne(ctx context.Context, tasks []task, file string) error {
	i := slices.IndexFunc(tasks, func(t task) bool { return t.file() == file })
	if i < 0 {
		return console.Usage(fmt.Errorf("--make: no requested row or study writes %q", file))
	}
	return tasks[i].perform(ctx)
}

// inOwnProcess makes a task in a child process with the same command, on one core. The threads of one training wait for each other, so two trainings on one
// core each make 1.4 times as many steps as two successive trainings on two cores. With one core per task, the figures do not depend on the number of cores.
func inOwnProcess(ctx context.Context, t task) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p := exec.CommandContext(ctx, self, append(slices.Clone(os.Args[1:]), "--make", t.file())...)
	p.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // only this process forwards Ctrl-C: a second signal would lose the checkpoint
	p.Cancel = func() error { return p.Process.Signal(syscall.SIGTERM) }
	told := &labelled{to: os.Stderr, label: t.String() + ": "}
	p.Stderr = told
	err = p.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && told.last != "" {
		return errors.New(told.last)
	}
	if err != nil {
		return err
	}
	return t.recall()
}

// labelled prefixes every line with a label.
type labelled struct {
	to    io.Writer
	label string
	part  []byte // unfinished line
	last  string // last finished line, without the prefix "driftlab: "; lines that name a page are ignored
}

func (l *labelled) Write(data []byte) (int, error) {
	l.part = append(l.part, data...)
	for {
		line, rest, whole := bytes.Cut(l.part, []byte("\n"))
		if !whole {
			return len(data), nil
		}
		if !bytes.HasPrefix(line, []byte("driftlab"+console.More)) {
			l.last = strings.TrimPrefix(string(line), "driftlab: ")
		}
		l.part = rest
		if _, err := fmt.Fprintf(l.to, "%s%s\n", l.label, line); err != nil {
			return 0, err
		}
	}
}
