package training

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"driftscope/infer/sdevae"
	"driftscope/internal/kit/console"
)

// bar shows the progress of training and the remaining time. It is redrawn in place on a terminal; otherwise each evaluation prints a line.
type bar struct {
	bar *progressbar.ProgressBar // nil if standard error is not a terminal
}

func newBar(name string) *bar {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return &bar{}
	}
	return &bar{bar: progressbar.NewOptions(-1, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(200*time.Millisecond))}
}

// watch is called after every step.
func (b *bar) watch(p sdevae.Progress) {
	if p.Seeking > 0 {
		console.Say("searching for rigid objects: %d at once", p.Seeking)
	} else if b.bar != nil {
		b.bar.ChangeMax(p.Steps)
		b.bar.Set(p.Step)
	} else if p.Look != nil {
		console.Say("step %d of %d (restart %d, its step %d): loss %.3f, held out %.3f, explained %.1f %%", p.Step, p.Steps, p.Look.Restart+1, p.Look.Step, p.Look.Loss, p.Look.HeldOut, 100*p.Look.Explained)
	}
}

func (b *bar) finish() {
	if b.bar != nil {
		b.bar.Finish()
		fmt.Fprintln(os.Stderr)
	}
}
