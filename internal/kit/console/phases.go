package console

import (
	"sync"
	"time"
)

// phaseEvery is the interval between lines of Phases. Faster work prints no line.
const phaseEvery = 10 * time.Second

// Phases prints the progress of a long computation, one line every ten seconds.
type Phases struct {
	mu    sync.Mutex
	what  string
	since time.Time
	stop  chan struct{}
	ended sync.WaitGroup
}

// NewPhases starts with the phase called what. The caller must call End.
func NewPhases(what string) *Phases {
	p := &Phases{what: what, since: time.Now(), stop: make(chan struct{})}
	p.ended.Go(func() {
		tick := time.NewTicker(phaseEvery)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.say()
			}
		}
	})
	return p
}

// Next starts the next phase.
func (p *Phases) Next(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.since = what, time.Now()
}

func (p *Phases) say() {
	p.mu.Lock()
	defer p.mu.Unlock()
	Say("%s: %v so far", p.what, time.Since(p.since).Round(time.Second))
}

// End stops the lines.
func (p *Phases) End() {
	close(p.stop)
	p.ended.Wait()
}
