package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"driftscope/infer/sdevae"
)

// bar shows training's progress with the time left: redrawn in place on a terminal, a line a look elsewhere.
type bar struct {
	bar *progressbar.ProgressBar // nil where standard error is not a terminal
}

func newBar(name string) *bar {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return &bar{}
	}
	return &bar{bar: progressbar.NewOptions(-1, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(200*time.Millisecond))}
}

// watch is told after every step.
func (b *bar) watch(p sdevae.Progress) {
	if p.Seeking > 0 {
		say("looking for what keeps its shape: %d at once", p.Seeking)
	} else if b.bar != nil {
		b.bar.ChangeMax(p.Steps)
		b.bar.Set(p.Step)
	} else if p.Look != nil {
		say("step %d of %d (restart %d, its step %d): loss %.3f, held out %.3f, explained %.1f %%", p.Step, p.Steps, p.Look.Restart+1, p.Look.Step, p.Look.Loss, p.Look.HeldOut, 100*p.Look.Explained)
	}
}

func (b *bar) finish() {
	if b.bar != nil {
		b.bar.Finish()
		fmt.Fprintln(os.Stderr)
	}
}

// say and warn tell the user something on standard error, one line each.
func say(format string, args ...any)  { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func warn(format string, args ...any) { fmt.Fprintf(os.Stderr, "warning: "+format+"\n", args...) }

// writable finds before the work whether writeFile could write path after it.
func writable(path string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp*")
	if err != nil {
		return fmt.Errorf("%s: no file can be made there: %w: give one in a folder that is there and can be written to", path, errors.Unwrap(err)) // without the temporary name
	}
	return errors.Join(tmp.Close(), os.Remove(tmp.Name()))
}

// writeFile writes to a temporary file beside path and renames it.
func writeFile(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename, as it should
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if closing := tmp.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
