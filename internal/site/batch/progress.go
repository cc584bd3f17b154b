package batch

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"driftscope/internal/kit/console"
)

// lineEvery is the interval between printed lines if the output is not a terminal.
const lineEvery = 10 * time.Second

// progress displays the progress of a batch: in place on a terminal, in lines elsewhere.
type progress struct {
	mu                sync.Mutex
	all, there        int // all films, and films with an existing result
	done, failed      int
	started, lastLine time.Time
	bar               *progressbar.ProgressBar // nil if standard error is not a terminal
}

func newProgress(films int) *progress {
	p := &progress{all: films, started: time.Now(), lastLine: time.Now()}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		p.bar = progressbar.NewOptions(films, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription("films"), progressbar.OptionShowCount(),
			progressbar.OptionShowIts(), progressbar.OptionSetItsString("film"), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(200*time.Millisecond))
	}
	return p
}

// had counts a film with an existing result.
func (p *progress) had() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.there++
	if p.bar != nil {
		p.bar.ChangeMax(p.all - p.there)
	}
}

// ended counts a film, and prints why it failed.
func (p *progress) ended(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(e.Failed) > 0 {
		p.failed++
		p.say("film %s failed: %s", e.Film, e.Failed[len(e.Failed)-1])
	} else {
		p.done++
	}
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("films, %d failed", p.failed))
		p.bar.Set(p.done + p.failed)
	} else if time.Since(p.lastLine) >= lineEvery {
		p.line()
	}
}

// say prints a line. On a terminal it appears above the bar.
func (p *progress) say(format string, args ...any) {
	if p.bar != nil {
		p.bar.Clear()
	}
	console.Say(format, args...)
}

// line prints the progress.
func (p *progress) line() {
	p.lastLine = time.Now()
	spent, made := time.Since(p.started), p.done+p.failed
	console.Say("films %d of %d: %d done now, %d done before, %d failed, %.2f per second%s", made+p.there, p.all, p.done, p.there, p.failed,
		float64(made)/spent.Seconds(), console.Left(spent, made, p.all-p.there))
}

// finish prints the last line.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
	}
	p.line()
}
