package console

import (
	"sync"
	"time"
)

// phaseEvery is the interval of Phases' lines. Faster work prints none.
const phaseEvery = 10 * time.Second

// Phases prints the progress of a long calculation, one line every ten seconds.
type Phases struct {
	mu    sync.Mutex
	what  string
	since time.Time
	stop  chan struct{}
	ended sync.WaitGroup
}

// NewPhases begins with a phase. The caller calls End.
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

// Next begins another phase.
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
