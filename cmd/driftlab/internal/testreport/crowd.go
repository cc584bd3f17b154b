package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// crowd measures how busy the machine is while tests run. A test's own processor time would say more, but go test does not print it, and many tests wait for
// child processes.
type crowd struct {
	load func() float64 // processes that want to run
	now  moment
	last float64 // times slower, at now
}

// moment is a time, and the sum over the time until then of how many times slower the machine was, s.
type moment struct {
	at  time.Time
	sum float64
}

// usualLoad is how many processes want each processor while make test has the machine for itself.
const usualLoad = 2

// pass has time go by, until an event. The load is read once a second at most: the system averages it over a minute.
func (c *crowd) pass(to time.Time) {
	spent := to.Sub(c.now.at)
	if !c.now.at.IsZero() && spent < time.Second {
		return
	}
	slower := max(1, c.load()/float64(runtime.NumCPU())/usualLoad)
	if !c.now.at.IsZero() {
		c.now.sum += spent.Seconds() * (slower + c.last) / 2
	}
	c.now.at, c.last = to, slower
}

// since is how many times slower the machine was since a moment, on average: 1 for a test that ended within a second.
func (c *crowd) since(m moment) float64 {
	spent := c.now.at.Sub(m.at).Seconds()
	if m.at.IsZero() || spent <= 0 {
		return max(1, c.last)
	}
	return (c.now.sum - m.sum) / spent
}

// load is the system's mean over the last minute; 0 where the system does not tell.
func load() (mean float64) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &mean); err != nil {
		return 0
	}
	return mean
}
