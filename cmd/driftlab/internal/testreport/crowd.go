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

// moment is a time, with the integral until then of the machine's slowdown, in s.
type moment struct {
	at  time.Time
	sum float64
}

// usualLoad is the number of processes per processor while make test has the machine to itself.
const usualLoad = 2

// pass lets time pass until an event. The load is read once a second at most: the system averages it over a minute.
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

// since returns the mean slowdown of the machine since a moment; 1 for a test that ended within a second.
func (c *crowd) since(m moment) float64 {
	spent := c.now.at.Sub(m.at).Seconds()
	if m.at.IsZero() || spent <= 0 {
		return max(1, c.last)
	}
	return (c.now.sum - m.sum) / spent
}

// load returns the system's mean over the last minute, or 0 if it is unknown.
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
